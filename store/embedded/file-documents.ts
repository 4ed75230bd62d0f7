import { basename } from 'node:path';
import { watch } from 'chokidar';
import { type DocumentId, type Documents, movedError } from '../documents/documents.ts';
import type { Watch } from '../watch.ts';
import { readFileVersion } from './files/file-version.ts';
import {
  appliedStateFile,
  type Home,
  listFactories,
  makePrivateDirectory,
  reconcileStatusFile,
} from './files/home.ts';
import { openJsonFile } from './files/json-file.ts';
import { makeHome, withHomeLock } from './files/make-home.ts';
import { readText } from './files/read-text.ts';

/** @limit Time between two scans of the home without a notification, in ms: network file systems send none. */
const rescanMs = 2_000;

/** The documents of a home, each a JSON file. */
export function openFileDocuments(home: Home, lockTimeoutMs: number): Documents {
  return {
    read: async document => (await openJsonFile(locate(home, document), document)).data,
    change: async (document, change) => {
      const file = locate(home, document);
      return withHomeLock(home, file, lockTimeoutMs, async () => {
        const before = await readText(file);
        const database = await openJsonFile(file, document);
        const { next, result } = await change(database.data);
        if (!next) return { data: database.data, result };
        if ((await readText(file)) !== before) throw movedError(file);
        database.data = next;
        await database.write();
        return { data: next, result };
      });
    },
    readVersion: id => readFileVersion(locate(home, id)),
    listFactories: () => listFactories(home),
    watch: onChange => watchFactories(home, onChange),
  };
}

function locate(home: Home, { kind, factory = '' }: DocumentId): string {
  switch (kind) {
    case 'applied':
      return appliedStateFile(home, factory);
    case 'reconcile':
      return reconcileStatusFile(home, factory);
    case 'secrets':
      return home.secretsFile;
    case 'tokens':
      return home.tokensFile;
  }
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
