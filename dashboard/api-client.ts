import type { z } from 'zod';
import type { problemAnswer } from '../schema/api/answers.ts';
import type { ApiProblemCode } from '../schema/api/problems.ts';
import type { ApiAnswer, ApiPathParameter } from '../schema/api/route.ts';
import type { ApiRoutes, OperationId } from '../schema/api/routes.ts';

type Route = ApiRoutes[OperationId];
type Method = Route['method'];
/** The routes with this method and path: one. */
type RouteAt<M extends Method, P extends string> = Extract<Route, { method: M; path: P }>;
type PathOf<M extends Method> = Extract<Route, { method: M }>['path'];

type BodyOf<R> = R extends { body: infer Shape extends z.ZodType } ? { body: z.input<Shape> } : object;
type QueryOf<R> = R extends { query: infer Shape extends z.ZodType } ? { query?: z.input<Shape> } : object;
type AnswerOf<R> = ApiAnswer<R, R extends { answer: { mediaType: string } } ? string : undefined>;

interface Settings {
  readonly signal?: AbortSignal | undefined;
  /** Serial of the applied state that the change was made on; without it, the change is made on any. */
  readonly ifSerial?: number | undefined;
}

type Given<M extends Method, P extends string> = Readonly<Record<ApiPathParameter<P>, string>> &
  BodyOf<RouteAt<M, P>> &
  QueryOf<RouteAt<M, P>> &
  Settings;

export type Problem = z.output<typeof problemAnswer>;

/** The management API refused, or could not be reached: then there is no problem to show. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  readonly problem: Problem | undefined;

  constructor(message: string, problem?: Problem, options?: ErrorOptions) {
    super(message, options);
    this.problem = problem;
  }

  get code(): ApiProblemCode | undefined {
    return this.problem?.code as ApiProblemCode | undefined;
  }
}

/** Calls the management API by a route of its table. Fails with an ApiFailure, or an AbortError. */
export async function callApi<M extends Method, P extends PathOf<M> & string>(
  method: M,
  path: P,
  given: Given<M, P>,
): Promise<AnswerOf<RouteAt<M, P>>> {
  const { signal, ifSerial, body, ...rest } = given as Settings & { body?: unknown };
  const headers = new Headers();
  if (method !== 'get') headers.set('X-Hookmill-Request', '1');
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  if (ifSerial !== undefined) headers.set('If-Match', `"${ifSerial}"`);
  const response = await reach(apiUrl(path, rest), {
    method: method.toUpperCase(),
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  if (!response.ok) throw await failureOf(response);
  return (await answerOf(response)) as AnswerOf<RouteAt<M, P>>;
}

/** The address of a path of the API, its parameters put in. */
export function apiUrl(path: string, given: object): string {
  const { query = {}, ...parameters } = given as { query?: object } & Record<string, unknown>;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(parameters[name])),
  );
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
  return `/api/v1${filled}${search.size > 0 ? `?${search}` : ''}`;
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { credentials: 'same-origin', cache: 'no-store', ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiFailure('The daemon does not answer. Is it running?', undefined, { cause: error });
  }
}

async function answerOf(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  const json = response.headers.get('content-type')?.startsWith('application/json');
  return json ? response.json() : response.text();
}

async function failureOf(response: Response): Promise<ApiFailure> {
  if (!response.headers.get('content-type')?.startsWith('application/problem+json')) {
    return new ApiFailure(`The answer was ${response.status}, which says nothing more.`);
  }
  const problem = (await response.json()) as Problem;
  return new ApiFailure(problem.detail ?? problem.title, problem);
}
