import { createHash } from 'node:crypto';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { type FindLine, indexLines } from '../render/render-diagnostics.ts';

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

/**
 * Creates one fingerprint per diagnostic, in the same order. It consists of the code, the file, the text of the line,
 * and the number of equal findings before it, so it stays the same when the line moves.
 */
export function createFingerprints({
  diagnostics,
  texts,
}: Pick<Findings, 'diagnostics' | 'texts'>): string[] {
  const seen = new Map<string, number>();
  const findLine = indexLines(texts);
  return diagnostics.map(diagnostic => {
    const content = JSON.stringify([diagnostic.code, diagnostic.file, getText(diagnostic, findLine)]);
    const before = seen.get(content) ?? 0;
    seen.set(content, before + 1);
    return createHash('sha256').update(`${before} ${content}`).digest('hex').slice(0, 32);
  });
}

function getText({ file, range, message }: Diagnostic, findLine: FindLine): string {
  return range ? findLine(file, range.start.line).trim() : message;
}
