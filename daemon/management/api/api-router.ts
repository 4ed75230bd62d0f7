import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import Router from '@koa/router';
import type { Context } from 'koa';
import type { Logger } from 'pino';
import { type ChangeToRecord, nameActor } from '../../../operations/access/audit.ts';
import { callHandler } from '../../../operations/handlers/call-handler.ts';
import type { Download, OperationDeps } from '../../../operations/handlers/handler.ts';
import { checkQuery } from '../../../schema/api/call.ts';
import { ApiProblem } from '../../../schema/api/problems.ts';
import { type ApiRoute, apiPrefix } from '../../../schema/api/route.ts';
import { apiRoutes, type CallableId, type OperationId } from '../../../schema/api/routes.ts';
import { findPermission } from '../../../schema/grant.ts';
import { namePattern } from '../../../schema/names.ts';
import type { UnverifiedBodies } from '../../http/bodies.ts';
import { type Caller, type Credentials, requirePermission, requireSameSite } from '../guards/caller.ts';
import type { RequestRate } from '../guards/request-rate.ts';
import type { SessionCookie } from '../guards/sessions.ts';
import type { RequestState } from './answer-problem.ts';
import type { ApiDeps, PortHandlers, PortId } from './handler.ts';
import { parseBody, readIfMatch, readRequestBody } from './read-request.ts';
import { type ThreadRequest, toBuffer } from './thread-request.ts';

