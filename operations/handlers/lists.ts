import { findPermission, listGranted } from '../../schema/grant.ts';
import { isStandardWebhooks, schemes } from '../../signatures/schemes.ts';
import { summariseScheme } from '../../signatures/summary.ts';
import { listAudit } from '../access/audit.ts';
import { issueToken, listTokens, revokeToken } from '../access/tokens.ts';
import { acknowledgeAlert, listAlerts, muteAlert } from '../attention/alerts.ts';
import { showHealth, showHealthOverview } from '../health/show-health.ts';
import { showRunTallies } from '../health/show-run-tallies.ts';
import { listDeliveries } from '../log/deliveries.ts';
import { listUnlogged } from '../log/list-rows.ts';
import { listRuns, listRunsOfDelivery, showRun } from '../log/runs.ts';
import { type Handlers, type OperationDeps, openFactory } from './handler.ts';

/** Handles requests that list, or act on what a list shows. Deliveries and runs of other factories are unknown here. */
export const listHandlers: Pick<
  Handlers,
  | ('showHealth' | 'showHealthOverview' | 'listDeliveries' | 'listUnlogged')
  | ('listRuns' | 'showRun' | 'showRunTallies' | 'listTokens' | 'listAudit' | 'listSchemes')
  | ('createToken' | 'revokeToken')
  | ('listAlerts' | 'acknowledgeAlert' | 'muteAlert')
> = {
  showHealth: async (deps, { params: { factory }, query, permission }) => ({
    body: await showHealth(openFactory(deps, factory), permission, query.webhook),
  }),
  showHealthOverview: async (deps, { grants }) => ({
    body: await showHealthOverview(deps, listGranted(grants)),
  }),
  listDeliveries: async (deps, { params: { factory }, query, permission }) => {
    const opened = openFactory(deps, factory);
    const { rows, ...end } = await listDeliveries(opened, toWanted(query), permission);
    return { body: { deliveries: rows, ...end } };
  },
  listUnlogged: async (deps, { params: { factory }, query }) => ({
    body: await listUnlogged(openFactory(deps, factory), query.webhook),
  }),
  listRuns: async (deps, { params: { factory }, query: { delivery, ...query }, permission }) => {
    const opened = openFactory(deps, factory);
    if (delivery !== undefined) {
      const runs = await listRunsOfDelivery(opened, { delivery, summary: query.summary }, permission);
      return { body: { runs, next: null, hasMore: false, searched: runs.length } };
    }
    const { rows, ...end } = await listRuns(opened, toWanted(query), permission);
    return { body: { runs: rows, ...end } };
  },
  listAlerts: async ({ store }, { params: { factory }, permission }) => ({
    body: await listAlerts(store, factory, permission),
  }),
  acknowledgeAlert: async (deps, { params }) => ({
    body: await acknowledgeAlert(toAlertChange(deps, params)),
  }),
  muteAlert: async (deps, { params, body: { seconds } }) => ({
    body: await muteAlert(toAlertChange(deps, params), seconds),
  }),
  listTokens: async (deps, { params: { factory } }) => ({
    body: { tokens: await listTokens(deps.store, factory) },
  }),
  createToken: async (deps, { params: { factory }, body, grants, expiresAt }) => ({
    body: await issueToken(openFactory(deps, factory), body, { grants, expiresAt }),
    changed: `${body.name} (${body.permission})`,
  }),
  revokeToken: async (deps, { params: { factory, token }, grants, expiresAt }) => {
    await revokeToken(openFactory(deps, factory), token, { grants, expiresAt });
    return { body: undefined };
  },
  listAudit: async (deps, { params: { factory }, query, grants }) => ({
    body: await listAudit(deps.store, {
      factory,
      withAll: findPermission(grants, null) === 'manage',
      ...query,
    }),
  }),
  showRun: async (deps, { params: { factory, run } }) => ({
    body: await showRun(openFactory(deps, factory), run),
  }),
  showRunTallies: async (deps, { params: { factory } }) => ({
    body: await showRunTallies(openFactory(deps, factory)),
  }),
  listSchemes: (_, { query }) => ({ body: { schemes: listSchemes(query.id) } }),
};

function toAlertChange(
  { store, now, by }: OperationDeps,
  { factory, alert: id }: { readonly factory: string; readonly alert: string },
) {
  return { store, factory, id, nowMs: now().getTime(), by };
}

function toWanted<Query extends { since?: number | undefined; until?: number | undefined }>({
  since: sinceMs,
  until: untilMs,
  ...query
}: Query) {
  return { ...query, sinceMs, untilMs };
}

/** Lists the signature schemes, or one of them, with what somebody needs who sets up a provider. */
function listSchemes(wanted: string | undefined) {
  return schemes
    .filter(({ id }) => wanted === undefined || id === wanted)
    .map(scheme => {
      const { id, provider, kind, page, secretLocation, secretCommand, checked } = scheme;
      const blankSecret: 'generated' | 'declared' = isStandardWebhooks(scheme) ? 'generated' : 'declared';
      const summary = summariseScheme(scheme);
      return { id, provider, kind, page, secretLocation, secretCommand, blankSecret, checked, summary };
    });
}
