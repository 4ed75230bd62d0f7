import type { Mirrors } from '../ports/store.ts';
import { fileFailure } from '../ports/store-error.ts';
import { type Home, makePrivateDirectory, mirrorDirectory } from './home.ts';
import { withHomeLock } from './make-home.ts';

/** The mirrors in a home: `repositories/<factory>.git`. */
export function openMirrors(home: Home, lockTimeoutMs: number): Mirrors {
  return {
    use: (factory, work) => {
      const directory = mirrorDirectory(home, factory);
      return withHomeLock(home, directory, lockTimeoutMs, async () => {
        await makePrivateDirectory(directory).catch(fileFailure('unwritable', directory));
        return work(directory);
      });
    },
  };
}
