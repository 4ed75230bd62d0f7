import { parseDocument } from '../documents/document-text.ts';
import { type DocumentId, type Documents, movedError } from '../documents/documents.ts';
import { readFileVersion, readVersionedText } from './files/file-version.ts';
import { appliedStateFile, type Home, listFactories, reconcileStatusFile } from './files/home.ts';
import { openJsonFile } from './files/json-file.ts';
import { withHomeLock } from './files/make-home.ts';
import { readText } from './files/read-text.ts';
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
    readVersion: id => readFileVersion(locate(home, id)),
    readEach: async function* (documents) {
      for (const document of documents) {
        const file = locate(home, document);
        const { version, text } = readVersionedText(file);
        const parse = () => {
          const stored = text();
          return stored === undefined ? document.whenMissing : parseDocument(file, stored, document);
        };
        yield { id: document, version, parse };
      }
    },
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
    case 'sessions':
      return home.sessionsFile;
    case 'alerts':
      return home.alertsFile;
  }
}
