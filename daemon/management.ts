import Router from '@koa/router';
import Koa from 'koa';
import type { AppliedStates } from './applied-states.ts';
import type { Metrics } from './metrics.ts';

export interface ManagementDeps {
  readonly appliedStates: AppliedStates;
  readonly metrics: Metrics;
  /** Why deliveries cannot be taken now; undefined when they can. */
  readonly notReady: () => string | undefined;
}

/** The operator's side of the daemon: alive, ready, metrics. */
export function createManagement({ appliedStates, metrics, notReady }: ManagementDeps): Koa {
  const router = new Router();
  router.get('/healthz', context => {
    context.body = { status: 'ok' };
  });
  router.get('/readyz', context => {
    const reason = notReady();
    context.status = reason === undefined ? 200 : 503;
    context.body = {
      status: reason === undefined ? 'ready' : 'not ready',
      reason,
      factories: appliedStates.status(),
    };
  });
  router.get('/metrics', async context => {
    context.type = metrics.contentType;
    context.body = await metrics.render();
  });
  const app = new Koa();
  app.use(router.routes()).use(router.allowedMethods());
  return app;
}
