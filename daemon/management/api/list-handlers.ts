import { listDeliveries } from '../../../operations/deliveries.ts';
import { listRuns, listRunsOfDelivery, showRun } from '../../../operations/runs.ts';
import { createActivityCounter } from './activity.ts';
import type { ListOperationId, ThreadHandlers } from './handler.ts';
import { type OperationDeps, openFactory } from './operation-deps.ts';

/** Handles requests that list from a factory's delivery log. Deliveries and runs of other factories are unknown here. */
export function createListHandlers(deps: OperationDeps): Pick<ThreadHandlers, ListOperationId> {
  const countActivity = createActivityCounter(deps.store.deliveries, deps.nowMs);
  return {
    showActivity: async ({ params: { factory } }) => {
      const { webhooks } = await deps.readState(factory);
      const uids = webhooks.map(({ uid }) => uid);
      return { body: await countActivity(factory, uids) };
    },
    listDeliveries: async ({ params: { factory }, query, caller }) => {
      const opened = openFactory(deps, factory);
      const page = await listDeliveries(opened, query, caller.token.permission);
      return { body: { deliveries: page.rows, next: page.next } };
    },
    listRuns: async ({ params: { factory }, query: { delivery, ...wanted } }) => {
      const opened = openFactory(deps, factory);
      if (delivery !== undefined) {
        return { body: { runs: await listRunsOfDelivery(opened, delivery), next: null } };
      }
      const page = await listRuns(opened, wanted);
      return { body: { runs: page.rows, next: page.next } };
    },
    showRun: async ({ params: { factory, run } }) => ({
      body: await showRun(openFactory(deps, factory), run),
    }),
  };
}
