import type { z } from 'zod';
import { StoreError } from './store-error.ts';

/** Something that was read, but not parsed yet. */
export interface Unparsed<T> {
  /** A text that differs for each stored content; undefined if there is none. */
  readonly version: string | undefined;
  /** The length of its text; 0 if nothing is stored. */
  readonly size: number;
  /** Fails as reading it would. */
  readonly parse: () => T;
}

export const documentKinds = [
  ...(['applied', 'reconcile', 'senders'] as const),
  ...(['secrets', 'tokens', 'sessions', 'alerts', 'issuers', 'runners', 'copy'] as const),
] as const;
export type DocumentKind = (typeof documentKinds)[number];

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
  /**
   * Reads a document, and checks its shape and its digest. Returns the same object until the document has changed, so
   * nobody may change the object. Fails with `corrupt` or `newer-format`.
   */
  read<T extends object>(document: StoredDocument<T>): Promise<T>;
  /**
   * Changes a document under its lock, and returns it as it is stored afterwards. Without a `next` document, nothing is
   * written. Fails with `locked`, or with `serial-moved` if a writer that ignored the lock came in between.
   */
  change<T extends object, R>(
    document: StoredDocument<T>,
    change: (data: T) => Promise<DocumentChange<T, R>>,
  ): Promise<{ readonly data: T; readonly result: R }>;
  /** Returns a text that differs for each stored document; undefined if there is none. Never fails. */
  readVersion(id: DocumentId): Promise<string | undefined>;
  /** Reads documents without parsing or keeping them, which takes a fraction of the time and of the memory. */
  readEach<T extends object>(
    documents: readonly StoredDocument<T>[],
  ): AsyncIterable<Unparsed<T> & { readonly id: DocumentId }>;
  /** The factories that have a document, sorted. */
  listFactories(): Promise<string[]>;
  /** Calls `onChange` whenever an applied state may have changed, and every few seconds. */
  watch(onChange: OnStateChange): Promise<Watch>;
}

interface DocumentChange<T, R> {
  readonly next?: T | undefined;
  readonly result: R;
}

/** Something that is being watched, until it is closed. */
export interface Watch {
  close(): Promise<void>;
}

/** Called with the factory whose applied state may have changed; without a factory if any may have. May return a promise of its end, which never rejects. */
export type OnStateChange = (factory?: string) => unknown;

/** The error for a document that a writer changed without its lock. */
export function movedError(place: string): StoreError {
  return new StoreError(
    'serial-moved',
    `${place} was changed by another program after it was read; run the command again`,
  );
}
