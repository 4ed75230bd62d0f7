import Router from '@koa/router';
import Koa from 'koa';
import type { Logger } from 'pino';
import { ApiProblem } from '../../schema/api/problems.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { FactoryReconcile } from '../reconciling/reconcile-statuses.ts';
import type { ServedFactory, ServedStates } from '../served/served-states.ts';
import { answerProblems } from './api/answer-problem.ts';
import { type DashboardFiles, serveDashboard } from './dashboard-files.ts';
import { browserHeaders, refuseForeignHosts } from './guards/browser-guards.ts';

export interface ManagementDeps {
  readonly served: ServedStates;
  readonly metrics: Metrics;
  readonly readReconciles: () => Promise<readonly FactoryReconcile[]>;
  /** The routes of the management API. */
  readonly api: Router;
  readonly dashboard: DashboardFiles;
  /** How the port is reached through a proxy, if it is. */
  readonly managementUrl: string | undefined;
  readonly log: Logger;
  /** Why deliveries cannot be taken now; undefined when they can. */
  readonly notReady: () => string | undefined;
}

/** The operator's side of the daemon: alive, ready, metrics; the management API; the dashboard. */
export function createManagement(deps: ManagementDeps): Koa {
  const app = new Koa();
  app.on('error', (error: NodeJS.ErrnoException) => {
    // A client that goes in the middle of an answer is no failure.
    if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') {
      deps.log.error({ err: error }, 'a management request failed');
    }
  });
  app.use(browserHeaders);
  app.use(answerProblems(deps.log));
  app.use(refuseForeignHosts(deps.managementUrl));
  app.use(operatorRoutes(deps).routes());
  app.use(deps.api.routes());
  app.use(serveDashboard(deps.dashboard));
  app.use(({ matched }) => {
    // What the API's router matched but for the method.
    throw new ApiProblem(Array.isArray(matched) && matched.length > 0 ? 'method-not-allowed' : 'not-found');
  });
  return app;
}

function operatorRoutes({ served, metrics, readReconciles, notReady }: ManagementDeps): Router {
  const router = new Router();
  router.get('/healthz', context => {
    context.body = { status: 'ok' };
  });
  router.get('/readyz', async context => {
    const factories = withReconciles(served.status(), await readReconciles());
    const reason = notReady();
    context.status = reason === undefined ? 200 : 503;
    context.body = {
      status: reason === undefined ? 'ready' : 'not ready',
      reason,
      factories,
    };
  });
  router.get('/metrics', async context => {
    context.type = metrics.contentType;
    context.body = await metrics.render();
  });
  return router;
}

/** A factory whose first reconcile has not succeeded yet has nothing applied. */
function withReconciles(statuses: readonly ServedFactory[], reconciles: readonly FactoryReconcile[]) {
  const factories = new Map(statuses.map(status => [status.factory, status]));
  const told = new Map(reconciles.map(({ factory, reconcile }) => [factory, reconcile]));
  return [...new Set([...factories.keys(), ...told.keys()])].map(factory => ({
    ...(factories.get(factory) ?? { factory, serial: 0, webhooks: 0 }),
    reconcile: told.get(factory),
  }));
}
