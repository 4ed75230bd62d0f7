import { type BigIntStats, constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { type Adapter, Low } from 'lowdb';
import { replaceFile, sweepTemporaries } from '../../home/durable-file.ts';
import { documentFile, type Home, listFactories } from '../../home/home.ts';
import { withHomeLock } from '../../home/make-home.ts';
import { moveFactories } from '../../home/move-factories.ts';
import { type Documents, movedError, type StoredDocument, type Unparsed } from '../../ports/documents.ts';
import { fileFailure } from '../../ports/store-error.ts';
import { parseDocument, renderDocument } from '../../stored-json.ts';
import { watchHome } from './watch-home.ts';

/** @limit Age from which a file is known by its version, in ms: a file system counts time in steps of up to 10 ms, so that a younger file may change and keep its version. */
const settledMs = 20;

/** The documents of a home, each a JSON file that one lowdb database holds for the life of the process. */
export function openFileDocuments(home: Home, lockTimeoutMs: number): Documents {
  moveFactories(home);
  const databases = new Map<string, Opened<object>>();
  const openDocument = <T extends object>(document: StoredDocument<T>): Opened<T> => {
    const file = documentFile(home, document);
    // A document of the same kind has the same shape.
    const known = databases.get(file) as Opened<T> | undefined;
    if (known) return known;
    const adapter = new DurableJson(file, document);
    const opened = { adapter, database: new Low(adapter, document.whenMissing) };
    databases.set(file, opened as unknown as Opened<object>);
    return opened;
  };
  return {
    read: async document => {
      const { adapter, database } = openDocument(document);
      await database.read();
      // Anybody may ask for what is not there.
      if (adapter.version === undefined) databases.delete(adapter.file);
      return database.data;
    },
    change: async (document, change) => {
      const { adapter, database } = openDocument(document);
      return withHomeLock(home, adapter.file, lockTimeoutMs, async () => {
        await database.read();
        const [data, version] = [database.data, adapter.version];
        const { next, result } = await change(data);
        if (!next) return { data, result };
        if ((await readFileVersion(adapter.file)) !== version) throw movedError(adapter.file);
        await database.update(() => {
          database.data = next;
        });
        return { data: next, result };
      });
    },
    readVersion: id => readFileVersion(documentFile(home, id)),
    readEach: async function* (documents) {
      for (const id of documents)
        yield { id, ...(await new DurableJson(documentFile(home, id), id).readUnparsed()) };
    },
    listFactories: () => listFactories(home),
    watch: onChange => watchHome(home, onChange),
  };
}

interface Opened<T extends object> {
  readonly adapter: DurableJson<T>;
  readonly database: Low<T>;
}

/**
 * Keeps a document in a file for lowdb. Unlike lowdb's own adapter, it reads the file only if it has changed, checks the
 * digest, and writes atomically and durably. Writers hold the file's lock.
 */
class DurableJson<T extends object> implements Adapter<T> {
  readonly file: string;
  readonly #document: StoredDocument<T>;
  /** The version of what was read last; undefined if there was no file. */
  version: string | undefined;
  /** Whether the file is as it was read while it has this version. */
  #isKnown = false;

  constructor(file: string, document: StoredDocument<T>) {
    this.file = file;
    this.#document = document;
  }

  /** Returns null if the file has not changed: then lowdb keeps its data. */
  async read(): Promise<T | null> {
    const version = this.#isKnown ? await readFileVersion(this.file) : undefined;
    // A write may have begun meanwhile.
    if (this.#isKnown && version === this.version) return null;
    this.#isKnown = false;
    const read = await this.readUnparsed();
    const data = read.parse();
    this.version = read.version;
    this.#isKnown = read.isSettled;
    return data;
  }

  /** Reads the file without parsing it. Never fails: `parse` does. */
  async readUnparsed(): Promise<Unparsed<T> & { readonly isSettled: boolean }> {
    try {
      // A FIFO would wait for a writer.
      const handle = await open(this.file, constants.O_RDONLY | constants.O_NONBLOCK);
      try {
        const stats = await handle.stat({ bigint: true });
        // Bytes are not in V8's heap, which grows for texts that are kept for a while.
        const bytes = await handle.readFile();
        return {
          version: toVersion(stats),
          size: bytes.length,
          isSettled: Date.now() - Number(stats.ctimeMs) > settledMs,
          parse: () => parseDocument(this.file, bytes.toString(), this.#document),
        };
      } finally {
        await handle.close();
      }
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      const parse = () =>
        isMissing ? this.#document.whenMissing : fileFailure('unreadable', this.file)(error);
      return { version: versionOfUnreadable(error), size: 0, isSettled: false, parse };
    }
  }

  async write(data: T): Promise<void> {
    this.#isKnown = false;
    await sweepTemporaries(this.file)
      .then(() => replaceFile(this.file, renderDocument(data)))
      .catch(fileFailure('unwritable', this.file));
  }
}

/** Identifies a file's content without reading it; undefined if there is no file. Files are replaced, never overwritten. */
async function readFileVersion(file: string): Promise<string | undefined> {
  return stat(file, { bigint: true }).then(toVersion, versionOfUnreadable);
}

function toVersion({ ino, size, ctimeNs, mtimeNs }: BigIntStats): string {
  return `${ino} ${size} ${ctimeNs} ${mtimeNs}`;
}

function versionOfUnreadable(error: unknown): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : String(code);
}
