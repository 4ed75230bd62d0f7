import type { z } from 'zod';
import { StoreError } from '../store-error.ts';
import type { Unparsed, Versioned } from '../unparsed.ts';
import type { OnStateChange, Watch } from '../watch.ts';

/** @limit Attempts at reading all documents while none of them changes: each takes milliseconds, and changes are rare. */
const attemptsMax = 20;

/** A document to freeze. */
interface FrozenDocument {
  readonly id: DocumentId;
  read(documents: Documents): Promise<object>;
}

export type DocumentKind = 'applied' | 'reconcile' | 'secrets' | 'tokens' | 'sessions' | 'alerts' | 'copy';

/** Identifies a document. Without a factory, it is the only one of its kind. */
export interface DocumentId {
  readonly kind: DocumentKind;
  readonly factory?: string;
}

/** A text that differs for each document of a store. */
export function nameDocument({ kind, factory = '' }: DocumentId): string {
  return `${kind} ${factory}`;
}

/** A JSON document that is read and replaced as a whole. */
export interface StoredDocument<T extends object> extends DocumentId {
  readonly shape: z.ZodType<T>;
  readonly whenMissing: T;
  /** Decides what is read if content and digest differ. By default, reading fails with `corrupt`. */
  readonly whenEdited?: (data: T) => T;
}

/** The JSON documents of a store: applied states, reconcile statuses, team secrets and API tokens. */
export interface Documents {
  /** Reads a document, and checks its shape and its digest. Fails with `corrupt` or `newer-format`. */
  read<T extends object>(document: StoredDocument<T>): Promise<T>;
  /**
   * Changes a document under its lock, and returns it as it is stored afterwards. Without a `next` document, nothing is
   * written. Fails with `locked`, or with `serial-moved` if a writer that ignored the lock came in between.
   */
  change<T extends object, R>(
    document: StoredDocument<T>,
    change: (data: T) => Promise<DocumentChange<T, R>>,
  ): Promise<{ readonly data: T; readonly result: R }>;
  /** Reads a document without parsing it, which may take much longer. Fails with `unreadable` or `unreachable`. */
  readStored<T extends object>(document: StoredDocument<T>): Promise<Unparsed<T>>;
  /** Returns a text that differs for each stored document; undefined if there is none. Never fails. */
  readVersion(id: DocumentId): Promise<string | undefined>;
  /** Reads documents with their versions. Takes a fraction of the time, but may hold up its thread for each of them. */
  readEach<T extends object>(
    documents: readonly StoredDocument<T>[],
  ): AsyncIterable<Versioned<T> & { readonly id: DocumentId }>;
  /** The factories that have a document, sorted. */
  listFactories(): Promise<string[]>;
  /** Calls `onChange` whenever an applied state may have changed, and every few seconds. */
  watch(onChange: OnStateChange): Promise<Watch>;
}

export interface DocumentChange<T, R> {
  readonly next?: T | undefined;
  readonly result: R;
}

/** Creates a reader of what is made of a document. It checks the version each time, and reads only what has changed. */
export function readWhenChanged<T extends object, R>(
  documents: Pick<Documents, 'read' | 'readVersion'>,
  document: StoredDocument<T>,
  index: (data: T) => R,
): () => Promise<R> {
  let read: { readonly version: string | undefined; readonly indexed: R } | undefined;
  return async () => {
    const version = await documents.readVersion(document);
    if (read === undefined || read.version !== version) {
      read = { version, indexed: index(await documents.read(document)) };
    }
    return read.indexed;
  };
}

/** The error for a document that a writer changed without its lock. */
export function movedError(place: string): StoreError {
  return new StoreError(
    'serial-moved',
    `${place} was changed by another program after it was read; run the command again`,
  );
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
