import type { AppliedAutomation, AppliedState, AppliedWebhook } from '../../schema/applied-state.ts';
import { createSnapshot } from '../../schema/automations-snapshot.ts';
import { compileFilterIndex, type NamedFilter } from '../../schema/filters/filter-index.ts';
import { credentialOwner, type Seal } from '../../store/seal.ts';
import { createAuthenticator } from '../ingress/authenticator.ts';
import type { ServedWebhook } from './served-webhook.ts';

export interface PreparedWebhooks {
  readonly webhooks: readonly ServedWebhook[];
  /** The webhooks whose credential cannot be opened, with the reasons. */
  readonly unserved: ReadonlyMap<string, unknown>;
}

/** Prepares the enabled webhooks of one applied state. */
export async function prepareWebhooks(state: AppliedState, seal: Seal): Promise<PreparedWebhooks> {
  const appliedState = createSnapshot(state);
  const filters = groupFiltersByWebhook(state.automations);
  const prepare = async (webhook: AppliedWebhook): Promise<ServedWebhook> => {
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
  };
  const unserved = new Map<string, unknown>();
  const webhooks: ServedWebhook[] = [];
  for (const webhook of state.webhooks.filter(({ enabled }) => enabled)) {
    await prepare(webhook).then(
      prepared => webhooks.push(prepared),
      error => unserved.set(webhook.uid, error),
    );
  }
  return { webhooks, unserved };
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
