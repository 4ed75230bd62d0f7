import type { Diagnostic } from '../../schema/diagnostics.ts';

/** The findings of `validate`, in the order of `sortDiagnostics`. */
export interface Findings {
  readonly diagnostics: readonly Diagnostic[];
  /** The text of each file that could be read, by its name in the diagnostics. */
  readonly texts: ReadonlyMap<string, string>;
  readonly errorCount: number;
  readonly warningCount: number;
  /** The version of hookmill, for reports that name their tool. */
  readonly version: string;
}

/** Renders findings in one format. */
export type Format = (findings: Findings) => string;
