import { resolve } from 'node:path';
import { z } from 'zod';
import { type ParsedFile, parseFile } from '../../schema/definitions/parse-file.ts';
import {
  checkFollowedRepository,
  type FollowedRepository,
  followedRepositoriesShape,
} from '../../sources/repository/followed-repository.ts';
import { UsageError } from '../exit-status.ts';
import type { RepositoryOptions } from '../input/options.ts';

/**
 * Chooses the repository that a factory follows. Flags and variables override the known settings of the same
 * repository. Returns undefined if neither names a repository. A mistake is wrong usage.
 */
export function chooseRepository(
  options: RepositoryOptions,
  factory: string,
  known: FollowedRepository | undefined,
): FollowedRepository | undefined {
  const given = getGiven(options);
  if (Object.keys(given).length === 0) return known;
  // Settings of one repository, above all its credential, must not be used for another.
  const base = given.repository === undefined || given.repository === known?.repository ? known : undefined;
  const checked = checkFollowedRepository({ ...base, ...given, factory });
  if ('followed' in checked) return checked.followed;
  const [mistake] = checked.mistakes;
  const { path = [], message = '', hint = '' } = mistake ?? {};
  const flag = String(path[0]).replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
  throw new UsageError(`--${flag}: ${message}; ${hint}`);
}

function getGiven(options: RepositoryOptions): RepositoryOptions {
  const { repository, branch, path, interval, credentialSecret, credentialUsername } = options;
  const named = {
    repository: resolveRepository(repository),
    branch,
    path,
    interval,
    credentialSecret,
    credentialUsername,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

/** A text with a colon is a URL or git's own form for SSH; any other is a path on this machine. */
function resolveRepository(repository: string | undefined): string | undefined {
  return repository === undefined || repository.includes(':') ? repository : resolve(repository);
}

// The daemon checks the rest of the file.
const configurationShape = z.object({ repositories: followedRepositoriesShape });

/** Parses the repositories in the daemon's configuration file. */
export function parseFollowedRepositories(
  file: string,
  bytes: Uint8Array,
): ParsedFile<{ readonly repositories: readonly FollowedRepository[] }> {
  return parseFile(configurationShape, file, bytes, definition => ({ definition }));
}
