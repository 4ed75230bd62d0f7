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
import { asFile, type HandlersOf, openFactory, toWanted } from './handler.ts';

/** Handles requests for runs, and the pauses of automations. */
export const runHandlers: HandlersOf<'runs'> = {
  listRuns: async (deps, { params: { factory }, query: { delivery, ...query }, permission }) => {
    const opened = openFactory(deps, factory);
    if (delivery !== undefined) {
      const runs = await listRunsOfDelivery(opened, { delivery, summary: query.summary }, permission);
      return { body: { runs, next: null, hasMore: false, searched: runs.length } };
    }
    const { rows, ...end } = await listRuns(opened, toWanted(query), permission);
    return { body: { runs: rows, ...end } };
  },
  showRunTallies: async (deps, { params: { factory } }) => ({
    body: await showRunTallies(openFactory(deps, factory)),
  }),
  showRun: async (deps, { params: { factory, run } }) => ({
    body: await showRun(openFactory(deps, factory), run),
  }),
  showRunOutput: async (deps, { params: { factory, run }, query: { from } }) => {
    const { size, stream: content } = await readRunOutput(openFactory(deps, factory), run, from);
    return { body: { content, size, mediaType: 'text/plain; charset=utf-8' } };
  },
  downloadArtifact: async (deps, { params: { factory, run, artifact } }) => {
    const { size, stream: content } = await readArtifact(openFactory(deps, factory), run, artifact);
    return { body: { content, size, ...asFile(artifact) } };
  },
  retryRun: async (deps, { params: { factory, run } }) => ({
    body: await retryRun(openFactory(deps, factory), run),
  }),
  runAgain: async (deps, { params: { factory, run }, body }) => ({
    body: await runAgain(openFactory(deps, factory), run, body),
  }),
  runByHand: async (deps, { params: { factory }, body }) => {
    const { automation = '', draft, payload, headers = {}, evenIfDisabled } = body;
    const event = { payload: Buffer.from(payload), headers, evenIfDisabled };
    const started = await runByHand(openFactory(deps, factory), draft ?? automation, event);
    return { body: started, changed: draft?.name ?? automation };
  },
  approveRun: async (deps, { params: { factory, run } }) => ({
    body: await approveRun(openFactory(deps, factory), run, deps.by),
  }),
  dismissRun: async (deps, { params: { factory, run } }) => ({
    body: await dismissRun(openFactory(deps, factory), run),
  }),
  cancelRun: async (deps, { params: { factory, run }, body: { reason } }) => ({
    body: await cancelRun(openFactory(deps, factory), run, { by: deps.by, reason }),
  }),
  listPauses: async (deps, { params: { factory } }) => ({
    body: { pauses: await listPauses(openFactory(deps, factory)) },
  }),
  pauseAutomation: async (deps, { params: { factory, automation }, body: { seconds } }) => ({
    body: await pauseAutomation(openFactory(deps, factory), { automation, seconds, by: deps.by }),
  }),
  resumeAutomation: async (deps, { params: { factory, automation } }) => {
    await resumeAutomation(openFactory(deps, factory), automation);
    return { body: undefined };
  },
};
