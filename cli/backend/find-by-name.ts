import { Refusal } from '../../schema/refusal.ts';
import { didYouMean } from '../../schema/suggestion.ts';

/** Finds a webhook by its name or UID. Fails with `webhook-unknown`, and suggests the name that was meant. */
export function findWebhook<T extends { readonly name: string; readonly uid: string }>(
  nameOrUid: string,
  factory: string,
  webhooks: readonly T[],
): T {
  const found = webhooks.find(({ name, uid }) => name === nameOrUid || uid === nameOrUid);
  if (found) return found;
  throw new Refusal('webhook-unknown', {
    detail: `the factory ${factory} has no webhook ${nameOrUid}; ${suggestName(nameOrUid, webhooks, 'webhooks')}`,
  });
}

/** Finds an automation. Fails with `automation-unknown`, and suggests the name that was meant. */
export function findAutomation<T extends { readonly name: string }>(
  name: string,
  factory: string,
  automations: readonly T[],
): T {
  const found = automations.find(automation => automation.name === name);
  if (found) return found;
  throw new Refusal('automation-unknown', {
    detail: `the factory ${factory} has no automation ${name}; ${suggestName(name, automations, 'automations')}`,
  });
}

function suggestName(name: string, known: readonly { readonly name: string }[], group: string): string {
  const names = known.map(({ name }) => name);
  return didYouMean(name, names) ?? `run \`hookmill ${group} list\` to see the applied ones`;
}
