import { basename } from 'node:path';
import { watch } from 'chokidar';
import { type AppliedState, appliedStateShape, emptyAppliedState } from '../../schema/applied-state.ts';
import type { AppliedStates, Watch } from '../ports.ts';
import { StoreError } from '../store-error.ts';
import { readFileVersion } from './files/file-version.ts';
import { appliedStateFile, type Home, listFactories, makePrivateDirectory } from './files/home.ts';
import { openJsonFile } from './files/json-file.ts';
import { makeHome, withHomeLock } from './files/make-home.ts';
import { readText } from './files/read-text.ts';

/** @limit Time between two scans of the home without a notification, in ms: network file systems send none. */
const rescanMs = 2_000;

/** The applied states in a home: `factories/<factory>/applied.json`. */
export function openAppliedStates(home: Home, lockTimeoutMs: number): AppliedStates {
  const open = (factory: string) =>
    openJsonFile<AppliedState>(
      appliedStateFile(home, factory),
      appliedStateShape,
      emptyAppliedState(factory),
      state => ({ ...state, isDamaged: true }),
    );
  return {
    listFactories: () => listFactories(home),
    read: async factory => (await open(factory)).data,
    change: async (factory, change) => {
      const file = appliedStateFile(home, factory);
      return withHomeLock(home, file, lockTimeoutMs, async () => {
        const before = await readText(file);
        const database = await open(factory);
        const { serial } = database.data;
        const { next, result } = await change(database.data);
        if (!next) return { state: database.data, result };
        if ((await readText(file)) !== before) {
          throw new StoreError(
            'serial-moved',
            `the applied state changed after serial ${serial} was read; run the command again`,
          );
        }
        const { isDamaged: _, ...content } = next;
        database.data = { ...content, serial: serial + 1 };
        await database.write();
        return { state: database.data, result };
      });
    },
    readVersion: factory => readFileVersion(appliedStateFile(home, factory)),
    watch: onChange => watchFactories(home, onChange),
  };
}

async function watchFactories(home: Home, onChange: () => void): Promise<Watch> {
  await makeHome(home);
  await makePrivateDirectory(home.factoriesDirectory);
  const watcher = watch(home.factoriesDirectory, {
    ignoreInitial: true,
    depth: 1,
    atomic: false,
    ignored: path => /\.(tmp$|lock)/.test(basename(path)),
  });
  watcher.on('all', onChange).on('raw', onChange).on('error', onChange);
  await new Promise<void>(resolve => watcher.once('ready', resolve));
  const timer = setInterval(onChange, rescanMs);
  return {
    close: async () => {
      clearInterval(timer);
      await watcher.close();
    },
  };
}
