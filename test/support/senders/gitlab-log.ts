import { createHash, randomUUID } from 'node:crypto';
import { countGitlabOutcome, type GitlabHook } from './gitlab-hooks.ts';
import { postToHook } from './post-to-hook.ts';

/** An event in GitLab's log, that is, one request to a hook. */
export interface GitlabEvent {
  readonly id: number;
  readonly hookId: number;
  readonly url: string;
  /** `push_hooks`. */
  readonly trigger: string;
  readonly createdAtMs: number;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestData: unknown;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly responseBody: string;
  readonly durationSeconds: number;
  /** `200`, or `internal error` if there was no answer. */
  readonly responseStatus: string;
  readonly urlHash: string;
}

/** What came of a delivery: an answer of any status, or none. */
export type GitlabOutcome =
  | { readonly status: number; readonly body: string }
  | { readonly status: undefined; readonly message: string };

export interface GitlabLog {
  /** All events, the oldest first. */
  readonly events: readonly GitlabEvent[];
  /** The events of a hook that GitLab still shows, the newest first. */
  shown(hook: GitlabHook): readonly GitlabEvent[];
  deliver(hook: GitlabHook, event: string, data: unknown, idempotencyKey?: string): Promise<GitlabOutcome>;
  /** Records an event without sending it. It does not count as a failure of the hook. */
  record(
    hook: GitlabHook,
    event: string,
    data: unknown,
    createdAtMs: number,
    responseStatus: string,
  ): GitlabEvent;
}

/** From the beginning of a day (app/models/hooks/web_hook_log.rb, 2026-11). */
const keptDays = 7;
const dayMs = 24 * 3_600_000;
const redacted = '[REDACTED]';
const noAnswer = 'internal error';

// app/models/concerns/triggerable_hooks.rb (2026-11): events whose trigger does not have their name.
const triggers: Readonly<Record<string, string>> = {
  issues_events: 'issue_hooks',
  confidential_issues_events: 'confidential_issue_hooks',
  merge_requests_events: 'merge_request_hooks',
  releases_events: 'release_hooks',
};

/** Sends and records as app/services/web_hook_service.rb and web_hooks/log_execution_service.rb do (2026-11). */
export function createGitlabLog(now: () => number, instance: string, timeoutMs: number): GitlabLog {
  const events: GitlabEvent[] = [];
  const add = (hook: GitlabHook, event: Omit<GitlabEvent, 'id' | 'hookId' | 'url' | 'urlHash'>) => {
    const requestData = redactAddresses(event.requestData);
    const requestHeaders = hook.token
      ? { ...event.requestHeaders, 'X-Gitlab-Token': redacted }
      : event.requestHeaders;
    const made: GitlabEvent = {
      ...{ ...event, id: events.length + 1, hookId: hook.id, url: hook.url, urlHash: hashUrl(hook.url) },
      ...{ requestData, requestHeaders },
    };
    events.push(made);
    return made;
  };
  const noResponse = { responseHeaders: {}, responseBody: '' };
  return {
    events,
    shown: hook => {
      const from = Math.floor(now() / dayMs) * dayMs - keptDays * dayMs;
      return events.filter(({ hookId, createdAtMs }) => hookId === hook.id && createdAtMs >= from).reverse();
    },
    record: (hook, event, requestData, createdAtMs, responseStatus) => {
      const requestHeaders = composeHeaders(hook, event, instance, randomUUID());
      const given = { requestHeaders, requestData, createdAtMs, responseStatus, durationSeconds: 0 };
      return add(hook, { ...given, ...noResponse, trigger: triggerOf(event) });
    },
    deliver: async (hook, event, requestData, idempotencyKey = randomUUID()) => {
      const requestHeaders = composeHeaders(hook, event, instance, idempotencyKey);
      const createdAtMs = now();
      const outcome = await postToHook(hook.url, requestHeaders, JSON.stringify(requestData), timeoutMs);
      const given = { trigger: triggerOf(event), requestHeaders, requestData, createdAtMs };
      const { durationSeconds, status } = outcome;
      if (status === undefined) {
        add(hook, { ...given, ...noResponse, durationSeconds, responseStatus: noAnswer });
        countGitlabOutcome(hook, false, now());
        return { status, message: outcome.message };
      }
      const { headers: responseHeaders, body: responseBody } = outcome;
      add(hook, { ...given, responseHeaders, responseBody, durationSeconds, responseStatus: String(status) });
      // A redirect, which GitLab does not follow, is a success too.
      countGitlabOutcome(hook, status >= 200 && status < 400, now());
      return { status, body: responseBody };
    },
  };
}

/** An event as reads show it. Before `created_at` was added, nothing told when it was. */
export function showGitlabEvent(event: GitlabEvent, hasTimes: boolean): object {
  return {
    ...{ id: event.id, url: event.url, trigger: event.trigger, request_headers: event.requestHeaders },
    ...{ request_data: event.requestData, response_headers: event.responseHeaders },
    ...{ response_body: event.responseBody, execution_duration: event.durationSeconds },
    response_status: event.responseStatus,
    ...(hasTimes ? { created_at: new Date(event.createdAtMs).toISOString() } : {}),
  };
}

/** Compares with codes and categories (app/finders/web_hooks/web_hook_logs_finder.rb, 2026-11). */
export function hasGitlabStatus({ responseStatus }: GitlabEvent, asked: string | null): boolean {
  if (asked === null) return true;
  return asked.split(',').some(status => {
    const category = { successful: '2', client_failure: '4', server_failure: '5' }[status];
    if (category === undefined) return status === responseStatus;
    return responseStatus.startsWith(category) || (category === '5' && responseStatus === noAnswer);
  });
}

/** Tells whether the hook still has the URL that the event was sent to. */
export function isUrlCurrent({ urlHash }: GitlabEvent, hook: GitlabHook): boolean {
  return hashUrl(hook.url) === urlHash;
}

/** The event of a trigger: `push_events` of `push_hooks`. */
export function eventOfTrigger(trigger: string): string {
  const known = Object.entries(triggers).find(([, name]) => name === trigger);
  return known?.[0] ?? trigger.replace(/_hooks$/, '_events');
}

function triggerOf(event: string): string {
  return triggers[event] ?? event.replace(/_events$/, '_hooks');
}

/** Only the idempotency key is the same when an event is sent again: both UUIDs are new with each request. */
function composeHeaders(
  { token }: GitlabHook,
  event: string,
  instance: string,
  idempotencyKey: string,
): Readonly<Record<string, string>> {
  const words = triggerOf(event).replace(/s$/, '').split('_');
  return {
    ...{
      'Content-Type': 'application/json',
      'User-Agent': 'GitLab/19.2.0',
      'Idempotency-Key': idempotencyKey,
    },
    'X-Gitlab-Event': words.map(word => `${word[0]?.toUpperCase()}${word.slice(1)}`).join(' '),
    ...{ 'X-Gitlab-Webhook-UUID': randomUUID(), 'X-Gitlab-Instance': instance },
    'X-Gitlab-Event-UUID': randomUUID(),
    ...(token ? { 'X-Gitlab-Token': token } : {}),
  };
}

/** The log has no email addresses, so what is sent again has none either (`redact_user_emails`). */
function redactAddresses(value: unknown): unknown {
  if (typeof value === 'string') return /^[^\s@]+@[^\s@]+$/.test(value) ? redacted : value;
  if (Array.isArray(value)) return value.map(redactAddresses);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, redactAddresses(part)]));
}

function hashUrl(url: string): string {
  return createHash('sha256').update(url).digest('hex');
}
