import { readStoredBody } from '../log/deliveries.ts';
import {
  approveRun,
  cancelRun,
  dismissRun,
  listPauses,
  pauseAutomation,
  readArtifact,
  readRunOutput,
  resumeAutomation,
  retryRun,
} from '../log/runs.ts';
import { type Handlers, openFactory } from './handler.ts';

/** Handles requests that download from a factory's delivery log, or act on one run, or on the runs of an automation. */
export const logHandlers: Pick<
  Handlers,
  | 'downloadPayload'
  | 'showRunOutput'
  | 'downloadArtifact'
  | 'retryRun'
  | 'dismissRun'
  | 'cancelRun'
  | 'approveRun'
  | 'listPauses'
  | 'pauseAutomation'
  | 'resumeAutomation'
> = {
  downloadPayload: async (deps, { params: { factory, delivery } }) => {
    const { content, isForm } = await readStoredBody(openFactory(deps, factory), delivery);
    return { body: { content, size: content.length, ...asFile(`${delivery}.${isForm ? 'txt' : 'json'}`) } };
  },
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
  dismissRun: async (deps, { params: { factory, run } }) => ({
    body: await dismissRun(openFactory(deps, factory), run),
  }),
  cancelRun: async (deps, { params: { factory, run }, body: { reason } }) => ({
    body: await cancelRun(openFactory(deps, factory), run, { by: deps.by, reason }),
  }),
  approveRun: async (deps, { params: { factory, run } }) => ({
    body: await approveRun(openFactory(deps, factory), run, deps.by),
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

function asFile(fileName: string) {
  return { mediaType: 'application/octet-stream', fileName };
}
