import { parseDocument } from '../../documents/document-text.ts';
import {
  appliedStateFile,
  type Home,
  listFactories,
  reconcileStatusFile,
  sendersFile,
} from '../../home/home.ts';
import { withHomeLock } from '../../home/make-home.ts';
import { readText } from '../../home/regular-file.ts';
import { type DocumentId, type Documents, movedError, type StoredDocument } from '../../ports/documents.ts';
import { readFileVersion, readVersionedText } from './file-version.ts';
import { openJsonFile } from './json-file.ts';
import { watchFactories } from './watch-factories.ts';

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
    readStored: async document => {
      const file = locate(home, document);
      const text = await readText(file);
      return { size: text?.length ?? 0, parse: () => parseStored(file, document, text) };
    },
    readVersion: id => readFileVersion(locate(home, id)),
    readEach: async function* (documents) {
      for (const document of documents) {
        const file = locate(home, document);
        const { version, text } = readVersionedText(file);
        yield { id: document, version, parse: () => parseStored(file, document, text()) };
      }
    },
    listFactories: () => listFactories(home),
    watch: onChange => watchFactories(home, onChange),
  };
}

function parseStored<T extends object>(
  file: string,
  document: StoredDocument<T>,
  text: string | undefined,
): T {
  return text === undefined ? document.whenMissing : parseDocument(file, text, document);
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
    case 'sessions':
      return home.sessionsFile;
    case 'alerts':
      return home.alertsFile;
    case 'issuers':
      return home.issuersFile;
    case 'runners':
      return home.runnersFile;
    case 'senders':
      return sendersFile(home, factory);
    case 'copy':
      return home.copyFile;
  }
}
