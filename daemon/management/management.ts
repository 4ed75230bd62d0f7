import type { IncomingMessage } from 'node:http';
import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import type { Logger } from 'pino';
import { ApiProblem } from '../../schema/api/problems.ts';
import { listGranted } from '../../schema/grant.ts';
import type { Readiness } from '../../schema/readiness.ts';
import type { IssuerKeys } from '../issuers/issuer-keys.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { FactoryReconcile } from '../reconciling/reconcilers.ts';
import type { ServedFactories, ServedFactory } from '../served/served-factories.ts';
import { answerProblems, type ProblemDeps } from './api/answer-problem.ts';
import { type DashboardFiles, serveDashboard } from './dashboard-files.ts';
import { isAskedDirectly, refuseForeignHosts, setBrowserHeaders } from './guards/browser-guards.ts';
import type { Caller } from './guards/caller.ts';

export interface ManagementDeps {
  readonly served: Pick<ServedFactories, 'status'>;
  readonly metrics: Metrics;
  readonly readReconciles: () => Promise<readonly FactoryReconcile[]>;
  readonly readIssuers: IssuerKeys['status'];
  /** The routes of the management API. */
  readonly api: Router;
  /** Finds who sent an `Authorization` header, and counts the request. Fails with one of `tokenProblems`, or `too-many-requests`. */
  readonly identify: (request: IncomingMessage) => Promise<Caller>;
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

/**
 * Health, and what only those may see who watch the daemon: somebody who asks at an address of the machine, or has an API
 * token. Others learn only whether it is ready.
 */
function createOperatorRoutes(deps: ManagementDeps): Router {
  const { served, metrics, readReconciles, readIssuers, notReady, daemonId } = deps;
  const router = new Router();
  router.get('/healthz', context => {
    context.body = { status: 'ok' };
  });
  router.get('/readyz', async context => {
    const watched = await findWatched(context, deps);
    const reason = notReady();
    context.status = reason === undefined ? 200 : 503;
    const status = reason === undefined ? 'ready' : 'not ready';
    context.body = { status };
    if (watched === 'none') return;
    const factories = addReconciles(served.status(), await readReconciles());
    context.body = {
      status,
      // The reason may name any factory.
      reason: watched === 'all' ? reason : undefined,
      // Any factory may have named them.
      issuers: watched === 'all' ? readIssuers().filter(({ failure }) => failure) : undefined,
      daemon: daemonId,
      factories: factories.filter(({ factory }) => watched === 'all' || watched.includes(factory)),
    } satisfies Readiness;
  });
  router.get('/metrics', async context => {
    if ((await findWatched(context, deps)) !== 'all') throw new ApiProblem('metrics-refused');
    context.type = metrics.contentType;
    context.body = await metrics.render();
  });
  return router;
}

/** Finds the factories that a request may watch. Fails with one of `tokenProblems`, or `too-many-requests`. */
async function findWatched(
  { req }: Context,
  { managementUrl, identify }: ManagementDeps,
): Promise<'all' | 'none' | readonly string[]> {
  if (isAskedDirectly(req, managementUrl)) return 'all';
  if (req.headers.authorization === undefined) return 'none';
  return listGranted((await identify(req)).grants) ?? 'all';
}

/** Adds the reconciles to the factories, and the factories that have nothing applied yet. */
function addReconciles(statuses: readonly ServedFactory[], reconciles: readonly FactoryReconcile[]) {
  const factories = new Map(statuses.map(({ automations: _, ...status }) => [status.factory, status]));
  const known = new Map(reconciles.map(({ factory, reconcile }) => [factory, reconcile]));
  return [...new Set([...factories.keys(), ...known.keys()])].map(factory => ({
    ...(factories.get(factory) ?? { factory, serial: 0, webhooks: 0 }),
    reconcile: known.get(factory),
  }));
}
