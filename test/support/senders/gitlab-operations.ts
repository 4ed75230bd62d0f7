import type { DescribedOperation } from './api-description.ts';
import {
  changeGitlabHook,
  type GitlabHook,
  type GitlabHookBody,
  type GitlabOwner,
  gitlabAlertStatus,
  makeGitlabHook,
  showGitlabHook,
} from './gitlab-hooks.ts';
import {
  eventOfTrigger,
  type GitlabLog,
  hasGitlabStatus,
  isUrlCurrent,
  showGitlabEvent,
} from './gitlab-log.ts';
import type { ApiAnswer, ApiRequest, SenderServer } from './sender-server.ts';

export interface GitlabState {
  readonly server: SenderServer;
  readonly isOlder: boolean;
  readonly hasSigningTokens: boolean;
  readonly owners: readonly GitlabOwner[];
  readonly hooks: GitlabHook[];
  readonly log: GitlabLog;
  /** When each user made the requests that have a limit of their own. */
  readonly limited: Map<string, readonly number[]>;
}

/** A request that was let in. */
export interface GitlabCall extends GitlabState {
  readonly owner: GitlabOwner;
  readonly user: string;
  readonly request: ApiRequest;
  readonly operation: DescribedOperation;
  readonly body: GitlabHookBody;
}

type Operation<T extends readonly unknown[]> = (
  call: GitlabCall,
  ...rest: T
) => ApiAnswer | Promise<ApiAnswer>;

// lib/gitlab/application_rate_limiter.rb (2026-11): `web_hook_event_resend` and `web_hook_test`.
const limitedPerMinute = 5;
const minuteMs = 60_000;
/** Above it, GitLab does not count ("Pagination" in doc/api/rest/_index.md, 2026-11). */
const countedMax = 10_000;
const notFound: ApiAnswer = { status: 404, body: { message: '404 Not found' } };

/** Does what a request asks for. */
export function operateGitlab(call: GitlabCall): ApiAnswer | Promise<ApiAnswer> {
  const operation = operations[call.operation.id.replace(/-(project|group)$/, '')];
  if (!operation) throw new Error(`The double does not have ${call.operation.id}`);
  return operation(call);
}

export function newGitlabHookId({ hooks }: GitlabState): number {
  return (hooks.at(-1)?.id ?? 0) + 1;
}

function showHook({ server, hasSigningTokens }: GitlabState, hook: GitlabHook): object {
  return showGitlabHook(hook, server.clock.now(), hasSigningTokens);
}

/** The body without what this version ignores, as it ignores every attribute that it does not know. */
function bodyOf({ body, hasSigningTokens }: GitlabCall): GitlabHookBody {
  const { signing_token: _, ...known } = body;
  return hasSigningTokens ? body : known;
}

/** The operations, by their IDs without `-project` or `-group`. */
const operations: Readonly<Record<string, Operation<[]>>> = {
  'list-hooks': call => {
    const all = call.hooks.filter(({ owner }) => owner === call.owner);
    return takePage(call, all, hook => showHook(call, hook));
  },
  'add-hook': call => {
    if (!URL.canParse(String(call.body.url))) return invalidUrl;
    const hook = makeGitlabHook(call.owner, newGitlabHookId(call), bodyOf(call), call.server.clock.now());
    call.hooks.push(hook);
    return { status: 201, body: showHook(call, hook) };
  },
  'get-hook': ofHook((call, hook) => ({ status: 200, body: showHook(call, hook) })),
  'edit-hook': ofHook((call, hook) => {
    if (!URL.canParse(String(call.body.url))) return invalidUrl;
    changeGitlabHook(hook, bodyOf(call));
    return { status: 200, body: showHook(call, hook) };
  }),
  'delete-hook': ofHook(({ hooks }, hook) => {
    hooks.splice(hooks.indexOf(hook), 1);
    return { status: 204 };
  }),
  'list-events': ofHook((call, hook) => {
    const { isOlder, log, request } = call;
    const status = request.query.get('status');
    const isStatus = (text: string) => /^(\d{3}|successful|client_failure|server_failure)$/.test(text);
    if (status !== null && !status.split(',').every(isStatus)) {
      call.server.violations.push(`${request.path}: status is ${status}`);
      return { status: 400, body: { error: 'status does not have a valid value' } };
    }
    const events = log.shown(hook).filter(event => hasGitlabStatus(event, status));
    return takePage(call, events, event => showGitlabEvent(event, !isOlder));
  }),
  'resend-event': ofHook(resend),
  'test-hook': ofHook(async (call, hook) => {
    const refused = countLimited(call, 'test');
    if (refused) return refused;
    // It is sent although the hook may be disabled, and its success enables it again (app/services/test_hooks/).
    const outcome = await call.log.deliver(hook, call.operation.parameters.trigger ?? '', {
      object_kind: 'test',
    });
    if (outcome.status === undefined) return unprocessable(outcome.message);
    const isSuccess = outcome.status >= 200 && outcome.status < 300;
    return isSuccess ? { status: 201, body: { message: '201 Created' } } : unprocessable(outcome.body);
  }),
};

