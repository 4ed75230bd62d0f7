import { showStatus } from '../attention/status.ts';
import { requestReconcile, suspendReconcile } from '../branch/reconcile.ts';
import { type HandlersOf, type OperationDeps, openFactory } from './handler.ts';

/** Handles requests for the state of a factory, and the branch that it follows. */
export const factoryHandlers: HandlersOf<'factories'> = {
  showStatus: async (deps, { params: { factory }, permission }) => {
    const status = await showStatus(openFactory(deps, factory), permission, deps.problem);
    return { body: { ...status, permission }, serial: status.serial };
  },
  requestReconcile: async (deps, { params: { factory } }) => ({
    body: { askedAt: await requestReconcile(openFactory(deps, factory)) },
  }),
  suspendReconcile: (deps, { params: { factory } }) => setSuspended(deps, factory, true),
  resumeReconcile: (deps, { params: { factory } }) => setSuspended(deps, factory, false),
};

async function setSuspended(deps: OperationDeps, factory: string, suspended: boolean) {
  const { suspendedAt, isNew } = await suspendReconcile(openFactory(deps, factory), suspended);
  return { body: { suspendedAt }, ...(!isNew && { changed: null }) };
}
