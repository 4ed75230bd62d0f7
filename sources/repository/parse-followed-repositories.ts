import { z } from 'zod';
import { type ParsedFile, parseFile } from '../../schema/definitions/parse-file.ts';
import { type FollowedRepository, followedRepositoriesShape } from './followed-repository.ts';

// The daemon checks the rest of the file.
const configurationShape = z.object({ repositories: followedRepositoriesShape });

/** Parses the repositories in the daemon's configuration file. */
export function parseFollowedRepositories(
  file: string,
  bytes: Uint8Array,
): ParsedFile<{ readonly repositories: readonly FollowedRepository[] }> {
  return parseFile(configurationShape, file, bytes, definition => ({ definition }));
}
