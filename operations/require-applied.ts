import type { AppliedAutomation, AppliedState, AppliedWebhook } from '../schema/applied-state.ts';
import { Refusal } from '../schema/refusal.ts';
import { didYouMean } from '../schema/suggestion.ts';

/** Finds an applied webhook by its UID. Fails with `webhook-unknown`. */
export function requireWebhook({ webhooks, factory }: AppliedState, uid: string): AppliedWebhook {
  const found = webhooks.find(webhook => webhook.uid === uid);
  if (found) return found;
  throw new Refusal('webhook-unknown', { detail: `the factory ${factory} has no webhook ${uid}` });
}

/** Finds an applied automation by its name. Fails with `automation-unknown`. */
export function requireAutomation({ automations, factory }: AppliedState, name: string): AppliedAutomation {
  const found = automations.find(automation => automation.name === name);
  if (found) return found;
  const meant = didYouMean(
    name,
    automations.map(automation => automation.name),
  );
  const detail = `the factory ${factory} has no automation ${name}${meant ? `; ${meant}` : ''}`;
  throw new Refusal('automation-unknown', { detail });
}
