import type { z } from 'zod';
import { parseJsonText } from '../json/parse-json-text.ts';
import { sessionKeyHeader, unattendedHeader } from '../schema/api/conventions.ts';
import type { ApiPathParameter, RouteAnswer } from '../schema/api/route.ts';
import type { ApiRoutes, OperationId } from '../schema/api/routes.ts';
import { ApiFailure, type ProblemDetails } from './api-answers.ts';
import { noticeAnswer, noticeSilence, problemMediaType } from './state/connection.ts';
import { isUnattended, readSessionKey } from './state/session-expiry.ts';

type Route = ApiRoutes[OperationId];
type Method = Route['method'];
/** The one route with this method and path. */
type RouteAt<M extends Method, P extends string> = Extract<Route, { method: M; path: P }>;
type PathWith<M extends Method> = Extract<Route, { method: M }>['path'];

type BodyArgument<R> = R extends { body: infer Shape extends z.ZodType } ? { body: z.input<Shape> } : object;
type QueryArgument<R> = R extends { query: infer Shape extends z.ZodType }
  ? { query?: z.input<Shape> }
  : object;

interface Settings {
  readonly signal?: AbortSignal | undefined;
  /** Makes the API refuse the change if the applied state no longer has this serial. */
  readonly ifSerial?: number | undefined;
}

type Given<M extends Method, P extends string> = Readonly<Record<ApiPathParameter<P>, string>> &
  BodyArgument<RouteAt<M, P>> &
  QueryArgument<RouteAt<M, P>> &
  Settings;

/** The path, the parameters and the answer of a route that only reads. */
export type ReadPath = PathWith<'get'> & string;
export type ReadGiven<P extends ReadPath> = Given<'get', P>;
export type ReadResult<P extends ReadPath> = RouteAnswer<RouteAt<'get', P>>;

/** Calls a route of the management API. Fails with an ApiFailure, or an AbortError. */
export async function callApi<M extends Method, P extends PathWith<M> & string>(
  method: M,
  path: P,
  given: Given<M, P>,
): Promise<RouteAnswer<RouteAt<M, P>>> {
  return (await call(method, path, given)) as RouteAnswer<RouteAt<M, P>>;
}

/** Calls a route that only reads, for code that has a path of any such route. Fails as `callApi` does. */
export function readApi(path: string, given: object): Promise<unknown> {
  return call('get', path, given);
}

async function call(method: Method, path: string, given: object): Promise<unknown> {
  const { signal, ifSerial, body, ...rest } = given as Settings & { body?: unknown };
  const headers = new Headers();
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  if (ifSerial !== undefined) headers.set('If-Match', `"${ifSerial}"`);
  const response = await requestApi(buildApiUrl(path, rest), {
    method: method.toUpperCase(),
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  return readBody(response);
}

/** Requests a URL of the API in this session. Fails with an ApiFailure, or an AbortError. */
export async function requestApi(url: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const key = readSessionKey();
  if (key !== null) headers.set(sessionKeyHeader, key);
  if (isUnattended()) headers.set(unattendedHeader, '1');
  const response = await send(url, { ...init, headers });
  if (!response.ok) throw await readFailure(response);
  return response;
}

/** Saves what the API answers in a file. A link could not send the key of the session. */
export async function download(url: string, fileName: string): Promise<void> {
  const response = await requestApi(url);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}

/** Fills in the parameters of an API path and adds the query. */
export function buildApiUrl(path: string, given: object): string {
  const { query = {}, ...parameters } = given as { query?: object } & Record<string, unknown>;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(parameters[name])),
  );
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
  return `/api/v1${filled}${search.size > 0 ? `?${search}` : ''}`;
}

async function send(url: string, init: RequestInit): Promise<Response> {
  let cause: unknown;
  try {
    const response = await fetch(url, { credentials: 'same-origin', cache: 'no-store', ...init });
    if (noticeAnswer(response)) return response;
  } catch (error) {
    if (init.signal?.aborted) throw error;
    cause = error;
    noticeSilence();
  }
  throw new ApiFailure('The daemon does not answer', undefined, { cause, isAway: true });
}

async function readBody(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  const json = response.headers.get('content-type')?.startsWith('application/json');
  const text = await response.text();
  return json ? parseJsonText(text) : text;
}

async function readFailure(response: Response): Promise<ApiFailure> {
  if (!response.headers.get('content-type')?.startsWith(problemMediaType)) {
    return new ApiFailure(`Unexpected answer: HTTP ${response.status}. Check the daemon's log.`);
  }
  const problem = parseJsonText(await response.text()) as ProblemDetails;
  return new ApiFailure(problem.detail ?? problem.title, problem);
}
