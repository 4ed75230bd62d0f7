import { listGranted } from '../../schema/grant.ts';
import { showHealth, showHealthOverview } from '../health/show-health.ts';
import { explainWhy } from '../why/why.ts';
import type { HandlersOf } from './handler.ts';

/** Handles requests for how webhooks do, and why. */
export const healthHandlers: HandlersOf<'health'> = {
  showHealth: async ({ factory }, { query, permission }) => ({
    body: await showHealth(factory, permission, query.webhook),
  }),
  showHealthOverview: async (deps, { grants }) => ({
    body: await showHealthOverview(deps, listGranted(grants)),
  }),
  explainWhy: async (deps, { params: { subject }, permission }) => {
    const daemonProblem = await deps.findDaemonProblem();
    const options = { baseUrl: deps.baseUrl, permission, daemonProblem };
    return { body: await explainWhy(deps.factory, subject, options) };
  },
};
