import { readPayload } from '../../../operations/deliveries.ts';
import { readArtifact, readRunOutput } from '../../../operations/runs.ts';
import { ApiProblem } from '../../../schema/api/problems.ts';
import { findPermission, identifyCaller } from '../guards/caller.ts';
import { type ApiDeps, openLoggedFactory } from './api-deps.ts';
import type { ApiRequest, PortHandlers } from './handler.ts';

type LogHandlers = Pick<
  PortHandlers,
  'watchDeliveries' | 'downloadPayload' | 'showRunOutput' | 'downloadArtifact'
>;

/** Handles requests for a factory's delivery log that stream. Deliveries and runs of other factories are unknown here. */
export function createLogHandlers(deps: ApiDeps): LogHandlers {
  return {
    watchDeliveries: createLiveHandler(deps),
    downloadPayload: async ({ params: { factory, delivery }, context }) => {
      context.body = await readPayload(openLoggedFactory(deps, factory), delivery);
      context.set({
        'Content-Type': 'application/octet-stream',
        'Content-Disposition': `attachment; filename="${delivery}.json"`,
      });
      return { body: undefined };
    },
    showRunOutput: async ({ params: { factory, run }, query: { from }, context }) => {
      const { size, stream } = await readRunOutput(openLoggedFactory(deps, factory), run, from);
      context.set('Content-Type', 'text/plain; charset=utf-8');
      context.body = stream;
      context.length = size;
      return { body: undefined };
    },
    downloadArtifact: async ({ params: { factory, run, artifact }, context }) => {
      const { size, stream } = await readArtifact(openLoggedFactory(deps, factory), run, artifact);
      context.set({
        'Content-Type': 'application/octet-stream',
        'Content-Disposition': `attachment; filename="${artifact}"`,
      });
      context.body = stream;
      context.length = size;
      return { body: undefined };
    },
  };
}

/** Fails with `webhook-unknown` if there is no such webhook, as listing its deliveries does. */
async function requireListed(
  deps: ApiDeps,
  { params, query: { webhook }, caller, permission }: ApiRequest<'watchDeliveries'>,
): Promise<void> {
  if (webhook === undefined) return;
  const answer = await deps.answerInThread(
    {
      ...{ id: 'listDeliveries', params, query: { webhook, limit: 1 }, caller, permission },
      ...{ body: undefined, ifSerial: undefined, problem: null },
      ...{ baseUrl: deps.baseUrl(), atMs: deps.nowMs(), change: undefined },
    },
    caller.sha256,
  );
  if (!answer.ok) throw new ApiProblem(answer.code, answer.parts, { cause: answer.cause });
}

function createLiveHandler(deps: ApiDeps): PortHandlers['watchDeliveries'] {
  const { live, callers, cookie } = deps;
  return async request => {
    await requireListed(deps, request);
    const { params, query, caller, permission, context } = request;
    const { factory } = params;
    await live.beforeView(factory);
    const session = cookie.read(context);
    const credentials = { authorization: context.headers.authorization, session };
    const maySee = async () =>
      findPermission(await identifyCaller(credentials, callers), factory) !== undefined;
    context.status = 200;
    context.set({ 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
    if (context.method === 'HEAD') return { body: undefined };
    const { sha256, over } = caller;
    const viewer = { key: over === 'session' ? (session?.id ?? '') : sha256, token: sha256, maySee };
    live.view({ factory, uid: query.webhook, permission }, context.res, viewer);
    context.respond = false;
    return { body: undefined };
  };
}
