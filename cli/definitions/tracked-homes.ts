import { execFile } from 'node:child_process';
import { closeSync, existsSync, openSync, readSync, realpathSync } from 'node:fs';
import { join, posix, relative, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { getHomeOfFile, homeFileHeadBytes, homeFileNames, isHomeFile } from '../../store/home-files.ts';
import { findRepositoryRoot } from './repository-root.ts';

/** @limit Output of `git ls-files`, in bytes (16 MiB): only files with a home's names are listed. */
const listedBytesMax = 16 * 1024 * 1024;

/**
 * Finds homes whose files git tracks, anywhere in the repository of a definitions directory. `named` is the home that
 * the user named, if any. Finds nothing outside a repository, or without git.
 */
export async function findTrackedHomes(directory: string, named: string | undefined): Promise<Diagnostic[]> {
  const root = findRepositoryRoot(directory, {});
  if (!existsSync(join(root, '.git'))) return [];
  const namedPath = named === undefined ? undefined : toPathIn(root, resolve(named));
  const tracked = await listTracked(root, namedPath);
  const found = tracked.flatMap(path => {
    const home = findHome(root, path, namedPath);
    return home === undefined ? [] : [{ path, home }];
  });
  const homes = Map.groupBy(found, ({ home }) => home);
  return [...homes].map(([home, files]) =>
    describeHome(
      directory,
      root,
      home,
      files.map(({ path }) => path),
    ),
  );
}

function describeHome(directory: string, root: string, home: string, paths: readonly string[]): Diagnostic {
  const [first = ''] = paths.toSorted((a, b) => rankFile(a) - rankFile(b));
  const others = paths.length === 1 ? '' : ` and ${paths.length - 1} more`;
  return {
    code: 'home/tracked',
    severity: 'warning',
    message: `git tracks ${first}${others}: whoever can read the repository has the secrets of this home`,
    file: relative(directory, join(root, first)).split(sep).join('/'),
    hint: `run \`git rm -r --cached ${home}\`, then replace the key, all team secrets and all API tokens`,
  };
}

/** Files with secrets come first. */
function rankFile(path: string): number {
  const rank = homeFileNames.indexOf(posix.basename(path));
  return rank === -1 ? Number.MAX_SAFE_INTEGER : rank;
}

/** The path of the home that a tracked file belongs to; undefined if it belongs to none. */
function findHome(root: string, path: string, named: string | undefined): string | undefined {
  if (named !== undefined && path.startsWith(`${named}/`)) return named;
  const [inDefault] = /^(?:.*\/)?\.hookmill(?=\/)/.exec(path) ?? [];
  if (inDefault !== undefined) return inDefault;
  return isHomeFile(path, readHead(join(root, path))) ? getHomeOfFile(path) : undefined;
}

async function listTracked(root: string, named: string | undefined): Promise<readonly string[]> {
  const anywhere = [...homeFileNames, '.hookmill/**'].map(pattern => `:(top,glob)**/${pattern}`);
  const paths = named === undefined ? anywhere : [...anywhere, `:(top,literal)${named}`];
  // The repository's configuration may be hostile: fsmonitor is a command that git would start.
  const options = ['-c', 'core.fsmonitor=false', 'ls-files', '-z', '--', ...paths];
  const listed = await promisify(execFile)('git', options, { cwd: root, maxBuffer: listedBytesMax }).catch(
    () => undefined,
  );
  return listed?.stdout.split('\0').filter(path => path !== '') ?? [];
}

/** The path below the repository's root, as git writes it; undefined if it is not there. */
function toPathIn(root: string, path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  const below = relative(realpathSync(root), realpathSync(path)).split(sep).join('/');
  return below === '' || below === '..' || below.startsWith('../') ? undefined : below;
}

function readHead(file: string): string {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const buffer = Buffer.alloc(homeFileHeadBytes);
      return buffer.toString('latin1', 0, readSync(descriptor, buffer, 0, homeFileHeadBytes, 0));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return '';
  }
}
