import { randomBytes } from 'node:crypto';
import type { QueueableRuns } from '../../../operations/factory.ts';
import { callHandler } from '../../../operations/handlers/call-handler.ts';
import type { OperationDeps } from '../../../operations/handlers/handler.ts';
import { apiRoutes } from '../../../schema/api/routes.ts';
import type { Store } from '../../../store/ports.ts';
import { toProblem } from './answer-problem.ts';
import { parseBody } from './read-request.ts';
import type { StateCache } from './state-cache.ts';
import { type ThreadAnswer, type ThreadRequest, toBuffer } from './thread-request.ts';

export interface AnswererOptions {
  readonly store: Store;
  readonly deliveryLog: QueueableRuns;
  readonly states: StateCache;
}

/** Creates what answers requests in a thread: each with dependencies of its own, in its own time. */
export function createAnswerer(options: AnswererOptions): (request: ThreadRequest) => Promise<ThreadAnswer> {
  return async request => {
    const { id, params, query, ifSerial, grants, permission } = request;
    try {
      const body = request.body && parseBody(toBuffer(request.body), apiRoutes[id]);
      // The body and, before, the query were checked against the shapes of the route.
      const checked = { params, query, body, ifSerial, grants, permission } as Parameters<
        typeof callHandler
      >[2];
      const reply = await callHandler(id, createDeps(options, request), checked);
      const json = reply.body === undefined ? undefined : Buffer.from(JSON.stringify(reply.body));
      return { ok: true, json, serial: reply.serial, changed: reply.changed };
    } catch (error) {
      const { code, parts, cause } = toProblem(error);
      return { ok: false, code, parts, cause };
    }
  };
}

function createDeps(
  { store, deliveryLog, states }: AnswererOptions,
  { baseUrl, problem, atMs }: ThreadRequest,
): OperationDeps {
  return {
    ...{ store, baseUrl, problem, randomBytes },
    readState: states.readServed,
    now: () => new Date(atMs),
    useDeliveryLog: work => work(deliveryLog),
    findDaemonProblem: async () =>
      problem && {
        message: `it serves an older applied state: ${problem.message}`,
        remedy: 'Read the log of the daemon.',
      },
  };
}
