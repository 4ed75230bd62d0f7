import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { homeFileNames } from '../store/home-files.ts';
import { CommandError } from './exit-status.ts';

/** Fails if nothing of a home is in the directory: its name may be mistaken. */
export function requireHome(directory: string): void {
  const names = ['factories', ...homeFileNames];
  if (names.some(name => existsSync(join(directory, name)))) return;
  throw new CommandError(
    `${directory} is not a home, or an empty one; name the directory of HOOKMILL_HOME or --home`,
  );
}
