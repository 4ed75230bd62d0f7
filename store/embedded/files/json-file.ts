import { type Adapter, Low } from 'lowdb';
import { parseDocument, renderDocument } from '../../documents/document-text.ts';
import { replaceFile, sweepTemporaries } from '../../home/durable-file.ts';
import { readText } from '../../home/regular-file.ts';
import type { StoredDocument } from '../../ports/documents.ts';
import { fileFailure } from '../../ports/store-error.ts';

/**
 * Opens a lowdb database over the file of a document. Writing replaces the file atomically and durably, unlike lowdb's
 * own file adapter. Writers hold the file's lock.
 */
export async function openJsonFile<T extends object>(
  file: string,
  document: StoredDocument<T>,
): Promise<Low<T>> {
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
