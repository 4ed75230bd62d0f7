/** Something that was read, but not parsed yet. */
export interface Unparsed<T> {
  /** The length of its text; 0 if nothing is stored. */
  readonly size: number;
  /** Fails as reading it would. */
  readonly parse: () => T;
}

/** Something that was read with its version. */
export interface Versioned<T> extends Pick<Unparsed<T>, 'parse'> {
  /** A text that differs for each stored content; undefined if there is none. */
  readonly version: string | undefined;
}
