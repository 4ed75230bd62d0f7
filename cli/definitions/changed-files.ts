import { realpathSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { promptPathPattern } from '../../schema/definitions/prompts.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { UsageError } from '../exit-status.ts';
import { readWithGit } from './read-with-git.ts';

/**
 * Finds the files that changed in the work tree since it branched off the revision: those that a pull request against
 * it would show, and uncommitted ones. Returns absolute paths. An unknown revision is wrong usage.
 */
export async function findChangedFiles(directory: string, revision: string): Promise<ReadonlySet<string>> {
  const root = (await read(directory, ['rev-parse', '--show-toplevel'])).replace(/\n$/, '');
  const base = await findBase(root, revision);
  const lists = await Promise.all([
    read(root, ['diff', '--name-only', '-z', '--no-renames', '--no-ext-diff', base, '--']),
    read(root, ['ls-files', '--others', '--exclude-standard', '-z']),
  ]);
  const names = lists.flatMap(list => list.split('\0')).filter(name => name !== '');
  // Git resolves symbolic links in its root; the path of the definitions directory may contain other links.
  const fromDirectory = relative(realpathSync(directory), root);
  return new Set(names.map(name => join(directory, fromDirectory, name)));
}

/** Says whether a changed file can have caused the mistake. `toPath` makes the names in diagnostics absolute. */
export function isTouched(
  { code, file }: Diagnostic,
  changed: ReadonlySet<string>,
  toPath: (file: string) => string,
): boolean {
  if (changed.has(toPath(file))) return true;
  // A change of an automation can make its unchanged fixtures fail.
  if (code === 'fixture/failed') return changed.has(toPath(file.replace(/\.fixtures\/[^/]*$/, '.yaml')));
  // Any changed text may be the one that the automation names as its prompt.
  if (code === 'automation/prompt-file' || code === 'automation/prompt')
    return [...changed].some(path => promptPathPattern.test(basename(path)));
  // Any new webhook may be the one over the limit, and a directory may have no hookmill.yaml.
  const folder = toPath(file.replace(/[^/]*$/, ''));
  return (
    (code === 'webhook/too-many' || code === 'factory/duplicate') &&
    [...changed].some(path => path.startsWith(folder))
  );
}

/** Finds the common ancestor, so that later changes on the other branch are not reported. */
async function findBase(root: string, revision: string): Promise<string> {
  const commit = await findCommit(root, revision);
  const common = await read(root, ['merge-base', commit, 'HEAD'], 1);
  // A shallow clone may have both commits without their common ancestor.
  return common.trim() || commit;
}

async function findCommit(root: string, revision: string): Promise<string> {
  const unknown = `git does not know the revision "${revision}"; in a shallow clone, fetch it first`;
  // No revision starts with -, and git must not parse it as an option.
  if (revision.startsWith('-')) throw new UsageError(unknown);
  const found = await read(
    root,
    ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`],
    1,
    128,
  );
  const commit = found.trim();
  if (!/^[0-9a-f]{40,64}$/.test(commit)) throw new UsageError(unknown);
  return commit;
}

async function read(directory: string, args: readonly string[], ...exitCodes: number[]): Promise<string> {
  return readWithGit(directory, args, { exitCodes }).catch(failure => {
    throw new UsageError(`--changed-since: ${failure.message}`);
  });
}
