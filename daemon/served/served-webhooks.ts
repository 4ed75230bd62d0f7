import { setImmediate } from 'node:timers/promises';
import { findFormFormat } from '../../schema/definitions/webhook-definition.ts';
import { compileIdentity } from '../../schema/identity.ts';
import { listKeptHeaders } from '../../schema/kept-headers.ts';
import { findScheme } from '../../signatures/schemes.ts';
import { createAuthenticator, type TokenDeps } from '../authentication/authenticator.ts';
import { type LoadedState, type PackedWebhook, unpackWebhook } from './loaded-state.ts';
import { compileRunMatcher, type RunMatcher, type ServedWebhook } from './served-webhook.ts';

/** @limit Longest uninterrupted work on a changed state in the thread of the ingress, in ms: a delivery waits no longer for it. */
const sliceMs = 3;

/** The webhooks of one factory that are served. */
export interface ServedWebhooks extends Pick<LoadedState, 'snapshot' | 'webhooks'> {
  readonly factory: string;
  /** The matchers of the webhooks whose filters were compiled ahead. */
  readonly matchers: ReadonlyMap<string, RunMatcher> | undefined;
  readonly tokens: TokenDeps | undefined;
  /** Those that got a request. */
  served: Map<string, ServedWebhook> | undefined;
}

/** Prepares the webhooks of one loaded state, in slices that do not delay deliveries. */
export async function prepareWebhooks(loaded: LoadedState, tokens?: TokenDeps): Promise<ServedWebhooks> {
  const { view, snapshot, webhooks, filterParts } = loaded;
  const { factory } = view;
  const matchers = filterParts.size === 0 ? undefined : new Map<string, RunMatcher>();
  for (const [uid, parts] of filterParts)
    matchers?.set(uid, await runInSlices(compileRunMatcher(factory, parts)));
  return { factory, snapshot, webhooks, matchers, tokens, served: undefined };
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

const accepted = { status: 202 } as const;

function findSuccess(reference: PackedWebhook['signatureScheme']): ServedWebhook['success'] {
  return (typeof reference === 'object' ? reference.answer : findScheme(reference)?.success) ?? accepted;
}

function compileWebhook(
  packed: PackedWebhook,
  { factory, snapshot, matchers, tokens }: ServedWebhooks,
): ServedWebhook {
  const { name, uid, authMode, signatureScheme, key, filters = '[]' } = packed;
  return {
    ...{ factory, name, uid, authMode, appliedState: snapshot },
    identify: compileIdentity(packed),
    keptHeaders: listKeptHeaders(packed).map(name => name.toLowerCase()),
    authenticator: createAuthenticator(packed, key, tokens),
    form: findFormFormat(packed),
    success: findSuccess(signatureScheme),
    authenticatedBy: typeof signatureScheme === 'object' ? 'custom HMAC' : (signatureScheme ?? authMode),
    matchRuns: matchers?.get(uid) ?? runAtOnce(compileRunMatcher(factory, [filters])),
  };
}

/** Runs the steps of a generator one after the other. */
function runAtOnce<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Runs the steps of a generator in slices, and lets deliveries through between them. */
export async function runInSlices<T>(steps: Generator<undefined, T>): Promise<T> {
  for (;;) {
    const untilMs = performance.now() + sliceMs;
    do {
      const step = steps.next();
      if (step.done) return step.value;
    } while (performance.now() < untilMs);
    await setImmediate();
  }
}
