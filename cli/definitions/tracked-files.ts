import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** @limit Output of `git ls-files` that is read, in bytes (16 MiB): only homes and definitions are listed. */
const listedBytesMax = 16 * 1024 * 1024;

/**
 * Lists the files that git tracks or, besides, those that it would add, by their paths relative to the directory, as far
 * as the output is read. Lists none outside a repository, or without git.
 */
export async function listFiles(
  directory: string,
  pathspecs: readonly string[],
  which: 'tracked' | 'also untracked' = 'tracked',
): Promise<readonly string[]> {
  const others = which === 'tracked' ? [] : ['--cached', '--others', '--exclude-standard'];
  // The repository's configuration may be hostile: fsmonitor is a command that git would start.
  const options = ['-c', 'core.fsmonitor=false', 'ls-files', '-z', ...others, '--', ...pathspecs];
  const { stdout } = await promisify(execFile)('git', options, {
    cwd: directory,
    maxBuffer: listedBytesMax,
  }).catch((failure: { readonly stdout: string }) => failure);
  return stdout.split('\0').filter(path => path !== '');
}
