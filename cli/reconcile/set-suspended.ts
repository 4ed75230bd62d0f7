import type { Factory } from '../../operations/factory.ts';
import { suspendReconcile } from '../../operations/reconcile.ts';
import { readRememberedRepository } from '../../operations/remembered-repository.ts';
import { CommandError } from '../exit-status.ts';

/** Suspends or resumes reconciling. `suspendedAt` is when it was suspended; null after a resume. */
export async function setSuspended(
  factory: Factory,
  suspended: boolean,
): Promise<{ factory: string; suspendedAt: string | null }> {
  const { name } = factory;
  if (!(await readRememberedRepository(factory))) {
    throw new CommandError(`the factory ${name} was never reconciled with a repository`);
  }
  return { factory: name, suspendedAt: await suspendReconcile(factory, suspended) };
}
