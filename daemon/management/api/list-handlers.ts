import { listAudit } from '../../../operations/audit.ts';
import { listDeliveries } from '../../../operations/deliveries.ts';
import { showHealth } from '../../../operations/health/show-health.ts';
import { showHealthOverview } from '../../../operations/health/show-health-overview.ts';
import { dismissRun, listRuns, listRunsOfDelivery, retryRun, showRun } from '../../../operations/runs.ts';
import { listTokens } from '../../../operations/tokens.ts';
import { listUnlogged } from '../../../operations/unlogged.ts';
import { findPermission, listGranted } from '../guards/caller.ts';
import type { ListOperationId, ThreadHandlers } from './handler.ts';
import { type OperationDeps, openFactory } from './operation-deps.ts';

/** Handles requests that list from a factory's delivery log, or act on its rows. Deliveries and runs of other factories are unknown here. */
export function createListHandlers(deps: OperationDeps): Pick<ThreadHandlers, ListOperationId> {
  return {
    showActivity: async ({ params: { factory } }) => {
      const { webhooks } = await deps.readState(factory);
      const uids = webhooks.map(({ uid }) => uid);
      return { body: await deps.countActivity(factory, uids, deps.now().getTime()) };
    },
    showHealth: async ({ params: { factory }, query }) => ({
      body: await showHealth(openFactory(deps, factory), query.webhook),
    }),
    showHealthOverview: async ({ caller }) => ({
      body: await showHealthOverview(deps, listGranted(caller)),
    }),
    listDeliveries: async ({ params: { factory }, query, permission }) => {
      const opened = openFactory(deps, factory);
      const { rows, ...end } = await listDeliveries(opened, toWanted(query), permission);
      return { body: { deliveries: rows, ...end } };
    },
    listUnlogged: async ({ params: { factory }, query }) => ({
      body: await listUnlogged(openFactory(deps, factory), query.webhook),
    }),
    listRuns: async ({ params: { factory }, query: { delivery, ...query } }) => {
      const opened = openFactory(deps, factory);
      if (delivery !== undefined) {
        const runs = await listRunsOfDelivery(opened, delivery);
        return { body: { runs, next: null, hasMore: false, searched: runs.length } };
      }
      const { rows, ...end } = await listRuns(opened, toWanted(query));
      return { body: { runs: rows, ...end } };
    },
    listTokens: async ({ params: { factory } }) => ({
      body: { tokens: await listTokens(deps.store, factory) },
    }),
    listAudit: async ({ params: { factory }, query, caller }) => ({
      body: await listAudit(deps.store, {
        factory,
        withAll: findPermission(caller, null) === 'manage',
        ...query,
      }),
    }),
    showRun: async ({ params: { factory, run } }) => ({
      body: await showRun(openFactory(deps, factory), run),
    }),
    retryRun: async ({ params: { factory, run } }) => ({
      body: await retryRun(openFactory(deps, factory), run),
    }),
    dismissRun: async ({ params: { factory, run } }) => ({
      body: await dismissRun(openFactory(deps, factory), run),
    }),
  };
}

function toWanted<Query extends { since?: number | undefined; until?: number | undefined }>({
  since: sinceMs,
  until: untilMs,
  ...query
}: Query) {
  return { ...query, sinceMs, untilMs };
}
