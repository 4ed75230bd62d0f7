import type { AppliedState } from '../../schema/applied-state.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import type { Definitions } from '../../sources/definitions.ts';
import { parseWebhookName, withWebhookIdHints } from '../../sources/webhook-id-hints.ts';

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
      if (uids.has(uid)) return [];
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

/** Adds the UID to each diagnostic about a trigger that names a webhook instead of its UID. */
export function withUidHints(
  { diagnostics, texts }: Pick<Definitions, 'diagnostics' | 'texts'>,
  { webhooks }: AppliedState,
): Diagnostic[] {
  return withWebhookIdHints(diagnostics, texts, written => {
    const webhook = webhooks.find(({ name }) => name === parseWebhookName(written));
    return webhook && `write ${webhook.uid}, the UID of the webhook ${webhook.name}`;
  });
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
      hint: "copy each webhook's YAML from its page, or name another factory; `apply --adopt` replaces the factory",
    },
  ];
}
