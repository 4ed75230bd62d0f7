import type { z } from 'zod';
import { ApiProblem } from '../../../schema/api/problems.ts';
import { findPermission, listGranted } from '../../../schema/grant.ts';
import type { daemonAnswer } from '../../../schema/views/factories.ts';
import { isOfferedTo } from '../../../store/ports/daemon-records.ts';
import { listRunners } from '../../runs/run-settings.ts';
import type { DaemonSettings } from '../../settings.ts';
import { identifyCaller } from '../guards/caller.ts';
import type { ApiDeps, PortHandlers, PortRequest } from './handler.ts';

/** What a daemon says about itself. */
export interface DaemonFacts {
  readonly version: string;
  readonly startedAt: string;
  readonly settings: Pick<DaemonSettings, 'managementUrl' | 'limits' | 'retention' | 'runs'>;
}

/** Creates the handler that shows the daemon: only named settings, so that no path and no command is among them. */
export function createDaemonHandler(
  { store: { place, replicas }, baseUrl }: Pick<ApiDeps, 'store' | 'baseUrl'>,
  { version, startedAt, settings }: DaemonFacts,
): PortHandlers['showDaemon'] {
  const { managementUrl = null, limits, retention, runs } = settings;
  const { bodyBytes, deliveriesPerMinute, apiRequestsPerMinute, requestSeconds } = limits;
  const runners = listRunners(runs);
  return async ({ caller }) => {
    const granted = listGranted(caller.grants);
    // The name of a runner may tell of the factory that it is for.
    const own = runners.filter(runner => granted?.some(factory => isOfferedTo(runner, factory)) ?? true);
    const body: z.output<typeof daemonAnswer> = {
      ...{ version, startedAt, store: place.postgres ? 'postgresql' : 'home' },
      replicas: replicas ? (await replicas.describe()).alive.length : null,
      ...{ ingressUrl: baseUrl(), managementUrl },
      runners: own.map(({ name, runner, concurrency }) => ({ name, kind: runner.kind, concurrency })),
      limits: { bodyBytes, deliveriesPerMinute, apiRequestsPerMinute, requestSeconds },
      retention: { deliveries: retention.deliveries, days: retention.days },
    };
    return { body };
  };
}

/** Creates the handler that sends deliveries as they are recorded. */
export function createLiveHandler(deps: ApiDeps): PortHandlers['watchDeliveries'] {
  const { live, callers, cookie } = deps;
  return async request => {
    await requireListed(deps, request);
    const { params, query, caller, permission, context } = request;
    const { factory } = params;
    await live.beforeView(factory);
    const session = cookie.read(context);
    // A view that stays open is no sign that somebody uses the page.
    const watching = session && { ...session, isAttended: false };
    const credentials = { authorization: context.headers.authorization, session: watching };
    const maySee = async () =>
      findPermission((await identifyCaller(credentials, callers)).grants, factory) !== undefined;
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

/** Fails with `webhook-unknown` if there is no such webhook, as listing its deliveries does. */
async function requireListed(
  deps: ApiDeps,
  { params, query: { webhook }, caller, permission }: PortRequest<'watchDeliveries'>,
): Promise<void> {
  if (webhook === undefined) return;
  const answer = await deps.answerInThread(
    {
      ...{ id: 'listDeliveries', params, query: { webhook, limit: 1 }, permission },
      ...{ grants: caller.grants, expiresAt: null, body: undefined, ifSerial: undefined, problem: null },
      ...{ baseUrl: deps.baseUrl(), listensAt: null, nowMs: deps.nowMs(), change: undefined },
    },
    caller.sha256,
  );
  if (!answer.ok) throw new ApiProblem(answer.code, answer.parts, { cause: answer.cause });
}
