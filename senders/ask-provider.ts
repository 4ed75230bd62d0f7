import type { IncomingHttpHeaders } from 'node:http';
import { parseJsonText } from '../json/parse-json-text.ts';
import { parseRetryAfterMs } from '../schema/retry-waits.ts';
import { printable } from '../schema/text/printable.ts';
import {
  type GuardedAnswer,
  type GuardedRequest,
  GuardedRequestError,
  requestGuarded,
} from './guarded-request.ts';
import { ProviderError } from './provider-client.ts';

/** @limit Wait after a rate limit for which a provider names no time, in ms: GitHub's documentation asks for a minute, and GitLab's limits are per minute. */
const unknownWaitMs = 60_000;
/** @limit Longest wait for the reset of a rate limit, in ms: GitHub's limits are per hour. */
const resetWaitMsMax = 3_600_000;
/** @limit Most characters of a provider's own message in an error: it may be a page of HTML. */
const quotedCharsMax = 300;
/** @limit Levels of an answer in which a provider's message is looked for: the known ones have three. */
const messageLevelsMax = 6;

export interface ProviderApi {
  readonly provider: 'GitHub' | 'GitLab';
  /** The URL of the API, without a slash at its end. */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Makes the token of a request, and the header that has it. */
  readonly makeToken: () => string;
  readonly authorize: (token: string) => Readonly<Record<string, string>>;
  readonly bounds: Pick<GuardedRequest, 'answerMs' | 'answerBytesMax'>;
  /** The rights that the credential needs, as the end of a sentence. */
  readonly neededRights: string;
  readonly isTrusted: boolean;
  readonly stopping: AbortSignal;
  readonly nowMs: () => number;
}

export interface ProviderQuestion {
  readonly method?: GuardedRequest['method'];
  /** Begins with a slash; its parts are escaped by `pathSegment`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** A secret in the body, which no error may show. */
  readonly secret?: string;
}

