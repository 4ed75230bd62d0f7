import { resolve } from 'node:path';
import {
  checkFollowedRepository,
  type FollowedRepository,
} from '../../sources/repository/followed-repository.ts';
import { CommandError, exitStatus } from '../exit-status.ts';
import type { RepositoryOptions } from './repository-options.ts';

/**
 * The factory's repository: what flags and variables say, over what is known of the same repository. undefined where
 * neither names one. A mistake is wrong usage.
 */
export function repositoryFrom(
  options: RepositoryOptions,
  factory: string,
  known: FollowedRepository | undefined,
): FollowedRepository | undefined {
  const given = givenOf(options);
  if (Object.keys(given).length === 0) return known;
  // What was said of one repository, its credential above all, does not hold for another.
  const base = given.repository === undefined || given.repository === known?.repository ? known : undefined;
  const checked = checkFollowedRepository({ ...base, ...given, factory });
  if ('followed' in checked) return checked.followed;
  const [mistake] = checked.mistakes;
  const { path = [], message = '', hint = '' } = mistake ?? {};
  const flag = String(path[0]).replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
  throw new CommandError(`--${flag}: ${message}; ${hint}`, exitStatus.usage);
}

function givenOf(options: RepositoryOptions): RepositoryOptions {
  const { repository, branch, path, interval, credentialSecret, credentialUsername } = options;
  const named = {
    repository: urlOf(repository),
    branch,
    path,
    interval,
    credentialSecret,
    credentialUsername,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

/** A colon makes it a URL, or git's own form for SSH; all else is a path on this machine. */
function urlOf(repository: string | undefined): string | undefined {
  return repository === undefined || repository.includes(':') ? repository : resolve(repository);
}