export interface ApiRouterDeps
  extends Pick<
    ApiDeps,
    | 'store'
    | 'deliveryLog'
    | 'answerInThread'
    | 'served'
    | 'baseUrl'
    | 'listensAt'
    | 'nowMs'
    | 'readClientAddress'
  > {
  readonly handlers: PortHandlers;
  /** Identifies a caller, or counts a request of an address that names no valid one: see `identifyCaller`. */
  readonly identify: (credentials: Credentials, request: IncomingMessage) => Promise<Caller>;
  readonly cookie: SessionCookie;
  readonly rate: RequestRate;
  /** The memory of all bodies that are being read. A token may send as slowly as a stranger. */
  readonly bodies: UnverifiedBodies;
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
interface Call<Id extends OperationId = OperationId> {
  readonly id: Id;
  readonly route: ApiRoute;
  readonly context: Context;
}

async function serve(call: Call, deps: ApiRouterDeps): Promise<void> {
  const { id, route, context } = call;
  context.state = { operation: id } satisfies RequestState;
  const { factory } = context.params as Readonly<Record<string, string>>;
  const known = await requireCaller(call, factory, deps);
  if (factory !== undefined && !namePattern.test(factory)) throw new ApiProblem('not-found');
  const query = checkQuery(Object.fromEntries(context.URL.searchParams), route);
  const ifSerial = route.etag ? readIfMatch(context.req) : undefined;
  const enter = () => deps.bodies.enter(known.caller?.sha256 ?? deps.readClientAddress(context.req));
  const body = await readRequestBody(context, route, enter);
  await answer(call, { params: context.params, query, ifSerial, body, ...known }, deps);
  if (route.method === 'get' || !known.caller) return;
  const { kind, name, subject } = known.caller;
  const who = { [kind]: name, subject };
  deps.log.info({ operation: id, ...who, ...context.params, status: context.status }, 'management');
}

/** A request whose caller and query were checked. */
type CheckedCall = Pick<ThreadRequest, 'params' | 'query' | 'body' | 'ifSerial' | 'permission'> & {
  readonly caller: Caller | undefined;
};

/** Answers where the route says. */
async function answer(call: Call, request: CheckedCall, deps: ApiRouterDeps): Promise<void> {
  const { id, route, context } = call;
  const { caller, ...parts } = request;
  const { grants, expiresAt } = caller ?? { grants: [], expiresAt: null };
  if (isCallable(call) && route.thread !== 'main') {
    const change = describeChange(call, caller, deps);
    return serveInThread(call, { ...parts, grants, expiresAt, change }, caller?.sha256 ?? 'public', deps);
  }
  const body = parts.body && parseBody(toBuffer(parts.body), route);
  // The tables' types ensure that each handler takes the shapes that were checked here.
  if (isCallable(call)) {
    const checked = { ...parts, body, grants, expiresAt } as Parameters<typeof callHandler>[2];
    const reply = await callHandler(call.id, createDeps(deps), checked);
    return sendDownload(context, reply.body as Download);
  }
  const handle = deps.handlers[id as PortId] as (request: unknown) => Promise<{ readonly body: unknown }>;
  const reply = await handle({ ...request, body, context });
  respond(route, context, reply.body);
}

function isCallable(call: Call): call is Call<CallableId> {
  return call.route.thread !== 'port';
}

/** The dependencies of a request that the main thread handles. It changes nothing. */
function createDeps({ store, deliveryLog, baseUrl, listensAt, nowMs }: ApiRouterDeps): OperationDeps {
  return {
    ...{ store, deliveryLog, randomBytes, problem: null, by: '' },
    ...{ baseUrl: baseUrl(), ownBaseUrl: baseUrl() },
    readState: store.appliedStates.read,
    now: () => new Date(nowMs()),
    waitOutside: wait => wait(),
    begin: async () => undefined,
    findIngress: async () => listensAt(),
    findDaemonProblem: async () => null,
  };
}

function sendDownload(context: Context, { content, size, mediaType, fileName }: Download): void {
  context.set('Content-Type', mediaType);
  if (fileName !== undefined) context.set('Content-Disposition', `attachment; filename="${fileName}"`);
  context.body = content;
  context.length = size;
}

/** Parses, handles and renders in the operations thread. A change is served before the request is answered. */
async function serveInThread(
  { id, route, context }: Call<CallableId>,
  request: Omit<ThreadRequest, 'id' | 'problem' | 'baseUrl' | 'listensAt' | 'nowMs'>,
  turn: string,
  { answerInThread, served, baseUrl, listensAt, nowMs }: ApiRouterDeps,
): Promise<void> {
  const { factory } = request.params;
  const problem = served.status().find(status => status.factory === factory)?.problem ?? null;
  const asked = { ...request, id, problem, baseUrl: baseUrl(), listensAt: listensAt(), nowMs: nowMs() };
  const answer = await answerInThread(asked, turn);
  if (!answer.ok) throw new ApiProblem(answer.code, answer.parts, { cause: answer.cause });
  if (route.etag && route.method !== 'get' && route.permission === 'manage') {
    await served.refresh(factory);
  }
  const { json, serial } = answer;
  if (serial !== undefined) context.set('ETag', `"${serial}"`);
  context.status = route.answer.status;
  if (json) {
    context.type = 'application/json';
    context.body = toBuffer(json);
  }
}

/**
 * Returns the caller and their permission, neither for public routes. Fails unless the caller may use the route now: each
 * caller has a rate, and so has each address that names no valid one. A valid caller never waits for an invalid one.
 */
async function requireCaller(
  { id, route: { permission }, context }: Call,
  factory: string | undefined,
  { identify, cookie, rate, readClientAddress }: ApiRouterDeps,
): Promise<Pick<CheckedCall, 'caller' | 'permission'>> {
  if (permission === 'public') {
    rate.count(readClientAddress(context.req));
    requireSameSite(context.req);
    return { caller: undefined, permission: undefined };
  }
  const { authorization } = context.headers;
  const caller = await identify({ authorization, session: cookie.read(context) }, context.req);
  context.state = { operation: id, caller } satisfies RequestState;
  rate.count(caller.sha256);
  if (caller.over === 'session') requireSameSite(context.req);
  const granted = requirePermission(caller, permission, factory);
  if (factory !== undefined && findPermission(caller.grants, null) === undefined) rate.countFactory(factory);
  return { caller, permission: granted };
}

function respond({ answer }: ApiRoute, context: Context, body: unknown): void {
  // A handler whose answer is not JSON has already written it.
  if (answer.mediaType) return;
  context.status = answer.status;
  if (body === undefined) return;
  context.type = 'application/json';
  context.body = JSON.stringify(body);
}

/** Describes who changes what, for the audit log; undefined if the operation changes nothing of a factory. */
function describeChange(
  { id, route: { method, permission }, context }: Call,
  caller: Caller | undefined,
  { readClientAddress }: ApiRouterDeps,
): ChangeToRecord | undefined {
  if (method === 'get' || permission !== 'manage' || !caller) return undefined;
  const { factory = null, ...params } = context.params as Readonly<Record<string, string>>;
  const who = { kind: caller.kind, name: nameActor(caller) };
  const subject = Object.values(params).join(' ');
  return { who, operation: id, factory, subject, from: readClientAddress(context.req) };
}
