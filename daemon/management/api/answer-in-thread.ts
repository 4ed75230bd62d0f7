import { randomBytes } from 'node:crypto';
import { type Changeable, recordWrites } from '../../../operations/record-writes.ts';
import { apiRoutes } from '../../../schema/api/routes.ts';
import type { Store } from '../../../store/ports.ts';
import type { ReadOutside, TeamSecrets } from '../../../store/team-secrets.ts';
import { createActivityCounter } from './activity.ts';
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

export interface AnswererOptions extends Changeable {
  readonly states: StateCache;
  /** The time of the store, which is set to that of each request. */
  readonly clock: { atMs: number };
}

/** Creates what answers requests in the operations thread, each with dependencies of its own. */
export function createAnswerer({
  store,
  deliveryLog,
  states,
  clock,
}: AnswererOptions): (request: ThreadRequest, readOutside: ReadOutside) => Promise<ThreadAnswer> {
  const countActivity = createActivityCounter(store.deliveries);
  const common = { randomBytes, countActivity, readState: states.readServed };
  return async (request, readOutside) => {
    const { id, params, query, ifSerial, caller, permission, atMs, baseUrl, problem, change } = request;
    clock.atMs = atMs;
    const now = () => new Date(atMs);
    const own = {
      store: withSecretsOf(store, permission === 'manage' ? readOutside : null),
      deliveryLog,
      now,
    };
    const call = async (body: unknown, parts: Changeable) => {
      const handlers = createHandlers({ ...common, ...parts, now, baseUrl, problem });
      // The table's types ensure that each handler takes the shapes that were checked.
      const handler = handlers[id as ThreadOperationId] as (request: unknown) => Promise<ApiReply<unknown>>;
      return handler({ params, query, body, ifSerial, caller, permission });
    };
    try {
      const body = request.body && parseBody(toBuffer(request.body), apiRoutes[id]);
      const reply = change
        ? await recordWrites(
            own,
            change,
            parts => call(body, parts),
            ({ changed = change.subject }) => changed,
          )
        : await call(body, own);
      const json = reply.body === undefined ? undefined : Buffer.from(JSON.stringify(reply.body));
      return { ok: true, json, serial: reply.serial };
    } catch (error) {
      const { code, parts, cause } = toProblem(error);
      return { ok: false, code, parts, cause };
    }
  };
}

function createHandlers(deps: OperationDeps): ThreadHandlers {
  return {
    ...createFactoryHandlers(deps),
    ...createDefinitionHandlers(deps),
    ...createJudgingHandlers(deps),
    ...createListHandlers(deps),
  };
}

/** The store for a caller who lets values that are kept elsewhere be read in this way; null: who must not cause that. */
function withSecretsOf(store: Store, readOutside: ReadOutside | null): Store {
  const open: TeamSecrets['open'] = (names, factory) => store.teamSecrets.open(names, factory, readOutside);
  return { ...store, teamSecrets: { ...store.teamSecrets, open } };
}
