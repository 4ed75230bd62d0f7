import type { Diagnostic } from '../../schema/diagnostics.ts';
import { printable, printableJson } from '../../schema/text/printable.ts';
import { createFingerprints, type Findings } from './findings.ts';

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
