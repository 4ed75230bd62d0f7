import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import type { Logger } from 'pino';
import { ApiProblem } from '../../schema/api/problems.ts';
import type { Readiness } from '../../schema/readiness.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { FactoryReconcile } from '../reconciling/reconcile-statuses.ts';
import type { ServedFactories, ServedFactory } from '../served/served-factories.ts';
import { answerProblems, type ProblemDeps } from './api/answer-problem.ts';
import { type DashboardFiles, serveDashboard } from './dashboard-files.ts';
import { refuseForeignHosts, setBrowserHeaders } from './guards/browser-guards.ts';

export interface ManagementDeps {
  readonly served: Pick<ServedFactories, 'status'>;
  readonly metrics: Metrics;
  readonly readReconciles: () => Promise<readonly FactoryReconcile[]>;
  /** The routes of the management API. */
  readonly api: Router;
  readonly dashboard: DashboardFiles;
  /** The URL of the port behind a proxy, if there is one. */
  readonly managementUrl: string | undefined;
  /** Different for each start of a daemon. */
  readonly daemonId: string;
  readonly log: Logger;
  readonly readClientAddress: ProblemDeps['readClientAddress'];
  readonly monotonicMs: () => number;
  /** Why deliveries cannot be accepted now; undefined when they can. */
  readonly notReady: () => string | undefined;
}

/** Creates the management port's application: health, metrics, the management API and the dashboard. */
export function createManagement(deps: ManagementDeps): Koa {
  const app = new Koa();
  app.on('error', (error: NodeJS.ErrnoException) => {
    // A client that disconnects during an answer is not a failure.
    if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') {
      deps.log.error({ err: error }, 'a management request failed');
    }
  });
  app.use(normalizeTarget);
  app.use(setBrowserHeaders);
  app.use(answerProblems({ ...deps, observe: deps.metrics.observeManagement }));
  app.use(refuseForeignHosts(deps.managementUrl));
  app.use(createOperatorRoutes(deps).routes());
  app.use(deps.api.routes());
  app.use(serveDashboard(deps.dashboard));
  app.use(({ matched }) => {
    // `matched` holds the API routes with this path but another method.
    throw new ApiProblem(Array.isArray(matched) && matched.length > 0 ? 'method-not-allowed' : 'not-found');
  });
  return app;
}

/** Koa and its router read the path with a parser that fails on some valid targets, but on no normalized one. */
const normalizeTarget: Middleware = (context, next) => {
  const { pathname, search } = context.URL;
  // The target `*` has no path.
  if (pathname !== undefined) context.url = pathname + search;
  return next();
};

function createOperatorRoutes({
  served,
  metrics,
  readReconciles,
  notReady,
  daemonId,
}: ManagementDeps): Router {
  const router = new Router();
  router.get('/healthz', context => {
    context.body = { status: 'ok' };
  });
  router.get('/readyz', async context => {
    const factories = addReconciles(served.status(), await readReconciles());
    const reason = notReady();
    context.status = reason === undefined ? 200 : 503;
    context.body = {
      status: reason === undefined ? 'ready' : 'not ready',
      reason,
      daemon: daemonId,
      factories,
    } satisfies Readiness;
  });
  router.get('/metrics', async context => {
    context.type = metrics.contentType;
    context.body = await metrics.render();
  });
  return router;
}

/** Adds the reconciles to the factories, and the factories that have nothing applied yet. */
function addReconciles(statuses: readonly ServedFactory[], reconciles: readonly FactoryReconcile[]) {
  const factories = new Map(statuses.map(status => [status.factory, status]));
  const known = new Map(reconciles.map(({ factory, reconcile }) => [factory, reconcile]));
  return [...new Set([...factories.keys(), ...known.keys()])].map(factory => ({
    ...(factories.get(factory) ?? { factory, serial: 0, webhooks: 0 }),
    reconcile: known.get(factory),
  }));
}
