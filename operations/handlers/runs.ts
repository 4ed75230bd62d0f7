import { showRunTallies } from '../health/show-run-tallies.ts';
import { runAgain } from '../log/run-again.ts';
import { runByHand } from '../log/run-by-hand.ts';
import {
  approveRun,
  cancelRun,
  dismissRun,
  listPauses,
  listRuns,
  listRunsOfDelivery,
  pauseAutomation,
  readArtifact,
  readRunOutput,
  resumeAutomation,
  retryRun,
  showRun,
} from '../log/runs.ts';
import { asFile, type HandlersOf, toWanted } from './handler.ts';

/** Handles requests for runs, and the pauses of automations. */
export const runHandlers: HandlersOf<'runs'> = {
  listRuns: async ({ factory }, { query: { delivery, ...query }, permission }) => {
    if (delivery !== undefined) {
      const runs = await listRunsOfDelivery(factory, { delivery, summary: query.summary }, permission);
      return { body: { runs, next: null, hasMore: false, searched: runs.length } };
    }
    const { rows, ...end } = await listRuns(factory, toWanted(query), permission);
    return { body: { runs: rows, ...end } };
  },
  showRunTallies: async ({ factory }) => ({ body: await showRunTallies(factory) }),
  showRun: async ({ factory }, { params: { run } }) => ({ body: await showRun(factory, run) }),
  showRunOutput: async ({ factory }, { params: { run }, query: { from } }) => {
    const { size, stream: content } = await readRunOutput(factory, run, from);
    return { body: { content, size, mediaType: 'text/plain; charset=utf-8' } };
  },
  downloadArtifact: async ({ factory }, { params: { run, artifact } }) => {
    const { size, stream: content } = await readArtifact(factory, run, artifact);
    return { body: { content, size, ...asFile(artifact) } };
  },
  retryRun: async ({ factory }, { params: { run } }) => ({ body: await retryRun(factory, run) }),
  runAgain: async ({ factory }, { params: { run }, body }) => ({ body: await runAgain(factory, run, body) }),
  runByHand: async ({ factory }, { body }) => {
    const { automation = '', draft, payload, headers = {}, evenIfDisabled } = body;
    const event = { payload: Buffer.from(payload), headers, evenIfDisabled };
    const started = await runByHand(factory, draft ?? automation, event);
    return { body: started, changed: draft?.name ?? automation };
  },
  approveRun: async (deps, { params: { run } }) => ({ body: await approveRun(deps.factory, run, deps.by) }),
  dismissRun: async ({ factory }, { params: { run } }) => ({ body: await dismissRun(factory, run) }),
  cancelRun: async (deps, { params: { run }, body: { reason } }) => ({
    body: await cancelRun(deps.factory, run, { by: deps.by, reason }),
  }),
  listPauses: async ({ factory }) => ({ body: { pauses: await listPauses(factory) } }),
  pauseAutomation: async (deps, { params: { automation }, body: { seconds } }) => ({
    body: await pauseAutomation(deps.factory, { automation, seconds, by: deps.by }),
  }),
  resumeAutomation: async ({ factory }, { params: { automation } }) => {
    await resumeAutomation(factory, automation);
    return { body: undefined };
  },
};
