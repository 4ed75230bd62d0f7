import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { homeFileNames } from '../store/home/home-files.ts';
import type { StorePlace } from '../store/ports/store.ts';
import { CommandError } from './exit-status.ts';

/** Fails if the store would be a home, and its directory contains no file of one: it is probably the wrong directory. */
export function requireHome({ home, postgres }: Pick<StorePlace, 'home' | 'postgres'>): void {
  const names = ['applied', 'reconcile', ...homeFileNames];
  if (postgres || names.some(name => existsSync(join(home, name)))) return;
  throw new CommandError(
    `${home} is not a home, or an empty one; name the directory of HOOKMILL_HOME or --home`,
  );
}
