import { listGranted } from '../../schema/grant.ts';
import { showHealth, showHealthOverview } from '../health/show-health.ts';
import { explainWhy } from '../why/why.ts';
import { type HandlersOf, openFactory } from './handler.ts';

/** Handles requests for how webhooks do, and why. */
export const healthHandlers: HandlersOf<'health'> = {
  showHealth: async (deps, { params: { factory }, query, permission }) => ({
    body: await showHealth(openFactory(deps, factory), permission, query.webhook),
  }),
  showHealthOverview: async (deps, { grants }) => ({
    body: await showHealthOverview(deps, listGranted(grants)),
  }),
  explainWhy: async (deps, { params: { factory, subject }, permission }) => {
    const daemonProblem = await deps.findDaemonProblem();
    const options = { baseUrl: deps.baseUrl, permission, daemonProblem };
    return { body: await explainWhy(openFactory(deps, factory), subject, options) };
  },
};