/** Sends an event again, and waits for the answer, which may be any (lib/api/hooks/resend_hook.rb, 2026-11). */
async function resend(call: GitlabCall, hook: GitlabHook): Promise<ApiAnswer> {
  const refused = countLimited(call, 'resend');
  if (refused) return refused;
  const id = call.operation.parameters.hook_log_id;
  const event = call.log.shown(hook).find(known => String(known.id) === id);
  if (!event) return notFound;
  if (!isUrlCurrent(event, hook))
    return unprocessable('The hook URL has changed, and this log entry cannot be retried');
  if (gitlabAlertStatus(hook, call.server.clock.now()) !== 'executable')
    return unprocessable('Hook disabled');
  const { trigger, requestData, requestHeaders } = event;
  const key = requestHeaders['Idempotency-Key'];
  const outcome = await call.log.deliver(hook, eventOfTrigger(trigger), requestData, key);
  if (outcome.status === undefined) return unprocessable(outcome.message);
  return { status: 201, body: { response_status: outcome.status } };
}

const invalidUrl: ApiAnswer = { status: 422, body: { error: 'Invalid url given' } };

function unprocessable(message: string): ApiAnswer {
  return { status: 422, body: { message } };
}

export function tooManyRequests(message: string, seconds: number): ApiAnswer {
  return { status: 429, headers: { 'retry-after': String(seconds) }, body: { message } };
}

/**
 * Limits the requests of one user for one project or group, however many hooks it has. `Retry-After` is the whole
 * interval (gitlab-org/gitlab!206603); before, there was none (gitlab-org/gitlab#199738).
 */
function countLimited(
  { limited, user, owner, server, isOlder }: GitlabCall,
  what: string,
): ApiAnswer | undefined {
  const key = `${what} ${user} ${owner.kind} ${owner.id}`;
  const nowMs = server.clock.now();
  const recent = (limited.get(key) ?? []).filter(timeMs => timeMs > nowMs - minuteMs);
  limited.set(key, [...recent, nowMs]);
  if (recent.length < limitedPerMinute) return undefined;
  const error = 'This endpoint has been requested too many times. Try again later.';
  return isOlder ? { status: 429, body: { message: { error } } } : tooManyRequests(error, minuteMs / 1000);
}

function ofHook(work: Operation<[GitlabHook]>): Operation<[]> {
  return call => {
    const id = call.operation.parameters.hook_id;
    const hook = call.hooks.find(known => known.owner === call.owner && String(known.id) === id);
    return hook ? work(call, hook) : notFound;
  };
}

/** A page by its number: what is added meanwhile moves the pages (doc/api/rest/_index.md, "Pagination", 2026-11). */
function takePage<T>(call: GitlabCall, all: readonly T[], show: (item: T) => object): ApiAnswer {
  const { query, path } = call.request;
  const count = Number(query.get('per_page') ?? 20);
  const page = Number(query.get('page') ?? 1);
  const last = Math.max(1, Math.ceil(all.length / count));
  const link = (number: number, rel: string) => {
    const changed = new URLSearchParams({
      ...Object.fromEntries(query),
      page: String(number),
      per_page: String(count),
    });
    return `<${call.server.origin}${path}?${changed}>; rel="${rel}"`;
  };
  const isCounted = all.length <= countedMax;
  const links = [
    ...(page > 1 ? [link(page - 1, 'prev')] : []),
    ...(page < last ? [link(page + 1, 'next')] : []),
    ...[link(1, 'first'), ...(isCounted ? [link(last, 'last')] : [])],
  ];
  const headers = {
    ...{ link: links.join(', '), 'x-page': String(page), 'x-per-page': String(count) },
    'x-next-page': page < last ? String(page + 1) : '',
    'x-prev-page': page > 1 ? String(page - 1) : '',
    ...(isCounted ? { 'x-total': String(all.length), 'x-total-pages': String(last) } : {}),
  };
  return { status: 200, headers, body: all.slice((page - 1) * count, page * count).map(show) };
}
