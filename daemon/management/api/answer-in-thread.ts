import { randomBytes } from 'node:crypto';
import type { QueueableRuns } from '../../../operations/factory.ts';
import { apiRoutes } from '../../../schema/api/routes.ts';
import type { Store } from '../../../store/ports.ts';
import { toProblem } from './answer-problem.ts';
import { createDefinitionHandlers } from './definition-handlers.ts';
import { createFactoryHandlers } from './factory-handlers.ts';
import type { ApiReply, ThreadHandlers, ThreadOperationId } from './handler.ts';
import { createJudgingHandlers } from './judging-handlers.ts';
import { createListHandlers } from './list-handlers.ts';
import type { OperationDeps } from './operation-deps.ts';
import { parseBody } from './read-request.ts';
import type { StateCache } from './state-cache.ts';
import { type ThreadAnswer, type ThreadRequest, toBuffer } from './thread-request.ts';

export interface AnswererOptions {
  readonly store: Store;
  readonly deliveryLog: QueueableRuns;
  readonly states: StateCache;
  /** Set to the time of each request. */
  readonly clock: { atMs: number };
}

/** Creates what answers requests in the operations thread. Requests come one at a time. */
export function createAnswerer(options: AnswererOptions): (request: ThreadRequest) => Promise<ThreadAnswer> {
  const { store, deliveryLog, states, clock } = options;
  let current: Pick<ThreadRequest, 'baseUrl' | 'problem'> = { baseUrl: '', problem: null };
  const deps: OperationDeps = {
    ...{ store, deliveryLog, randomBytes },
    readState: states.readServed,
    nowMs: () => clock.atMs,
    baseUrl: () => current.baseUrl,
    problem: () => current.problem,
  };
  const handlers: ThreadHandlers = {
    ...createFactoryHandlers(deps),
    ...createDefinitionHandlers(deps),
    ...createJudgingHandlers(deps),
    ...createListHandlers(deps),
  };
  return async request => {
    const { id, params, query, ifSerial, caller, permission, atMs } = request;
    current = request;
    clock.atMs = atMs;
    try {
      const body = request.body && parseBody(toBuffer(request.body), apiRoutes[id]);
      // The table's types ensure that each handler takes the shapes that were checked.
      const handler = handlers[id as ThreadOperationId] as (request: unknown) => Promise<ApiReply<unknown>>;
      const reply = await handler({ params, query, body, ifSerial, caller, permission });
      const json = reply.body === undefined ? undefined : Buffer.from(JSON.stringify(reply.body));
      return { ok: true, json, serial: reply.serial, changed: reply.changed };
    } catch (error) {
      const { code, parts, cause } = toProblem(error);
      return { ok: false, code, parts, cause };
    }
  };
}
