import type { AppliedAutomation, AppliedState } from '../../schema/applied-state.ts';
import { createSnapshot } from '../../schema/automations-snapshot.ts';
import { compileFilterIndex, type NamedFilter } from '../../schema/filters/filter-index.ts';
import { credentialOwner, type Seal } from '../../store/seal.ts';
import { createAuthenticator } from '../ingress/authenticator.ts';
import type { ServedWebhook } from './served-webhook.ts';

/** Prepares the enabled webhooks of one applied state. Fails for all of them if one credential cannot be opened. */
export async function prepareWebhooks(state: AppliedState, seal: Seal): Promise<ServedWebhook[]> {
  const appliedState = createSnapshot(state);
  const filters = groupFiltersByWebhook(state.automations);
  const served = state.webhooks
    .filter(webhook => webhook.enabled)
    .map(async (webhook): Promise<ServedWebhook> => {
      const { name, uid, authMode, signatureScheme, deliveryIdHeader } = webhook;
      const open = (jwe: string) => seal.open(jwe, credentialOwner(state.factory, uid));
      const scheme = typeof signatureScheme === 'object' ? 'custom HMAC' : signatureScheme;
      return {
        factory: state.factory,
        name,
        uid,
        authMode,
        deliveryIdHeader: deliveryIdHeader?.toLowerCase(),
        authenticator: await createAuthenticator(webhook, open),
        authenticatedBy: scheme ?? authMode,
        appliedState,
        matchAutomations: compileFilterIndex(filters.get(uid) ?? []),
      };
    });
  return Promise.all(served);
}

function groupFiltersByWebhook(automations: readonly AppliedAutomation[]): Map<string, NamedFilter[]> {
  const filters = new Map<string, NamedFilter[]>();
  for (const { name, enabled, triggers } of automations) {
    if (!enabled) continue;
    for (const { filter } of triggers) {
      for (const uid of filter.webhook_ids) {
        const others = filters.get(uid) ?? [];
        filters.set(uid, others);
        others.push({ name, filter: filter.payload });
      }
    }
  }
  return filters;
}
