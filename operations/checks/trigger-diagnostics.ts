import type { AppliedAutomation, AppliedState } from '../../schema/applied-state.ts';
import { findUnknownNames, pinWebhooks } from '../../schema/definitions/webhook-names.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { Refusal } from '../../schema/refusal.ts';
import type { Definitions } from '../../sources/definitions.ts';

/** Warns about triggers whose webhook is unknown or deleted by this apply: they stay and never start a run. */
export function findTriggerDiagnostics(
  { webhooks, automations, locate }: Pick<Definitions, 'webhooks' | 'automations' | 'locate'>,
  applied: AppliedState,
): Diagnostic[] {
  const kept = new Set(webhooks.map(({ name }) => name));
  const uids = new Set(applied.webhooks.filter(({ name }) => kept.has(name)).map(({ uid }) => uid));
  return automations.flatMap(({ name, triggers }) =>
    triggers.flatMap(({ filter }, index): Diagnostic[] => {
      const [uid = ''] = filter.webhook_ids;
      // Names are checked with the files.
      if (filter.webhook !== undefined || uids.has(uid)) return [];
      return [
        {
          code: 'automation/webhook-unknown',
          severity: 'warning',
          message: `no webhook has the UID ${uid}, so this trigger never starts a run`,
          hint: '`hookmill webhooks list` prints the UIDs',
          ...locate('automation', name, ['triggers', index, 'filter', 'webhook_ids', 0]),
        },
      ];
    }),
  );
}

/** Finds the UIDs of the webhooks that triggers name now. Fails with `request-invalid` if a name is unknown. */
export function requirePinned({ webhooks }: AppliedState, automation: AppliedAutomation): AppliedAutomation {
  const names = new Set(webhooks.map(({ name }) => name));
  const unknown = findUnknownNames(automation, names, () => 'name an applied webhook, or create it first');
  const pinned = pinWebhooks(automation, webhooks);
  const mistakes = unknown.map(({ index, message, hint }) => {
    const pointer = `/triggers/${index}/filter/webhook`;
    return { pointer, code: 'automation/webhook-unknown', message, hint };
  });
  if (mistakes.length > 0) throw new Refusal('request-invalid', { mistakes });
  return pinned;
}

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
      hint: '`hookmill export <directory>` writes its files; `apply --adopt` then replaces the factory, or name another one',
    },
  ];
}
