import type { DiagnosticCode } from '../../diagnostics.ts';
import type { Fields } from '../clause.ts';

/** A part of a valid filter that probably does not do what its author means. */
export interface FilterWarning {
  readonly code: DiagnosticCode;
  /** From the filter to the part. */
  readonly path: readonly (string | number)[];
  /** The key at the path is meant, not its value. */
  readonly atKey: boolean;
  readonly message: string;
  readonly remedy: Remedy;
}

/** What to do. The filter is shown only if it has no warning itself; otherwise, or without one, the hint is. */
export interface Remedy {
  readonly write?: Fields | undefined;
  /** Where to write the filter, if not in place of the part. */
  readonly where?: string | undefined;
  readonly hint: string;
}
