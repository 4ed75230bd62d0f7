import type { AppliedAutomation, AppliedState, AppliedWebhook } from '../../schema/applied-state.ts';
import { createSnapshot } from '../../schema/automations-snapshot.ts';
import { compileFilterIndex, type NamedFilter } from '../../schema/filters/filter-index.ts';
import type { AppliedStateRef } from '../../store/delivery-log.ts';
import type { Seal } from '../../store/seal.ts';
import { credentialOwner } from '../../store/seal.ts';
import { type Authenticator, authenticatorFor } from '../ingress/authenticator.ts';

/** A webhook of an applied state, ready to receive: all that does not depend on a request is done. */
export interface ServedWebhook {
  readonly factory: string;
  readonly name: string;
  readonly uid: string;
  readonly authMode: AppliedWebhook['authMode'];
  /** In lower case, as node names request headers. */
  readonly deliveryIdHeader: string | undefined;
  readonly authenticator: Authenticator;
  /** What vouches for an authenticated delivery, as the log shows it. */
  readonly authenticatedBy: string;
  readonly appliedState: AppliedStateRef;
  /** The names of the enabled automations that a payload starts a run of. */
  readonly matchAutomations: (payload: unknown) => readonly string[];
}

/** The enabled webhooks of one applied state. Fails, and serves none of them, if a credential does not open. */
export async function serveWebhooks(state: AppliedState, seal: Seal): Promise<ServedWebhook[]> {
  const appliedState = createSnapshot(state);
  const filters = filtersByWebhook(state.automations);
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
        authenticator: await authenticatorFor(webhook, open),
        authenticatedBy: scheme ?? authMode,
        appliedState,
        matchAutomations: compileFilterIndex(filters.get(uid) ?? []),
      };
    });
  return Promise.all(served);
}

function filtersByWebhook(automations: readonly AppliedAutomation[]): Map<string, NamedFilter[]> {
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
