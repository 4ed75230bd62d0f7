import { showStatus } from '../attention/status.ts';
import { requestReconcile, suspendReconcile } from '../branch/reconcile.ts';
import type { OpenFactory } from '../factory.ts';
import { type HandlersOf, showState } from './handler.ts';

/** Handles requests for the state of a factory, and the branch that it follows. */
export const factoryHandlers: HandlersOf<'factories'> = {
  showStatus: async (deps, { permission }) => {
    const status = await showStatus(deps.factory, permission, deps.problem);
    return showState({ ...status, permission });
  },
  requestReconcile: async ({ factory }) => ({ body: { askedAt: await requestReconcile(factory) } }),
  suspendReconcile: ({ factory }) => setSuspended(factory, true),
  resumeReconcile: ({ factory }) => setSuspended(factory, false),
};

async function setSuspended(factory: OpenFactory, suspended: boolean) {
  const { suspendedAt, isNew } = await suspendReconcile(factory, suspended);
  return { body: { suspendedAt }, ...(!isNew && { changed: null }) };
}
