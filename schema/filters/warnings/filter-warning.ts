import type { DiagnosticCode } from '../../diagnostics.ts';
import type { Fields } from '../clause.ts';

/** A part of a valid filter that probably does not do what its author means. */
export interface FilterWarning {
  readonly code: DiagnosticCode;
  /** The path from the filter to the part. */
  readonly path: readonly (string | number)[];
  /** Whether the warning is about the key at the path, not about its value. */
  readonly atKey: boolean;
  readonly message: string;
  readonly remedy: Remedy;
}

/** A remedy for the mistake. Its filter is shown if it causes no warning itself, and otherwise the hint. */
export interface Remedy {
  readonly write?: Fields | undefined;
  /** The place for the filter, if it does not replace the part. */
  readonly where?: string | undefined;
  readonly hint: string;
}
