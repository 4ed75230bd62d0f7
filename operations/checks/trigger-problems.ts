import type { AppliedState } from '../../schema/applied-state.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import type { Definitions } from '../../sources/definition-files.ts';
import { webhookNameIn, withWebhookIdHints } from '../../sources/webhook-id-hints.ts';

/** Warns of triggers whose webhook is unknown, or goes with this apply: they stay and never fire. */
export function triggerProblems(
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
          message: `no webhook has the UID ${uid}: this trigger never fires`,
          hint: '`hookmill webhooks list` prints the UIDs',
          ...locate('automation', name, ['triggers', index, 'filter', 'webhook_ids', 0]),
        },
      ];
    }),
  );
}

/** The definitions' diagnostics; one about a webhook's name in place of its UID says which UID that is. */
export function withUidHints(
  { diagnostics, texts }: Pick<Definitions, 'diagnostics' | 'texts'>,
  { webhooks }: AppliedState,
): Diagnostic[] {
  return withWebhookIdHints(diagnostics, texts, written => {
    const webhook = webhooks.find(({ name }) => name === webhookNameIn(written));
    return webhook && `the UID of the webhook ${webhook.name} is ${webhook.uid}: write that`;
  });
}
