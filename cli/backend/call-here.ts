import { buffer } from 'node:stream/consumers';
import { type Changeable, recordWrites } from '../../operations/access/record-writes.ts';
import { makeRunVerbs, type OpenFactory } from '../../operations/factory.ts';
import { callHandler } from '../../operations/handlers/call-handler.ts';
import type { Download, OperationDeps } from '../../operations/handlers/handler.ts';
import { type CallOperation, type CallParts, checkBody, checkQuery } from '../../schema/api/call.ts';
import type { ApiRoute } from '../../schema/api/route.ts';
import { apiRoutes } from '../../schema/api/routes.ts';
import { findOwnActor } from '../record-own-change.ts';
import { requireHome } from '../require-home.ts';

/** Calls operations on an open store. Whoever can open it may see and do everything, and is in its audit log. */
export function createCallHere(
  { name: factory, store, now, randomBytes, useDeliveryLog }: OpenFactory,
  given: Pick<OperationDeps, 'baseUrl' | 'ownBaseUrl' | 'findDaemonProblem' | 'findIngress'>,
): CallOperation {
  const readState = store.appliedStates.read;
  const deliveryLog = makeRunVerbs(verb => argument => useDeliveryLog<unknown>(log => log[verb](argument)));
  const deps: OperationDeps = {
    ...{ store, deliveryLog, now, randomBytes, readState, problem: null, by: '' },
    ...{ begin: async () => undefined, waitOutside: wait => wait() },
    ...given,
  };
  const call = async (
    id: Parameters<CallOperation>[0],
    { params, query = {}, body, ifSerial }: CallParts<'apply'> = {},
  ) => {
    const route: ApiRoute = apiRoutes[id];
    const named: Readonly<Record<string, string>> = { ...params };
    const request = {
      params: { factory, ...named },
      query: checkQuery(leaveOutUndefined(query), route),
      body: checkBody(body && leaveOutUndefined(body), route),
      ...{ ifSerial, permission: 'manage', grants: [{ factory: null, permission: 'manage' }] },
      expiresAt: null,
    } as unknown as Parameters<typeof callHandler>[2];
    const answer = (parts: Changeable) => callHandler(id, { ...deps, ...parts }, request);
    if (route.method === 'get' || route.permission !== 'manage')
      return toAnswer(route, (await answer(deps)).body);
    // The first API token may be what a new home begins with.
    if (id !== 'createToken') requireHome(store.place);
    const change = { ...findOwnActor(id), factory, subject: Object.values(named).join(' ') };
    return (await recordWrites(deps, change, answer, ({ changed = change.subject }) => changed)).body;
  };
  // The types of `callHandler` ensure that the answer has the shape of the route.
  return call as CallOperation;
}

/** Leaves out the keys that a request over HTTP would not have. */
function leaveOutUndefined(parts: object): object {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
}

/** Returns the bytes of an answer that is not JSON with a shape. */
async function toAnswer({ answer, thread }: ApiRoute, body: unknown): Promise<unknown> {
  if (answer.shape) return body;
  if (thread !== 'main') return Buffer.from(JSON.stringify(body));
  const { content } = body as Download;
  return content instanceof Uint8Array ? content : buffer(content);
}
