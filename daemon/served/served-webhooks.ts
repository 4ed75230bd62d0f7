import {
  compileFilterIndex,
  compileFilterSteps,
  type FilterMatcher,
  type NamedFilter,
} from '../../schema/filters/filter-index.ts';
import { listKeptHeaders } from '../../schema/kept-headers.ts';
import { createAuthenticator } from '../ingress/authenticator.ts';
import { runInSlices } from './in-slices.ts';
import type { LoadedState } from './loaded-state.ts';
import { type PackedWebhook, unpackWebhook } from './packed-webhooks.ts';
import type { ServedWebhook } from './served-webhook.ts';

/** The webhooks of one factory that are served. */
export interface ServedWebhooks extends Pick<LoadedState, 'snapshot' | 'webhooks'> {
  readonly factory: string;
  /** The matchers of the webhooks whose filters were compiled ahead. */
  readonly matchers: ReadonlyMap<string, FilterMatcher> | undefined;
  /** Those that got a request. */
  served: Map<string, ServedWebhook> | undefined;
}

/** Prepares the webhooks of one loaded state, in slices that do not delay deliveries. */
export async function prepareWebhooks(loaded: LoadedState): Promise<ServedWebhooks> {
  const { view, snapshot, webhooks, filterParts } = loaded;
  const matchers = filterParts.size === 0 ? undefined : new Map<string, FilterMatcher>();
  for (const [uid, parts] of filterParts) matchers?.set(uid, await runInSlices(compileParts(parts)));
  return { factory: view.factory, snapshot, webhooks, matchers, served: undefined };
}

/** Finds a webhook of a factory. It is compiled for its first request, which takes about a millisecond at most. */
export function findWebhook(among: ServedWebhooks, uid: string): ServedWebhook | undefined {
  const known = among.served?.get(uid);
  if (known) return known;
  const packed = unpackWebhook(among.webhooks, uid);
  if (!packed) return undefined;
  const webhook = compileWebhook(packed, among);
  among.served ??= new Map();
  among.served.set(uid, webhook);
  return webhook;
}

function compileWebhook(
  packed: PackedWebhook,
  { factory, snapshot, matchers }: ServedWebhooks,
): ServedWebhook {
  const { name, uid, authMode, signatureScheme, deliveryIdHeader, key, filters = '[]' } = packed;
  return {
    ...{ factory, name, uid, authMode, appliedState: snapshot },
    deliveryIdHeader: deliveryIdHeader?.toLowerCase(),
    keptHeaders: listKeptHeaders(packed).map(name => name.toLowerCase()),
    authenticator: createAuthenticator(packed, key),
    authenticatedBy: typeof signatureScheme === 'object' ? 'custom HMAC' : (signatureScheme ?? authMode),
    matchAutomations: matchers?.get(uid) ?? compileFilterIndex(JSON.parse(filters)),
  };
}

/** Compiles the filters of a webhook. Each step takes about a millisecond at most. */
function* compileParts(parts: readonly string[]): ReturnType<typeof compileFilterSteps> {
  const filters: NamedFilter[] = [];
  for (const part of parts) {
    filters.push(...(JSON.parse(part) as NamedFilter[]));
    yield;
  }
  return yield* compileFilterSteps(filters);
}
