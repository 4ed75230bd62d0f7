import { suspendReconcile } from '../../operations/branch/reconcile.ts';
import { readRememberedRepository } from '../../operations/branch/remembered-repository.ts';
import type { Factory } from '../../operations/factory.ts';
import { CommandError } from '../exit-status.ts';
import { recordOwnChange } from '../record-own-change.ts';

/** Suspends or resumes reconciling. `suspendedAt` is when it was suspended; null after a resume. */
export async function setSuspended(
  factory: Factory,
  suspended: boolean,
): Promise<{ factory: string; suspendedAt: string | null }> {
  const { name, store } = factory;
  if (!(await readRememberedRepository(factory))) {
    throw new CommandError(`the factory ${name} was never reconciled with a repository`);
  }
  const operation = suspended ? 'suspendReconcile' : 'resumeReconcile';
  const { suspendedAt: before } = await store.reconcileStatuses.read(name);
  const suspendedAt = await recordOwnChange(
    { store, factory: name },
    operation,
    '',
    () => suspendReconcile(factory, suspended),
    after => (after === before ? null : ''),
  );
  return { factory: name, suspendedAt };
}
