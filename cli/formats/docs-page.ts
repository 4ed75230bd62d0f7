import type { DiagnosticCode } from '../../schema/diagnostics.ts';

/** The documentation's page of a code: `docs/diagnostics/` as it is published with the package. */
export function docsPageOf(code: DiagnosticCode): string {
  return `https://unpkg.com/hookmill/docs/diagnostics/${docsFileOf(code)}`;
}

/** Its file in `docs/diagnostics/`. */
export function docsFileOf(code: DiagnosticCode): string {
  return `${code.replace('/', '-')}.md`;
}
