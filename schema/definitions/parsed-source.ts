import type { Range } from '../diagnostics.ts';

/** A file's text as plain JSON values, and where in the text each of them is. */
export interface ParsedSource {
  readonly file: string;
  readonly text: string;
  readonly value: unknown;
  /** The place of the value at a path, or of the nearest collection around it if there is none. */
  readonly rangeOfValue: (path: readonly PropertyKey[]) => Range;
  /** The place of the key that a path ends in. */
  readonly rangeOfKey: (path: readonly PropertyKey[]) => Range;
}
