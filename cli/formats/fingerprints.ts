import { createHash } from 'node:crypto';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { type LineAt, linesOf } from '../render/lines.ts';
import type { Findings } from './load-format.ts';

/**
 * One fingerprint a diagnostic, in their order: the same as long as the mistake is, wherever its line moves to. It is
 * made of the code, the file, the line's text, and how many there are before it that are alike.
 */
export function fingerprints({ diagnostics, texts }: Pick<Findings, 'diagnostics' | 'texts'>): string[] {
  const seen = new Map<string, number>();
  const lineAt = linesOf(texts);
  return diagnostics.map(diagnostic => {
    const content = JSON.stringify([diagnostic.code, diagnostic.file, lineOf(diagnostic, lineAt)]);
    const before = seen.get(content) ?? 0;
    seen.set(content, before + 1);
    return createHash('sha256').update(`${before} ${content}`).digest('hex').slice(0, 32);
  });
}

function lineOf({ file, range, message }: Diagnostic, lineAt: LineAt): string {
  return range ? lineAt(file, range.start.line).trim() : message;
}
