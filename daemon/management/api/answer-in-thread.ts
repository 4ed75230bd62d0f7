import { randomBytes } from 'node:crypto';
import { type Changeable, recordWrites } from '../../../operations/access/record-writes.ts';
import { withSecretsRead } from '../../../operations/access/secrets.ts';
import { callHandler } from '../../../operations/handlers/call-handler.ts';
import type { OperationDeps } from '../../../operations/handlers/handler.ts';
import { apiRoutes } from '../../../schema/api/routes.ts';
import type { AppliedStates } from '../../../store/ports/store.ts';
import type { ReadOutside } from '../../../store/ports/team-secrets.ts';
import { toProblem } from './answer-problem.ts';
import { parseBody } from './read-request.ts';
import { type ThreadAnswer, type ThreadRequest, toBuffer } from './thread-request.ts';

export interface AnswererOptions extends Pick<Changeable, 'store' | 'deliveryLog'> {
  readonly readServedState: AppliedStates['read'];
}

/** Creates what answers requests in the operations thread, each with dependencies of its own. */
export function createAnswerer(
  options: AnswererOptions,
): (
  request: ThreadRequest,
  readOutside: ReadOutside,
  beforeChange: () => Promise<void>,
) => Promise<ThreadAnswer> {
  return async (request, readOutside, beforeChange) => {
    const { id, params, query, ifSerial, grants, expiresAt, permission, change } = request;
    const deps = createDeps(options, request, readOutside);
    try {
      const body = request.body && parseBody(toBuffer(request.body), apiRoutes[id]);
      // The body and, before, the query were checked against the shapes of the route.
      const checked = { params, query, body, ifSerial, grants, expiresAt, permission } as Parameters<
        typeof callHandler
      >[2];
      const call = (parts: Changeable) => callHandler(id, { ...deps, ...parts }, checked);
      const reply = change
        ? await recordWrites(
            withNoted(deps, beforeChange),
            change,
            call,
            ({ changed = change.subject }) => changed,
          )
        : await call(deps);
      const json = reply.body === undefined ? undefined : Buffer.from(JSON.stringify(reply.body));
      return { ok: true, json, serial: reply.serial };
    } catch (error) {
      const { code, parts, cause } = toProblem(error);
      return { ok: false, code, parts, cause };
    }
  };
}

/** Calls `beforeChange` before the entry of a change begins, and so before anything is changed. */
function withNoted<D extends Pick<OperationDeps, 'store'>>(deps: D, beforeChange: () => Promise<void>): D {
  const { auditLog } = deps.store;
  const begin: typeof auditLog.begin = async (...entry) => {
    await beforeChange();
    return auditLog.begin(...entry);
  };
  return { ...deps, store: { ...deps.store, auditLog: { ...auditLog, begin } } };
}

function createDeps(
  { store, deliveryLog, readServedState }: AnswererOptions,
  { permission, baseUrl, listensAt, problem, nowMs }: ThreadRequest,
  readOutside: ReadOutside,
): OperationDeps {
  return {
    ...{ deliveryLog, baseUrl, ownBaseUrl: baseUrl, problem, randomBytes, waitOutside: readOutside, by: '' },
    ...{ begin: async () => undefined, findIngress: async () => listensAt },
    store: withSecretsRead(store, permission === 'manage' ? readOutside : null),
    readState: readServedState,
    now: () => new Date(nowMs),
    findDaemonProblem: async () =>
      problem && {
        message: `it serves an older applied state: ${problem.message}`,
        remedy: 'Read the log of the daemon.',
      },
  };
}
