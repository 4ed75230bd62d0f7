import { type DocumentId, type Documents, nameDocument, type StoredDocument } from '../ports/documents.ts';
import { StoreError } from '../ports/store-error.ts';

/** @limit Attempts at reading all documents while none of them changes: each takes milliseconds, and changes are rare. */
const attemptsMax = 20;

/** A document to freeze. */
interface FrozenDocument {
  readonly id: DocumentId;
  read(documents: Documents): Promise<object>;
}

/** Creates a reader of what is made of a document, which is made again only when the document has changed. */
export function readWhenChanged<T extends object, R>(
  documents: Pick<Documents, 'read'>,
  document: StoredDocument<T>,
  index: (data: T) => R,
): () => Promise<R> {
  let read: { readonly data: T; readonly indexed: R } | undefined;
  return async () => {
    const data = await documents.read(document);
    if (read?.data !== data) read = { data, indexed: index(data) };
    return read.indexed;
  };
}

/**
 * Reads the documents that `list` returns as they are at one moment, which `atMoment` may share: what it reads of other places
 * belongs to the same moment. It may be called several times; only the last call counts. Takes no locks, so that nobody
 * waits. Fails with `locked` if the documents change all the time.
 */
export async function freezeDocuments(
  documents: Documents,
  list: (factories: readonly string[]) => readonly FrozenDocument[],
  atMoment: () => void,
): Promise<Pick<Documents, 'read' | 'listFactories'>> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const factories = await documents.listFactories();
    const listed = list(factories);
    const readVersions = () => Promise.all(listed.map(({ id }) => documents.readVersion(id)));
    const before = JSON.stringify([factories, await readVersions()]);
    const frozen = new Map<string, object>();
    for (const { id, read } of listed) frozen.set(nameDocument(id), await read(documents));
    atMoment();
    if (JSON.stringify([await documents.listFactories(), await readVersions()]) !== before) continue;
    return {
      listFactories: async () => factories,
      // It was read as the same kind of document.
      read: async <T extends object>(document: DocumentId & { readonly whenMissing: T }) =>
        (frozen.get(nameDocument(document)) as T | undefined) ?? document.whenMissing,
    };
  }
  throw new StoreError('locked', 'the documents of the home change all the time; try again later');
}
