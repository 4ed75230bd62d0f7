import { suspendReconcile } from '../../operations/reconcile.ts';
import { readRememberedRepository } from '../../operations/remembered-repository.ts';
import { type Context, toOpenFactory } from '../context.ts';
import { CommandError } from '../exit-status.ts';

/** Suspends or resumes the reconciling of a factory that follows a branch. Returns the time since it is suspended. */
export async function setSuspended(
  context: Pick<Context, 'store' | 'factory'>,
  suspended: boolean,
): Promise<{ factory: string; suspendedAt: string | null }> {
  const { factory } = context;
  if (!(await readRememberedRepository(toOpenFactory(context)))) {
    throw new CommandError(`the factory ${factory} was never reconciled with a repository`);
  }
  return { factory, suspendedAt: await suspendReconcile(toOpenFactory(context), suspended) };
}
