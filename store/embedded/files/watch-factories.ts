import { type FSWatcher, watch as watchDirectory } from 'node:fs';
import { join } from 'node:path';
import { watch } from 'chokidar';
import { namePattern } from '../../../schema/names.ts';
import { type Home, listFactories, makePrivateDirectory } from '../../home/home.ts';
import { makeHome } from '../../home/make-home.ts';
import { lookRegularly } from '../../look-regularly.ts';
import type { OnStateChange, Watch } from '../../ports/documents.ts';

/** @limit Shortest time between two scans of the home without a notification, in ms: network file systems send none. */
const rescanMs = 2_000;

/**
 * Watches the applied states of a home. chokidar watches the directory that holds the factories. `fs.watch` watches the
 * directory of each factory, because chokidar needs 28 KB and 0.2 ms for one. A scan every few seconds finds changes in
 * directories that cannot be watched.
 */
export async function watchFactories(home: Home, onChange: OnStateChange): Promise<Watch> {
  const directory = home.factoriesDirectory;
  await makeHome(home);
  await makePrivateDirectory(directory);
  const watchers = new Map<string, FSWatcher>();
  /** Watches a factory's directory, also if another one has taken its place. */
  const follow = (factory: string) => {
    watchers.get(factory)?.close();
    const watcher = openWatcher(join(directory, factory), () => onChange(factory));
    if (watcher) watchers.set(factory, watcher);
    else watchers.delete(factory);
  };
  const root = watch(directory, { depth: 0, ignored: path => path !== directory });
  root.on('error', () => onChange());
  root.on('raw', (_, name) => {
    if (name === null || !namePattern.test(name)) return;
    follow(name);
    onChange(name);
  });
  await new Promise<void>(resolve => root.once('ready', resolve));
  for (const factory of await listFactories(home)) follow(factory);
  const endRescans = lookRegularly(() => onChange(), rescanMs);
  return {
    close: async () => {
      endRescans();
      for (const watcher of watchers.values()) watcher.close();
      await root.close();
    },
  };
}

/** Returns undefined if the directory cannot be watched: it is gone, or the system has no watch left. */
function openWatcher(directory: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watchDirectory(directory, (_, name) => {
      if (name === null || !/\.(tmp$|lock)/.test(name)) onChange();
    });
    return watcher.on('error', () => watcher.close());
  } catch {
    return undefined;
  }
}
