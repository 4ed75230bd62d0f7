import { isDeepStrictEqual } from 'node:util';
import type { AppliedState } from '../../schema/applied-state.ts';
import type { WebhookDefinition } from '../../schema/definitions/webhook-definition.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import type { Definitions } from '../../sources/definitions.ts';

/**
 * Warns of webhooks whose file seems to be renamed: one is missing, and exactly one new one is like it and uses the same
 * team secret. A repository's commits say more; see `findRenamedDefinitions`.
 */
export function findRenameWarnings(
  { webhooks, locate }: Pick<Definitions, 'webhooks' | 'locate'>,
  applied: Pick<AppliedState, 'webhooks'>,
): Diagnostic[] {
  const isIn = (others: readonly { readonly name: string }[], { name }: { readonly name: string }) =>
    others.some(other => other.name === name);
  const missing = applied.webhooks.filter(webhook => !isIn(webhooks, webhook));
  const added = webhooks.filter(webhook => !isIn(applied.webhooks, webhook));
  return missing.flatMap(({ name: from, ...before }) => {
    const alike = (webhook: WebhookDefinition) => isDeepStrictEqual(toSender(webhook), toSender(before));
    const [to, another] = added.filter(alike);
    if (!to || another || missing.filter(other => alike(other)).length > 1) return [];
    return [
      {
        code: 'webhook/renamed',
        severity: 'warning',
        message: `the webhook ${from} seems to be renamed to ${to.name}: its URL would change, and its sender would get 404`,
        ...locate('webhook', to.name, ['secretName']),
        hint: 'rename the file back, or give the sender the new URL',
      },
    ];
  });
}

function toSender({
  authMode,
  signatureScheme,
  secretName,
  deliveryIdHeader,
  keepHeaders,
}: Omit<WebhookDefinition, 'name'>) {
  return { authMode, signatureScheme, secretName, deliveryIdHeader, keepHeaders };
}
