import type { DiagnosticCode } from '../../schema/diagnostics.ts';

/** The name of a code's file in `docs/reference/diagnostics/`. */
export function getDocsFile(code: DiagnosticCode): string {
  return `${code.replace('/', '-')}.md`;
}
