import { listDeliveries, readPayload } from '../../../operations/deliveries.ts';
import { listRuns, listRunsOfDelivery, readRunOutput, retryRun, showRun } from '../../../operations/runs.ts';
import { createActivityCounter } from './activity.ts';
import { type ApiDeps, getServedView, openLoggedFactory } from './api-deps.ts';
import type { PortHandlers } from './handler.ts';

type DeliveryHandlers = Pick<
  PortHandlers,
  'showActivity' | 'listDeliveries' | 'watchDeliveries' | 'downloadPayload'
>;
type RunHandlers = Pick<PortHandlers, 'listRuns' | 'showRun' | 'showRunOutput' | 'retryRun'>;

/** Handles requests for a factory's delivery log. Deliveries and runs of other factories are unknown here. */
export function createLogHandlers(deps: ApiDeps): DeliveryHandlers & RunHandlers {
  return {
    ...createDeliveryHandlers(deps),
    watchDeliveries: createLiveHandler(deps),
    ...createRunHandlers(deps),
  };
}

function createDeliveryHandlers(deps: ApiDeps): Omit<DeliveryHandlers, 'watchDeliveries'> {
  const countActivity = createActivityCounter(deps.store.deliveries, deps.nowMs);
  return {
    showActivity: async ({ params: { factory } }) => {
      const { uids } = getServedView(deps, factory);
      return { body: await countActivity(factory, uids) };
    },
    listDeliveries: async ({ params: { factory }, query, caller }) => {
      const { webhook: uid, ...wanted } = query;
      const page = await listDeliveries(
        openLoggedFactory(deps, factory),
        { uid, ...wanted },
        caller.token.permission,
      );
      return { body: { deliveries: page.rows, next: page.next } };
    },
    downloadPayload: async ({ params: { factory, delivery }, context }) => {
      context.body = await readPayload(openLoggedFactory(deps, factory), delivery);
      context.set({
        'Content-Type': 'application/octet-stream',
        'Content-Disposition': `attachment; filename="${delivery}.json"`,
      });
      return { body: undefined };
    },
  };
}

function createLiveHandler({ live, tokens, sessions, cookie }: ApiDeps): PortHandlers['watchDeliveries'] {
  return ({ params: { factory }, query, caller, context }) => {
    const { sha256, permission } = caller.token;
    const session = caller.over === 'session' ? cookie.read(context) : undefined;
    const maySee = async () => {
      if (session && sessions.findTokenDigest(session) === undefined) return false;
      return (await tokens.findDigest(sha256)) !== undefined;
    };
    context.status = 200;
    context.set({ 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
    if (context.method === 'HEAD') return { body: undefined };
    const viewer = { key: session?.id ?? sha256, token: sha256, maySee };
    live.view({ factory, uid: query.webhook, permission }, context.res, viewer);
    context.respond = false;
    return { body: undefined };
  };
}

function createRunHandlers(deps: ApiDeps): RunHandlers {
  return {
    listRuns: async ({ params: { factory }, query: { delivery, ...wanted } }) => {
      const opened = openLoggedFactory(deps, factory);
      if (delivery !== undefined) {
        return { body: { runs: await listRunsOfDelivery(opened, delivery), next: null } };
      }
      const page = await listRuns(opened, wanted);
      return { body: { runs: page.rows, next: page.next } };
    },
    showRun: async ({ params: { factory, run } }) => ({
      body: await showRun(openLoggedFactory(deps, factory), run),
    }),
    showRunOutput: async ({ params: { factory, run }, context }) => {
      const { size, stream } = await readRunOutput(openLoggedFactory(deps, factory), run);
      context.set('Content-Type', 'text/plain; charset=utf-8');
      context.body = stream;
      context.length = size;
      return { body: undefined };
    },
    retryRun: async ({ params: { factory, run } }) => ({
      body: await retryRun(openLoggedFactory(deps, factory), run),
    }),
  };
}
