import { getDocsFile } from '../cli/formats/docs-page.ts';
import { type DiagnosticCode, diagnosticCodes } from '../schema/diagnostics.ts';

/** `docs/diagnostics/README.md`: each code, its rule and its page. */
export function renderDiagnosticsIndex(): string {
  const codes = Object.keys(diagnosticCodes) as DiagnosticCode[];
  const rows = codes.map(code => `| [\`${code}\`](${getDocsFile(code)}) | ${diagnosticCodes[code]} |`);
  return `${[introduction, ...rows].join('\n')}\n`;
}

const introduction = `# Diagnostics

<!-- Written by docs/generate.ts from schema/diagnostics.ts. -->

What \`hookmill validate\`, \`plan\` and \`apply\` report about files. A code never changes its meaning, so that reports of
several versions can be compared. Each page has the rule, an example that breaks it and one that does not.

| code | rule |
| --- | --- |`;
