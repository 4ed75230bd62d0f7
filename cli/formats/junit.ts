import type { Diagnostic } from '../../schema/diagnostics.ts';
import { printable } from '../../schema/text/printable.ts';
import type { Findings } from './findings.ts';

/**
 * A JUnit report: a test case for each file, which fails if the file has errors.
 * https://github.com/testmoapp/junitxml
 */
export function renderJunit({ diagnostics, texts }: Findings): string {
  const byFile = Map.groupBy(diagnostics, diagnostic => diagnostic.file);
  const files = [...new Set([...texts.keys(), ...byFile.keys()])].sort();
  const cases = files.map(file => testCase(file, byFile.get(file) ?? []));
  const failures = cases.filter(({ failed }) => failed).length;
  const counts = `tests="${cases.length}" failures="${failures}" errors="0"`;
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="hookmill validate" ${counts}>`,
    `  <testsuite name="hookmill validate" ${counts} skipped="0">`,
    ...cases.map(({ xml }) => xml),
    '  </testsuite>',
    '</testsuites>',
  ];
  return `${lines.join('\n')}\n`;
}

function testCase(file: string, diagnostics: readonly Diagnostic[]): { xml: string; failed: boolean } {
  const name = escapeXml(printable(file));
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const warnings = diagnostics.filter(({ severity }) => severity === 'warning');
  const [first] = errors;
  const parts = [
    first &&
      `<failure type="${first.code}" message="${escapeXml(printable(first.message))}">${list(errors)}</failure>`,
    warnings.length > 0 && `<system-out>${list(warnings)}</system-out>`,
  ].filter(part => typeof part === 'string');
  const open = `    <testcase name="${name}" classname="hookmill validate" file="${name}"`;
  const xml =
    parts.length === 0
      ? `${open}/>`
      : [`${open}>`, ...parts.map(part => `      ${part}`), '    </testcase>'].join('\n');
  return { xml, failed: first !== undefined };
}

function list(diagnostics: readonly Diagnostic[]): string {
  return escapeXml(diagnostics.map(line).join('\n'));
}

function line({ code, severity, message, hint, file, range }: Diagnostic): string {
  const place = range ? `${file}:${range.start.line}:${range.start.column}` : file;
  const first = printable(`${place}: ${severity}: ${message} [${code}]`);
  return hint === undefined ? first : `${first}\n  hint: ${printable(hint)}`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Escapes text without control characters. XML 1.0 (production Char) forbids lone surrogates and these two. */
function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"]/g, character => entities[character] ?? '');
}
