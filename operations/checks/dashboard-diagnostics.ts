import type { AppliedState } from '../../schema/applied-state.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';

/** Finds out why definition files may not replace a factory managed in the dashboard. */
export function findDashboardDiagnostics(
  { source, factory }: AppliedState,
  severity: Diagnostic['severity'],
): Diagnostic[] {
  if (source?.kind !== 'dashboard') return [];
  return [
    {
      code: 'factory/dashboard-managed',
      severity,
      message: `the factory ${factory} is managed in the dashboard; these files would replace what was made there`,
      file: `factory ${factory}`,
      hint: "copy each webhook's YAML from its page, or name another factory; `apply --adopt` replaces the factory",
    },
  ];
}
