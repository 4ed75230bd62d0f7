import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { getDocsFile } from '../cli/formats/sarif.ts';
import { type DiagnosticCode, diagnosticCodes } from '../schema/diagnostics.ts';

/** Renders `docs/reference/diagnostics/README.md`: every code with its rule and its page. */
export function renderDiagnosticsIndex(): string {
  const codes = Object.keys(diagnosticCodes) as DiagnosticCode[];
  const rows = codes.map(code => `| [\`${code}\`](${getDocsFile(code)}) | ${diagnosticCodes[code]} |`);
  return `${[diagnosticsIntroduction, ...rows].join('\n')}\n`;
}

const diagnosticsIntroduction = `# Diagnostics

<!-- Written by docs/generate.ts from schema/diagnostics.ts. -->

\`hookmill validate\`, \`plan\` and \`apply\` report mistakes in files with these codes. The meaning of a code never changes,
so you can compare the reports of different versions. Each page explains the rule, with a wrong and a right example.

| code | rule |
| --- | --- |`;

const root = fileURLToPath(new URL('..', import.meta.url));
const rooms = '{schema,signatures,store,sources,senders,operations,daemon,cli,dashboard}';
const limit =
  /\/\*\* @limit (?<meaning>[\s\S]*?) \*\/\n\s*(?:export )?const (?<name>\w+)(?:: Quota)? = (?<value>[^;]+);/g;

/** `docs/reference/limits.md`: each bound in the sources, which its `@limit` docstring explains where it is enforced. */
export function renderLimits(): string {
  const files = globSync(`${rooms}/**/*.{ts,tsx}`, { cwd: root }).sort();
  const rows = files.flatMap(file => {
    const found = readFileSync(`${root}/${file}`, 'utf8').matchAll(limit);
    return [...found].map(({ groups: { name, value, meaning } = {} }) => {
      const sentence = meaning?.replaceAll(/\s*\n\s*\* /g, ' ').replaceAll('|', '\\|');
      return `| \`${name}\` | ${formatValue(value ?? '')} | ${sentence} | \`${file}\` |`;
    });
  });
  return `${[limitsIntroduction, ...rows].join('\n')}\n`;
}

/** The value of a product of numbers, with its digits grouped; any other expression as it is written. */
function formatValue(expression: string): string {
  const factors = expression.replaceAll('_', '').split('*').map(Number);
  if (factors.some(Number.isNaN)) return `\`${expression}\``;
  return factors.reduce((product, factor) => product * factor, 1).toLocaleString('en-US');
}

const limitsIntroduction = `# Limits

<!-- Written by docs/generate.ts from the sources. -->

Every bound in hookmill, with its unit and its reason. Only retention keeps more than its bounds: deliveries with runs that
wait, run, or hold others. \`hookmill_runs_queued\`, \`hookmill_runs_running\` and \`hookmill_runs_holding\` in the
[metrics](../monitoring.md#metrics) say how many runs. The bounds that an operator can change are defaults of settings:
[Settings](../running.md#settings).

| name | value | meaning | where |
| --- | --- | --- | --- |`;
