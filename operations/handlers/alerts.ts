import { acknowledgeAlert, listAlerts, muteAlert } from '../attention/alerts.ts';
import type { HandlersOf, OperationDeps } from './handler.ts';

/** Handles requests for alerts. */
export const alertHandlers: HandlersOf<'alerts'> = {
  listAlerts: async ({ store }, { params: { factory }, permission }) => ({
    body: await listAlerts(store, factory, permission),
  }),
  acknowledgeAlert: async (deps, { params }) => ({
    body: await acknowledgeAlert(toAlertChange(deps, params)),
  }),
  muteAlert: async (deps, { params, body: { seconds } }) => ({
    body: await muteAlert(toAlertChange(deps, params), seconds),
  }),
};

function toAlertChange(
  { store, now, by }: OperationDeps,
  { factory, alert: id }: { readonly factory: string; readonly alert: string },
) {
  return { store, factory, id, nowMs: now().getTime(), by };
}
