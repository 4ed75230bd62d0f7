import type { Diagnostic, Range } from '../../schema/diagnostics.ts';
import { printable, printableJson } from '../../schema/text/printable.ts';
import { createFingerprints, type Findings } from './findings.ts';

/**
 * Workflow commands, which GitHub shows as annotations of the pull request. It shows ten errors and ten warnings per
 * step, so errors come first.
 * https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
 */
export function renderGithub({ diagnostics }: Findings): string {
  const worstFirst = diagnostics.toSorted(
    (a, b) => Number(b.severity === 'error') - Number(a.severity === 'error'),
  );
  return worstFirst.map(command).join('');
}

function command({ code, severity, message, hint, file, range }: Diagnostic): string {
  const properties = { file: printable(file), ...(range && place(range)), title: code };
  const written = Object.entries(properties).map(
    ([name, value]) => `${name}=${escapeProperty(String(value))}`,
  );
  const lines = hint === undefined ? [message] : [message, hint];
  return `::${severity} ${written.join(',')}::${escapeData(lines.map(printable).join('\n'))}\n`;
}

/** The runner accepts columns only for a range within one line. */
function place({ start, end }: Range): Record<string, number> {
  const lines = { line: start.line, endLine: end.line };
  return start.line === end.line ? { ...lines, col: start.column, endColumn: end.column } : lines;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/**
 * A Code Quality report.
 * https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
 */
export function renderGitlab(findings: Findings): string {
  const marks = createFingerprints(findings);
  const issues = findings.diagnostics.map((diagnostic, index) => issue(diagnostic, marks[index] ?? ''));
  return `${printableJson(issues)}\n`;
}

function issue({ code, severity, message, hint, file, range }: Diagnostic, fingerprint: string): object {
  return {
    description: printable(hint === undefined ? message : `${message}; ${hint}`),
    check_name: code,
    fingerprint,
    severity: severity === 'error' ? 'major' : 'minor',
    // A mistake in a whole file is reported at its first line, because the report requires a line.
    location: { path: file, lines: { begin: range?.start.line ?? 1, end: range?.end.line ?? 1 } },
  };
}
