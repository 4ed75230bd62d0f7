import { printableJson } from '../../schema/text/printable.ts';
import type { Findings } from './findings.ts';

export function renderJson({ diagnostics, errorCount, warningCount }: Findings): string {
  const data = { valid: errorCount === 0, errorCount, warningCount, diagnostics };
  return `${printableJson(data)}\n`;
}
