import { createHash } from 'node:crypto';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { type FindLine, indexLines } from '../render/index-lines.ts';
import type { Findings } from './findings.ts';

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
