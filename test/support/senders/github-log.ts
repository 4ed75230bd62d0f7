import { createHmac, randomUUID } from 'node:crypto';
import type { GithubHook } from './github-hooks.ts';
import { type HookOutcome, postToHook } from './post-to-hook.ts';

/** A delivery in GitHub's log. */
export interface GithubDelivery {
  /** More than a JavaScript number can hold, as since 2026-02 (octokit/request.js#797). */
  readonly id: bigint;
  /** Of the event: hooks that hear the same event and redeliveries share it. */
  readonly guid: string;
  readonly hookId: number;
  readonly deliveredAtMs: number;
  readonly redelivery: boolean;
  readonly durationSeconds: number;
  readonly status: string;
  readonly statusCode: number;
  readonly event: string;
  readonly action: string | null;
  readonly repositoryId: number | null;
  readonly installationId: number | null;
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly payload: object;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly responsePayload: string | null;
}

/** What is delivered: an event, for the first time or again. */
export interface GithubEvent {
  readonly guid: string;
  readonly event: string;
  readonly action: string | null;
  readonly payload: object;
  readonly repositoryId: number | null;
  readonly installationId: number | null;
}

export interface GithubLog {
  /** All deliveries that were ever made, in order. */
  readonly deliveries: readonly GithubDelivery[];
  /** The deliveries of a hook that GitHub still shows, the newest first. */
  shown(hook: GithubHook): readonly GithubDelivery[];
  /** Really delivers an event, with the hook's current URL and secret. */
  deliver(hook: GithubHook, event: GithubEvent, redelivery: boolean): Promise<GithubDelivery>;
  /** Records a delivery without making one. */
  record(hook: GithubHook, event: GithubEvent, outcome: RecordedOutcome): GithubDelivery;
}

export interface RecordedOutcome {
  readonly deliveredAtMs: number;
  readonly redelivery: boolean;
  readonly durationSeconds: number;
  readonly status: string;
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** Each ID loses its last digits when it becomes a number. */
const firstId = 3_804_004_623_172_239_366n;
const idStep = 1_000_003n;

/** A log of deliveries that may take `timeoutMs` and are shown for `keptMs`. */
export function createGithubLog(now: () => number, timeoutMs: number, keptMs: number): GithubLog {
  const deliveries: GithubDelivery[] = [];
  const record = (hook: GithubHook, event: GithubEvent, outcome: RecordedOutcome): GithubDelivery => {
    const { headers: responseHeaders, body: responsePayload, ...result } = outcome;
    const { headers: requestHeaders } = composeRequest(hook, event);
    const delivery: GithubDelivery = {
      id: firstId + idStep * BigInt(deliveries.length),
      ...{ hookId: hook.id, url: hook.config.url, ...event, ...result },
      ...{ requestHeaders, responseHeaders, responsePayload },
    };
    deliveries.push(delivery);
    hook.lastResponse = describeLast(delivery);
    return delivery;
  };
  return {
    deliveries,
    record,
    shown: hook =>
      deliveries
        .filter(({ hookId, deliveredAtMs }) => hookId === hook.id && deliveredAtMs > now() - keptMs)
        .reverse(),
    deliver: async (hook, event, redelivery) => {
      const { headers, body } = composeRequest(hook, event);
      const deliveredAtMs = now();
      const outcome = await postToHook(hook.config.url, headers, body, timeoutMs);
      return record(hook, event, { deliveredAtMs, redelivery, ...judge(outcome) });
    },
  };
}

export function newGithubEvent(given: Omit<GithubEvent, 'guid'>): GithubEvent {
  return { guid: randomUUID(), ...given };
}

/** A delivery in a list. */
export function showGithubItem(delivery: GithubDelivery): object {
  return {
    ...{ id: delivery.id, guid: delivery.guid, delivered_at: new Date(delivery.deliveredAtMs).toISOString() },
    ...{ redelivery: delivery.redelivery, duration: delivery.durationSeconds },
    ...{ status: delivery.status, status_code: delivery.statusCode },
    ...{ event: delivery.event, action: delivery.action, throttled_at: null },
    ...{ installation_id: delivery.installationId, repository_id: delivery.repositoryId },
  };
}

/** A delivery with its request and its response. The payload is parsed: the bytes that were signed are not shown. */
export function showGithubDelivery(delivery: GithubDelivery): object {
  return {
    ...showGithubItem(delivery),
    url: delivery.url,
    request: { headers: delivery.requestHeaders, payload: delivery.payload },
    response: { headers: delivery.responseHeaders, payload: delivery.responsePayload },
  };
}

/**
 * Compares by `status_code`, as the description says: `success` is 200–399 and `failure` is 400–599. So a redirect, which
 * GitHub does not follow, is a success, and a delivery with the code 0 is neither.
 */
export function hasGithubStatus({ statusCode }: GithubDelivery, status: string | null): boolean {
  if (status === 'success') return statusCode >= 200 && statusCode < 400;
  if (status === 'failure') return statusCode >= 400 && statusCode < 600;
  return true;
}

/** The request of a delivery (docs.github.com, "Webhook events and payloads", delivery headers, 2026-11). */
function composeRequest(
  { id, owner, config }: GithubHook,
  { guid, event, payload }: GithubEvent,
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
  const json = JSON.stringify(payload);
  const isForm = config.content_type === 'form';
  const body = isForm ? new URLSearchParams({ payload: json }).toString() : json;
  const sign = (algorithm: string) =>
    `${algorithm}=${createHmac(algorithm, config.secret ?? '')
      .update(body)
      .digest('hex')}`;
  const headers = {
    ...{ Accept: '*/*', 'User-Agent': 'GitHub-Hookshot/b8c71d8' },
    'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
    ...{ 'X-GitHub-Event': event, 'X-GitHub-Delivery': guid, 'X-GitHub-Hook-ID': String(id) },
    'X-GitHub-Hook-Installation-Target-ID': String(owner.id),
    'X-GitHub-Hook-Installation-Target-Type': owner.kind === 'app' ? 'integration' : owner.kind,
    ...(config.secret ? { 'X-Hub-Signature': sign('sha1'), 'X-Hub-Signature-256': sign('sha256') } : {}),
  };
  return { headers, body };
}

/** The description's examples are `OK` and, with 502, `failed to connect`. The code of a timeout is assumed. */
function judge(outcome: HookOutcome): Omit<RecordedOutcome, 'deliveredAtMs' | 'redelivery'> {
  const { durationSeconds } = outcome;
  if (outcome.status === undefined) {
    const [status, statusCode] =
      outcome.reason === 'timeout' ? (['timed out', 504] as const) : (['failed to connect', 502] as const);
    return { durationSeconds, status, statusCode, headers: {}, body: null };
  }
  const { status: statusCode, headers, body } = outcome;
  const isSuccess = statusCode >= 200 && statusCode < 300;
  const status = isSuccess ? 'OK' : `Invalid HTTP Response: ${statusCode}`;
  return { durationSeconds, status, statusCode, headers, body };
}

function describeLast({ status, statusCode }: GithubDelivery): GithubHook['lastResponse'] {
  if (status === 'OK') return { code: statusCode, status: 'active', message: 'OK' };
  return { code: statusCode, status: 'misconfigured', message: status };
}
