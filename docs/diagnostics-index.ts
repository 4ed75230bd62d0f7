import { getDocsFile } from '../cli/formats/sarif.ts';
import { type DiagnosticCode, diagnosticCodes } from '../schema/diagnostics.ts';

/** Renders `docs/reference/diagnostics/README.md`: every code with its rule and its page. */
export function renderDiagnosticsIndex(): string {
  const codes = Object.keys(diagnosticCodes) as DiagnosticCode[];
  const rows = codes.map(code => `| [\`${code}\`](${getDocsFile(code)}) | ${diagnosticCodes[code]} |`);
  return `${[introduction, ...rows].join('\n')}\n`;
}

const introduction = `# Diagnostics

<!-- Written by docs/generate.ts from schema/diagnostics.ts. -->

\`hookmill validate\`, \`plan\` and \`apply\` report mistakes in files with these codes. The meaning of a code never changes,
so you can compare the reports of different versions. Each page explains the rule, with a wrong and a right example.

| code | rule |
| --- | --- |`;
