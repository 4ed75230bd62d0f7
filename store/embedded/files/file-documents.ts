import { type BigIntStats, closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type Adapter, Low } from 'lowdb';
import { replaceFile, sweepTemporaries } from '../../home/durable-file.ts';
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
import { fileFailure } from '../../ports/store-error.ts';
import { parseDocument, renderDocument } from '../../stored-json.ts';
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

/**
 * Opens a lowdb database over the file of a document. Writing replaces the file atomically and durably, unlike lowdb's
 * own file adapter. Writers hold the file's lock.
 */
async function openJsonFile<T extends object>(file: string, document: StoredDocument<T>): Promise<Low<T>> {
  const database = new Low(new DurableJsonAdapter(file, document), document.whenMissing);
  await database.read();
  return database;
}

class DurableJsonAdapter<T extends object> implements Adapter<T> {
  readonly #file: string;
  readonly #document: StoredDocument<T>;

  constructor(file: string, document: StoredDocument<T>) {
    this.#file = file;
    this.#document = document;
  }

  async read(): Promise<T | null> {
    const text = await readText(this.#file);
    return text === undefined ? null : parseDocument(this.#file, text, this.#document);
  }

  async write(data: T): Promise<void> {
    await sweepTemporaries(this.#file)
      .then(() => replaceFile(this.#file, renderDocument(data)))
      .catch(fileFailure('unwritable', this.#file));
  }
}

/** Identifies a file's content without reading it; undefined if there is no file. Files are replaced, never overwritten. */
async function readFileVersion(file: string): Promise<string | undefined> {
  return stat(file, { bigint: true }).then(toVersion, versionOfUnreadable);
}

interface VersionedText {
  /** See `readFileVersion`. */
  readonly version: string | undefined;
  /** Undefined if there is no file. Fails with `unreadable`. */
  readonly text: () => string | undefined;
}

/** Reads a text file with its version, and holds up its thread meanwhile: a tenth of the time of reading both without. */
function readVersionedText(file: string): VersionedText {
  try {
    // A FIFO would wait for a writer.
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const version = toVersion(fstatSync(descriptor, { bigint: true }));
      // Bytes are not in V8's heap, which grows for texts that are kept for a while.
      const bytes = readFileSync(descriptor);
      return { version, text: () => bytes.toString() };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const text = () => (isMissing ? undefined : fileFailure('unreadable', file)(error));
    return { version: versionOfUnreadable(error), text };
  }
}

function toVersion({ ino, size, ctimeNs, mtimeNs }: BigIntStats): string {
  return `${ino} ${size} ${ctimeNs} ${mtimeNs}`;
}

function versionOfUnreadable(error: unknown): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : String(code);
}
