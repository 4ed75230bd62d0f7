import { basename } from 'node:path';
import { watch } from 'chokidar';
import { namePattern } from '../../../schema/names.ts';
import { appliedStateFile, type Home, makePrivateDirectory } from '../../home/home.ts';
import { makeHome } from '../../home/make-home.ts';
import { lookRegularly } from '../../look-regularly.ts';
import type { OnStateChange, Watch } from '../../ports/documents.ts';

/** @limit Shortest time between two looks at all applied states without an event, in ms: a safety net, for what nobody notices otherwise. */
const lookMs = 10_000;
/** @limit Time between two looks of chokidar at each file, in ms, with CHOKIDAR_USEPOLLING: thousands of files are looked at each time. */
const pollMs = 2_000;

/**
 * Watches the applied states of a home, and not its keys: to watch for a key that is missing, chokidar would read the whole
 * home after each change in it, and something changes there all the time. The next look finds a key that is back.
 */
export async function watchHome(home: Home, onChange: OnStateChange): Promise<Watch> {
  const directory = home.appliedDirectory;
  await makeHome(home);
  await makePrivateDirectory(directory);
  const findFactory = (path: string) => {
    const factory = basename(path, '.json');
    return namePattern.test(factory) && path === appliedStateFile(home, factory) ? factory : undefined;
  };
  const watcher = watch(directory, {
    ignoreInitial: true,
    pollingInterval: pollMs,
    // Locks and temporary files.
    ignored: path => path !== directory && findFactory(path) === undefined,
  });
  watcher.on('all', (_, path) => onChange(findFactory(path)));
  // What cannot be watched is found by a look.
  watcher.on('error', () => onChange());
  await new Promise<void>(resolve => watcher.once('ready', resolve));
  const endLooks = lookRegularly(() => onChange(), lookMs);
  return {
    close: async () => {
      endLooks();
      await watcher.close();
    },
  };
}
