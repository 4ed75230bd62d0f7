import { isDeepStrictEqual } from 'node:util';
import type { AppliedWebhook } from '../../schema/applied-state.ts';
import { describeSender, type WebhookSender } from '../../schema/definitions/sender-keys.ts';
import type { WebhookDefinition } from '../../schema/definitions/webhook-definition.ts';
import type { SenderState } from '../../schema/sender.ts';

interface PlannedChange {
  readonly kind: 'webhook' | 'automation';
  readonly name: string;
  readonly action: 'create' | 'update' | 'delete' | 'no-op';
}

/**
 * Adds what a person must do at providers after an apply, which changes nothing there: delete the hook of a destroyed webhook,
 * and register that of one whose `sender` is new or different. `states` know the IDs of hooks.
 */
export function withSenderTasks<C extends PlannedChange>(
  changes: readonly C[],
  { webhooks: desired }: { readonly webhooks: readonly WebhookDefinition[] },
  { webhooks: applied }: { readonly webhooks: readonly AppliedWebhook[] },
  states: readonly SenderState[],
): (C & { readonly atProvider?: readonly string[] })[] {
  return changes.map(change => {
    const { kind, name, action } = change;
    if (kind !== 'webhook' || action === 'no-op') return change;
    const before = applied.find(webhook => webhook.name === name);
    const after = action === 'delete' ? undefined : desired.find(webhook => webhook.name === name)?.sender;
    const isElsewhere = before?.sender && (!after || describeSender(before.sender) !== describeSender(after));
    const isGone = isElsewhere && (action === 'delete' || after !== undefined);
    const tasks = [
      ...(before?.sender && isGone ? [describeLeftover(before.uid, before.sender, states)] : []),
      ...(after && !isDeepStrictEqual(before?.sender, after) ? [describeRegistration(name, after)] : []),
    ];
    return tasks.length === 0 ? change : { ...change, atProvider: tasks };
  });
}

function describeLeftover(uid: string, sender: WebhookSender, states: readonly SenderState[]): string {
  const known = states.find(state => state.uid === uid)?.checked?.hooks.map(({ id }) => id) ?? [];
  const ids = sender.hookId === undefined ? known : [String(sender.hookId)];
  const at = describeSender(sender);
  if (sender.app !== undefined) return `remove the webhook URL of ${at}: nothing else needs it`;
  if (ids.length === 0) return `delete the hook of ${at} whose URL ends with ${uid}: nothing else needs it`;
  return `delete hook ${ids.join(', ')} of ${at}: nothing else needs it`;
}

function describeRegistration(name: string, sender: WebhookSender): string {
  return `run \`hookmill senders register ${name}\` after the apply, so that ${describeSender(sender)} has its hook`;
}
