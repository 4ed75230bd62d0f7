import { existsSync, realpathSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { findGitRoot } from '../../sources/open-folder.ts';
import { readRegularFile } from '../../sources/regular-file.ts';
import { findHomeFile, homeFileHeadBytes, homeFileNames, isHomeFile } from '../../store/home/home-files.ts';
import { listFiles } from './tracked-files.ts';

/**
 * Finds homes whose files git tracks, anywhere in the repository of a definitions directory. `named` is the home that
 * the user named, if any. Finds nothing outside a repository, or without git.
 */
export async function findTrackedHomes(directory: string, named: string | undefined): Promise<Diagnostic[]> {
  const root = findGitRoot(directory);
  if (root === undefined) return [];
  const namedPath = named === undefined ? undefined : toPathIn(root, resolve(named));
  const tracked = await listFiles(root, listHomePathspecs(namedPath));
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
  const rank = homeFileNames.indexOf(findHomeFile(path)?.name ?? '');
  return rank === -1 ? Number.MAX_SAFE_INTEGER : rank;
}

/** Finds the path of the home that a tracked file belongs to; undefined if it belongs to none. */
function findHome(root: string, path: string, named: string | undefined): string | undefined {
  if (named !== undefined && path.startsWith(`${named}/`)) return named;
  const [inDefault] = /^(?:.*\/)?\.hookmill(?=\/)/.exec(path) ?? [];
  if (inDefault !== undefined) return inDefault;
  return isHomeFile(path, readHead(join(root, path))) ? findHomeFile(path)?.home : undefined;
}

function listHomePathspecs(named: string | undefined): readonly string[] {
  const anywhere = [...homeFileNames, '.hookmill/**'].map(pattern => `:(top,glob)**/${pattern}`);
  return named === undefined ? anywhere : [...anywhere, `:(top,literal)${named}`];
}

/** The path below the repository's root, as git writes it; undefined if it is not there. */
function toPathIn(root: string, path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  const below = relative(realpathSync(root), realpathSync(path)).split(sep).join('/');
  return below === '' || below === '..' || below.startsWith('../') ? undefined : below;
}

/** Reads the beginning of a file as Latin-1; nothing of one that is no regular file, or cannot be read. */
function readHead(file: string): string {
  try {
    return Buffer.from(readRegularFile(file, homeFileHeadBytes) ?? '').toString('latin1');
  } catch {
    return '';
  }
}
