import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { findAutomation } from '../../../operations/automations.ts';
import {
  deliveryDetail,
  deliveryView,
  evaluationOf,
  runView,
  verdictView,
} from '../../../operations/views/delivery-views.ts';
import { ApiProblem } from '../../../schema/api/problems.ts';
import { createSnapshot } from '../../../schema/automations-snapshot.ts';
import { judgeAutomation } from '../../../schema/filters/judge-automation.ts';
import { createSortableId, sortableIdRandomBytes } from '../../../schema/ids.ts';
import type { LoggedDelivery, Run } from '../../../store/delivery-log.ts';
import { parseJsonBody } from '../../ingress/json-body.ts';
import { webhookActivity } from './activity.ts';
import { type ApiDeps, stateOf } from './api-deps.ts';
import type { ApiHandlers } from './handler.ts';

type LogHandlers = Pick<
  ApiHandlers,
  | 'showActivity'
  | 'listDeliveries'
  | 'watchDeliveries'
  | 'showDelivery'
  | 'downloadPayload'
  | 'replayDelivery'
  | 'testFilter'
  | 'listRuns'
  | 'showRun'
  | 'showRunOutput'
  | 'retryRun'
>;

/** What the delivery log has of a factory. Ids of another factory's deliveries and runs are unknown here. */
export function logHandlers(deps: ApiDeps): LogHandlers {
  const { queries, deliveryLog, live, tokens, sessions, cookie, home, nowMs, randomBytes } = deps;
  const activity = webhookActivity(queries, nowMs);

  const findDelivery = async (factory: string, id: string): Promise<LoggedDelivery> => {
    const delivery = await queries.findDelivery(id);
    if (delivery?.factory === factory) return delivery;
    throw new ApiProblem('delivery-unknown', { detail: `the factory ${factory} has no delivery ${id}` });
  };
  const findRun = async (factory: string, id: string): Promise<Run> => {
    const run = await queries.findRun(id);
    if (run?.factory === factory) return run;
    throw new ApiProblem('run-unknown', { detail: `the factory ${factory} has no run ${id}` });
  };
  const readPayload = async ({ id, outcome }: LoggedDelivery): Promise<Buffer> => {
    const payload = await queries.readPayload(id);
    if (payload) return Buffer.from(payload);
    throw new ApiProblem('payload-not-stored', { detail: `${id} was ${outcome}` });
  };
  /** A cursor is the id of the last row of a page. */
  const requireCursor = (row: { readonly factory: string } | undefined, factory: string) => {
    if (row?.factory !== factory) throw new ApiProblem('cursor-unknown');
  };

  return {
    showActivity: async ({ params: { factory } }) => {
      const uids = stateOf(deps, factory).webhooks.map(({ uid }) => uid);
      return { body: await activity(factory, uids) };
    },

    listDeliveries: async ({ params: { factory }, query, caller }) => {
      const { webhook: uid, outcome, limit, cursor } = query;
      if (cursor !== undefined) requireCursor(await queries.findDelivery(cursor), factory);
      const rows = await queries.listDeliveries({
        factory,
        limit: limit + 1,
        ...(uid !== undefined && { uid }),
        ...(outcome && { outcome }),
        ...(cursor !== undefined && { before: cursor }),
      });
      const page = rows.slice(0, limit);
      const deliveries = page.map(row => deliveryView(row, caller.token.permission));
      return { body: { deliveries, next: nextOf(rows, page) } };
    },

    watchDeliveries: ({ params: { factory }, query, caller, context }) => {
      const { sha256, permission } = caller.token;
      const sessionId = caller.over === 'session' ? cookie.read(context) : undefined;
      const maySee = async () => {
        if (sessionId !== undefined && sessions.tokenDigestOf(sessionId) === undefined) return false;
        return (await tokens.findDigest(sha256)) !== undefined;
      };
      context.status = 200;
      context.set({ 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
      if (context.method === 'HEAD') return { body: undefined };
      live.view({ factory, uid: query.webhook, permission }, context.res, {
        key: sessionId ?? sha256,
        maySee,
      });
      context.respond = false;
      return { body: undefined };
    },

    showDelivery: async ({ params: { factory, delivery: id }, caller }) => {
      const delivery = await findDelivery(factory, id);
      const [payload, snapshot, runs] = await Promise.all([
        queries.readPayload(id),
        delivery.snapshot === undefined ? undefined : queries.readSnapshot(delivery.snapshot),
        queries.runsOfDelivery(id),
      ]);
      return { body: deliveryDetail({ delivery, payload, snapshot, runs }, caller.token.permission) };
    },

    downloadPayload: async ({ params: { factory, delivery: id }, context }) => {
      const payload = await readPayload(await findDelivery(factory, id));
      context.set({
        'Content-Type': 'application/octet-stream',
        'Content-Disposition': `attachment; filename="${id}.json"`,
      });
      context.body = payload;
      return { body: undefined };
    },

    replayDelivery: async ({ params: { factory, delivery: id }, body: { automation: only } }) => {
      const delivery = await findDelivery(factory, id);
      const payload = await readPayload(delivery);
      const state = stateOf(deps, factory);
      const { automations } = evaluationOf(state, delivery.uid, payload.toString('utf8'));
      const starting = automations.filter(
        ({ automation, wouldTrigger }) => wouldTrigger && (only === undefined || automation === only),
      );
      if (starting.length === 0) throw new ApiProblem('nothing-to-replay');
      const atMs = nowMs();
      const runs = starting.map(({ automation }) => {
        return { id: createSortableId('run', atMs, randomBytes(sortableIdRandomBytes)), automation };
      });
      const appliedState = createSnapshot(state);
      const replayed = await deliveryLog.replay({ deliveryId: id, runs, appliedState, nowMs: atMs });
      if (!replayed) throw new ApiProblem('delivery-unknown');
      return { body: { runs } };
    },

    testFilter: async ({ params: { factory }, body: { automation, triggers, delivery, payload } }) => {
      const judged = triggers
        ? { name: 'draft', enabled: true, prompt: '', triggers }
        : findAutomation(stateOf(deps, factory), automation ?? '');
      if (delivery === undefined) return { body: verdictView(judgeAutomation(judged, { payload })) };
      const stored = await findDelivery(factory, delivery);
      const json = parseJsonBody(await readPayload(stored));
      const tested = { webhookUid: stored.uid, payload: json?.value };
      return { body: verdictView(judgeAutomation(judged, tested)) };
    },

    listRuns: async ({ params: { factory }, query }) => {
      const { automation, delivery, state, limit, cursor } = query;
      if (delivery !== undefined) {
        await findDelivery(factory, delivery);
        return { body: { runs: (await queries.runsOfDelivery(delivery)).map(runView), next: null } };
      }
      if (cursor !== undefined) requireCursor(await queries.findRun(cursor), factory);
      const rows = await queries.listRuns({
        factory,
        limit: limit + 1,
        ...(automation !== undefined && { automation }),
        ...(state && { state }),
        ...(cursor !== undefined && { before: cursor }),
      });
      const page = rows.slice(0, limit);
      return { body: { runs: page.map(runView), next: nextOf(rows, page) } };
    },

    showRun: async ({ params: { factory, run } }) => ({ body: runView(await findRun(factory, run)) }),

    showRunOutput: async ({ params: { factory, run }, context }) => {
      const { id } = await findRun(factory, run);
      const file = join(home.runsDirectory, id, 'output.log');
      const { size } = await stat(file).catch(() => ({ size: undefined }));
      if (size === undefined) throw new ApiProblem('output-not-stored');
      context.set('Content-Type', 'text/plain; charset=utf-8');
      context.body = createReadStream(file, size === 0 ? {} : { end: size - 1 });
      context.length = size;
      return { body: undefined };
    },

    retryRun: async ({ params: { factory, run: id } }) => {
      const run = await findRun(factory, id);
      if (!(await deliveryLog.retryRun({ id, nowMs: nowMs() }))) {
        throw new ApiProblem('run-not-failed', { detail: `the run is ${run.state}` });
      }
      return { body: runView(await findRun(factory, id)) };
    },
  };
}

/** One row more than the page was asked for: if it is there, the page is not the last. */
function nextOf(rows: readonly unknown[], page: readonly { readonly id: string }[]): string | null {
  return rows.length > page.length ? (page.at(-1)?.id ?? null) : null;
}
