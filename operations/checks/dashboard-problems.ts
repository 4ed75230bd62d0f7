import type { AppliedState } from '../../schema/applied-state.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';

/** What stands against definition files taking the place of what was made in the dashboard. */
export function dashboardProblems(
  { source, factory, webhooks }: AppliedState,
  severity: Diagnostic['severity'],
): Diagnostic[] {
  if (source?.kind !== 'dashboard') return [];
  return [
    {
      code: 'factory/dashboard-managed',
      severity,
      message: `the factory ${factory} is managed in the dashboard: its ${webhooks.length} webhooks have no files`,
      file: `factories/${factory}/applied.json`,
      hint: 'take the YAML of each from its page, or name another factory; apply --adopt takes the factory over',
    },
  ];
}