export interface ProviderAnswer {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type AskProvider = (question: ProviderQuestion) => Promise<ProviderAnswer>;

/**
 * Makes a function that sends one request to the API of a provider, and returns the answer if it is 2xx. Fails with
 * ProviderError, whose message names the method, the URL without its query, what the provider said, and the remedy.
 */
export function createAsk(api: ProviderApi): AskProvider {
  const { provider, baseUrl, bounds, isTrusted, stopping } = api;
  return async ({ method = 'GET', path, query = {}, json, secret }) => {
    const url = new URL(`${baseUrl}${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const body = json === undefined ? undefined : JSON.stringify(json);
    const token = api.makeToken();
    const headers = {
      ...{ ...api.headers, ...api.authorize(token) },
      'User-Agent': 'hookmill',
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    };
    const howToTrust = 'the operator can list it in senders.urls';
    const answer = await requestGuarded({
      ...{ method, url: url.href, headers, body, ...bounds, isTrusted, howToTrust, stopping },
    }).catch((error: unknown) => {
      throw toProviderError(provider, error);
    });
    if (answer.status >= 200 && answer.status < 300) return answer;
    const said = describeAnswer(answer.body, [token, secret]);
    throw judgeFailure(
      api,
      answer,
      `${provider} answered ${answer.status} to ${method} ${url.origin}${url.pathname}${said}.`,
    );
  };
}

/** Escapes a part of a path. Fails for one that would lead to another path. */
export function pathSegment(text: string): string {
  if (!/^\.{0,2}$/.test(text)) return encodeURIComponent(text);
  throw new ProviderError('refused', `${JSON.stringify(text)} is not a valid name or ID.`);
}

/** Reads an answer as JSON, and checks its shape. */
export function parseProviderAnswer<Shape>(
  provider: string,
  { body }: ProviderAnswer,
  shape: {
    safeParse(value: unknown): { readonly success: true; readonly data: Shape } | { readonly success: false };
  },
): Shape {
  const read = shape.safeParse(parseOrUndefined(body));
  if (read.success) return read.data;
  // The error of the parser would quote the answer.
  throw new ProviderError(
    'refused',
    `The answer is not one of ${provider}'s API. Check the url of the sender.`,
  );
}

function toProviderError(provider: string, error: unknown): unknown {
  if (!(error instanceof GuardedRequestError)) return error;
  const message = `${provider} cannot be asked: ${error.message}`;
  switch (error.code) {
    case 'redirected': {
      const remedy = 'If the repository, project or group was renamed or moved, use its current name.';
      return new ProviderError('refused', `${message}. ${remedy}`, { cause: error });
    }
    case 'not-allowed':
    case 'too-large':
      return new ProviderError('refused', message, { cause: error });
    case 'failed':
    case 'stopped':
    case 'timed-out':
      return new ProviderError('unreachable', message, { cause: error });
  }
}

function judgeFailure(
  { provider, neededRights, nowMs }: ProviderApi,
  { status, headers, body }: GuardedAnswer,
  what: string,
): ProviderError {
  const waitMs = findRateLimit({ status, headers, body }, nowMs());
  if (waitMs !== undefined) {
    const remedy = `The rate limit is reached. Try again in ${Math.ceil(waitMs / 1_000)} s.`;
    return new ProviderError('rate-limited', `${what} ${remedy}`, { retryAfterMs: waitMs });
  }
  if (status === 401)
    return new ProviderError('forbidden', `${what} The credential is wrong, expired or revoked.`);
  if (status === 403) return new ProviderError('forbidden', `${what} The credential needs ${neededRights}.`);
  if (status === 404) {
    const remedy = `Check the name. ${provider} also answers 404 if the credential lacks a right: it needs ${neededRights}.`;
    return new ProviderError('not-found', `${what} ${remedy}`);
  }
  if (status >= 500) return new ProviderError('unreachable', `${what} Try again later.`);
  return new ProviderError('refused', what);
}

/**
 * Returns the wait in ms if the answer says that a rate limit is reached. GitHub answers 403 or 429 for one, and names a
 * time with `Retry-After` or with `X-RateLimit-Reset`, in seconds since 1970, or only in its message
 * (docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api, 2026-11-27). GitLab answers 429
 * (docs.gitlab.com/administration/settings/rate-limit-on-webhook-operations, 2026-11-27).
 */
function findRateLimit({ status, headers, body }: GuardedAnswer, nowMs: number): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const askedMs = parseRetryAfterMs(headers['retry-after'], nowMs);
  if (askedMs !== undefined) return askedMs;
  const reset = headers['x-ratelimit-reset'];
  if (headers['x-ratelimit-remaining'] === '0' && typeof reset === 'string' && /^\d{1,11}$/.test(reset))
    return Math.min(Math.max(0, Number(reset) * 1_000 - nowMs), resetWaitMsMax);
  if (status === 429 || /secondary rate limit/i.test(body)) return unknownWaitMs;
  return undefined;
}

/** Quotes the message of the provider in parentheses, after a space. Empty if its answer has none. */
function describeAnswer(body: string, hidden: readonly (string | undefined)[]): string {
  const texts = [...new Set(listMessages(parseOrUndefined(body)))].join('; ');
  if (texts === '') return '';
  let shown = texts;
  for (const secret of hidden) if (secret) shown = shown.replaceAll(secret, '[hidden]');
  const isLong = shown.length > quotedCharsMax;
  return ` (${printable(isLong ? `${shown.slice(0, quotedCharsMax)}…` : shown)})`;
}

/**
 * Lists the texts of an error. GitHub has `message`, and `errors` with texts or with objects that have a `message` or a
 * `code` (docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api, 2026-11-27). GitLab has `message` or
 * `error`, each a text, or lists of texts by the attribute that they are about
 * (docs.gitlab.com/api/rest/troubleshooting, 2026-11-27).
 */
function listMessages(value: unknown, levels = messageLevelsMax): string[] {
  if (typeof value === 'string') return [value.trim()].filter(text => text !== '');
  if (typeof value !== 'object' || value === null || levels === 0) return [];
  if (Array.isArray(value)) return value.flatMap(item => listMessages(item, levels - 1));
  const { message, error, error_description, errors, code, field } = value as Readonly<
    Record<string, unknown>
  >;
  const known = [message, error, error_description, errors].flatMap(text => listMessages(text, levels - 1));
  if (known.length > 0) return known;
  if (typeof code === 'string') return [typeof field === 'string' ? `${field}: ${code}` : code];
  return Object.entries(value).flatMap(([about, said]) =>
    Array.isArray(said) ? listMessages(said, levels - 1).map(text => `${about}: ${text}`) : [],
  );
}

/** The parsed text, or undefined if it is not JSON. */
function parseOrUndefined(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch {
    return undefined;
  }
}
