import type { DiagnosticCode } from '../../schema/diagnostics.ts';

/** The URL of a code's page in the documentation that is published with the package. */
export function getDocsPage(code: DiagnosticCode): string {
  return `https://unpkg.com/hookmill/docs/diagnostics/${getDocsFile(code)}`;
}

/** The name of a code's file in `docs/diagnostics/`. */
export function getDocsFile(code: DiagnosticCode): string {
  return `${code.replace('/', '-')}.md`;
}
