import Router from '@koa/router';
import type { Context } from 'koa';
import type { Logger } from 'pino';
import { nameActor, recordChange } from '../../../operations/audit.ts';
import { ApiProblem } from '../../../schema/api/problems.ts';
import { type ApiRoute, apiPrefix } from '../../../schema/api/route.ts';
import { apiRoutes, type OperationId } from '../../../schema/api/routes.ts';
import { namePattern } from '../../../schema/name.ts';
import {
  type Caller,
  identifyCaller,
  type KnownCallers,
  requirePermission,
  requireSameSite,
} from '../guards/caller.ts';
import type { SessionCookie } from '../guards/session-cookie.ts';
import type { ApiDeps } from './api-deps.ts';
import type { ApiReply, PortHandlers } from './handler.ts';
import { parseBody, readIfMatch, readQuery, readRequestBody } from './read-request.ts';
import { type ThreadRequest, toBuffer } from './thread-request.ts';

export interface ApiRouterDeps
  extends Pick<ApiDeps, 'store' | 'answerInThread' | 'served' | 'baseUrl' | 'nowMs' | 'readClientAddress'> {
  readonly handlers: PortHandlers;
  readonly callers: KnownCallers;
  readonly cookie: SessionCookie;
  readonly log: Logger;
}

/**
 * Creates the router of all API routes. Before each handler it identifies the caller, checks their permission and
 * validates the request.
 */
export function createApiRouter(deps: ApiRouterDeps): Router {
  const router = new Router({ prefix: apiPrefix, sensitive: true, strict: true });
  for (const [id, route] of Object.entries(apiRoutes) as [OperationId, ApiRoute][]) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    router.register(path, [route.method], context => serve({ id, route, context }, deps));
  }
  return router;
}

/** A request for an operation. */
interface Call {
  readonly id: OperationId;
  readonly route: ApiRoute;
  readonly context: Context;
}

async function serve(call: Call, deps: ApiRouterDeps): Promise<void> {
  const { id, route, context } = call;
  const { factory } = context.params as Readonly<Record<string, string>>;
  const known = await requireCaller(call, factory, deps);
  if (factory !== undefined && !namePattern.test(factory)) throw new ApiProblem('not-found');
  const query = readQuery(context.URL.searchParams, route);
  const ifSerial = route.etag ? readIfMatch(context.req) : undefined;
  const body = await readRequestBody(context, route);
  const request = { params: context.params, query, ifSerial, ...known };
  await recordWork(call, known.caller, deps, async () => {
    if (!(id in deps.handlers)) return serveInThread(call, { ...request, body }, deps);
    // The table's types ensure that each handler takes the shapes that were checked here.
    const handler = deps.handlers[id as keyof PortHandlers] as (
      request: unknown,
    ) => Promise<ApiReply<unknown>>;
    const reply = await handler({ ...request, body: body && parseBody(body, route), context });
    respond(route, context, reply.body);
    return reply.changed;
  });
}

/** Parses, handles and renders in the operations thread. A change is served before the request is answered. */
async function serveInThread(
  { id, route, context }: Call,
  request: Pick<ThreadRequest, 'params' | 'query' | 'body' | 'ifSerial' | 'caller' | 'permission'>,
  { answerInThread, served, baseUrl, nowMs }: ApiRouterDeps,
): Promise<ApiReply<unknown>['changed']> {
  const { factory } = request.params;
  const problem = served.status().find(status => status.factory === factory)?.problem ?? null;
  const turn = request.caller?.sha256 ?? 'public';
  const asked = { ...request, id, problem, baseUrl: baseUrl(), atMs: nowMs() };
  const answer = await answerInThread(asked, turn);
  if (!answer.ok) throw new ApiProblem(answer.code, answer.parts, { cause: answer.cause });
  if (route.etag && route.method !== 'get' && route.permission === 'manage') {
    await served.refresh(factory);
  }
  const { json, serial, changed } = answer;
  if (serial !== undefined) context.set('ETag', `"${serial}"`);
  context.status = route.answer.status;
  if (json) {
    context.type = 'application/json';
    context.body = toBuffer(json);
  }
  return changed;
}

/** Returns the caller and their permission, neither for public routes. Fails unless the caller may use the route. */
async function requireCaller(
  { route: { permission }, context }: Call,
  factory: string | undefined,
  { callers, cookie }: ApiRouterDeps,
): Promise<Pick<ThreadRequest, 'caller' | 'permission'>> {
  if (permission === 'public') {
    requireSameSite(context.req);
    return { caller: undefined, permission: undefined };
  }
  const { authorization } = context.headers;
  const caller = await identifyCaller({ authorization, session: cookie.read(context) }, callers);
  if (caller.over === 'session') requireSameSite(context.req);
  return { caller, permission: requirePermission(caller, permission, factory) };
}

function respond({ answer }: ApiRoute, context: Context, body: unknown): void {
  // A handler whose answer is not JSON has already written it.
  if (answer.mediaType) return;
  context.status = answer.status;
  if (body === undefined) return;
  context.type = 'application/json';
  context.body = JSON.stringify(body);
}

/** Does the work of a request. Logs who did what, and records changes in the audit log. */
async function recordWork(
  { id, route: { method, permission }, context }: Call,
  caller: Caller | undefined,
  { store, log, nowMs, readClientAddress }: ApiRouterDeps,
  work: () => Promise<ApiReply<unknown>['changed']>,
): Promise<void> {
  if (method === 'get' || !caller) {
    await work();
    return;
  }
  const { factory = null, ...params } = context.params as Readonly<Record<string, string>>;
  const { kind, name } = caller;
  if (permission === 'manage') {
    const subject = Object.values(params).join(' ');
    const who = { kind, name: nameActor(caller) };
    const change = { who, operation: id, factory, subject, from: readClientAddress(context.req) };
    const recorder = { store, now: () => new Date(nowMs()) };
    await recordChange(recorder, change, work, (changed = subject) => changed);
  } else await work();
  const who = { [kind]: name, subject: caller.subject };
  log.info({ operation: id, ...who, ...context.params, status: context.status }, 'management');
}
