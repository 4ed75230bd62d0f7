import type { AppliedState, AppliedWebhook } from '../../schema/applied-state.ts';
import { Refusal } from '../../schema/refusal.ts';
import { didYouMean } from '../../schema/text/suggestion.ts';

/** The part of an applied state by which its webhooks and automations are found. */
export interface AppliedNames {
  readonly factory: string;
  readonly webhooks: readonly { readonly name: string; readonly uid: string }[];
  readonly automations: readonly { readonly name: string }[];
}

/** Finds an applied webhook by its UID. Fails with `webhook-unknown`. */
export function requireWebhook({ webhooks, factory }: AppliedState, uid: string): AppliedWebhook {
  const found = webhooks.find(webhook => webhook.uid === uid);
  if (found) return found;
  throw new Refusal('webhook-unknown', { detail: `the factory ${factory} has no webhook ${uid}` });
}

/** Finds a webhook by its name or UID. Fails with `webhook-unknown`, and suggests the name that was meant. */
export function requireNamedWebhook<T extends AppliedNames['webhooks'][number]>(
  { factory, webhooks }: { readonly factory: string; readonly webhooks: readonly T[] },
  nameOrUid: string,
): T {
  const found = webhooks.find(({ name, uid }) => name === nameOrUid || uid === nameOrUid);
  if (found) return found;
  const detail = `the factory ${factory} has no webhook ${nameOrUid}; ${suggestName(nameOrUid, webhooks, 'webhooks')}`;
  throw new Refusal('webhook-unknown', { detail });
}

/** Finds an automation by its name. Fails with `automation-unknown`, and suggests the name that was meant. */
export function requireAutomation<T extends AppliedNames['automations'][number]>(
  { factory, automations }: { readonly factory: string; readonly automations: readonly T[] },
  name: string,
): T {
  const found = automations.find(automation => automation.name === name);
  if (found) return found;
  const detail = `the factory ${factory} has no automation ${name}; ${suggestName(name, automations, 'automations')}`;
  throw new Refusal('automation-unknown', { detail });
}

function suggestName(name: string, known: readonly { readonly name: string }[], group: string): string {
  const names = known.map(({ name }) => name);
  return didYouMean(name, names) ?? `run \`hookmill ${group} list\` to see the applied ones`;
}
