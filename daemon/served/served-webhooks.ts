import type { AppliedWebhook } from '../../schema/applied-state.ts';
import { compileFilterSteps, type NamedFilter } from '../../schema/filters/filter-index.ts';
import { listKeptHeaders } from '../../schema/kept-headers.ts';
import { credentialOwner, type Seal } from '../../store/seal.ts';
import { createAuthenticator } from '../ingress/authenticator.ts';
import { runInSlices } from './in-slices.ts';
import type { LoadedState, WebhookFilter } from './loaded-state.ts';
import type { ServedWebhook } from './served-webhook.ts';

export interface PreparedWebhooks {
  readonly webhooks: readonly ServedWebhook[];
  /** The webhooks whose credential cannot be opened, with the reasons. */
  readonly unserved: ReadonlyMap<string, unknown>;
}

/** Prepares the enabled webhooks of one applied state, in slices that do not delay deliveries. */
export async function prepareWebhooks(loaded: LoadedState, seal: Seal): Promise<PreparedWebhooks> {
  const { snapshot: appliedState, view } = loaded;
  const matchers = await runInSlices(compileMatchers(loaded));
  const prepare = async (webhook: AppliedWebhook): Promise<ServedWebhook> => {
    const { name, uid, authMode, signatureScheme, deliveryIdHeader } = webhook;
    const open = (jwe: string) => seal.open(jwe, credentialOwner(view.factory, uid));
    const scheme = typeof signatureScheme === 'object' ? 'custom HMAC' : signatureScheme;
    return {
      factory: view.factory,
      name,
      uid,
      authMode,
      deliveryIdHeader: deliveryIdHeader?.toLowerCase(),
      keptHeaders: listKeptHeaders(webhook).map(name => name.toLowerCase()),
      authenticator: await createAuthenticator(webhook, open),
      authenticatedBy: scheme ?? authMode,
      appliedState,
      matchAutomations: matchers.get(uid) ?? (() => []),
    };
  };
  const unserved = new Map<string, unknown>();
  const webhooks: ServedWebhook[] = [];
  for (const webhook of loaded.webhooks.filter(({ enabled }) => enabled)) {
    await prepare(webhook).then(
      prepared => webhooks.push(prepared),
      error => unserved.set(webhook.uid, error),
    );
  }
  return { webhooks, unserved };
}

/** Compiles the filters of each webhook. Each step takes less than a millisecond. */
function* compileMatchers({
  webhooks,
  filterParts,
}: LoadedState): Generator<undefined, ReadonlyMap<string, ServedWebhook['matchAutomations']>> {
  const filters = new Map<string, NamedFilter[]>(webhooks.map(({ uid }) => [uid, []]));
  for (const part of filterParts) {
    const parsed: WebhookFilter[] = JSON.parse(part);
    for (const { uid, ...named } of parsed) filters.get(uid)?.push(named);
    yield;
  }
  const matchers = new Map<string, ServedWebhook['matchAutomations']>();
  for (const [uid, named] of filters) matchers.set(uid, yield* compileFilterSteps(named));
  return matchers;
}
