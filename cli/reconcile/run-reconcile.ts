import type { FollowOptions } from '../../operations/follow-branch.ts';
import { type Reconciled, reconcile } from '../../operations/reconcile.ts';
import { planView } from '../../operations/views/plan-view.ts';
import type { FollowedBranch } from '../../sources/repository/followed-repository.ts';
import { type Context, openFactory } from '../context.ts';
import { CommandError } from '../exit-status.ts';
import { renderProgress, renderReconciled } from '../render/render-reconcile.ts';

export type Allowances = Pick<FollowOptions, 'allowEmpty' | 'allowRename' | 'allowRewind'>;

/** Reconciles once. Tells its steps to a terminal alone, and how it ended to anyone whom it concerns. */
export async function runReconcile(
  context: Context,
  followed: FollowedBranch,
  signal: AbortSignal,
  allowances: Allowances = {},
): Promise<Reconciled> {
  const isWatched = process.stderr.isTTY === true;
  const reconciled = await reconcile(openFactory(context), followed, {
    ...allowances,
    environment: process.env,
    signal,
    onProgress: progress => isWatched && process.stderr.write(renderProgress(progress)),
  });
  // Where nobody watches: what changed, and what is wrong.
  if (isWatched || reconciled.result === 'applied' || reconciled.result === 'failed')
    process.stderr.write(renderReconciled(reconciled));
  return reconciled;
}

/** What `reconcile -o json` prints: as `apply` does, with how it ended. */
export function reconcileData({ factory, baseUrl }: Context, reconciled: Reconciled) {
  const { result } = reconciled;
  if (result === 'suspended') return { factory, result, since: reconciled.since };
  if (result === 'stopped') return { factory, result };
  const { tip } = reconciled;
  if (result === 'failed') {
    const { reason, message, hint, commitsBehind, diagnostics } = reconciled;
    return { factory, result, tip, reason, message, hint, commitsBehind, diagnostics };
  }
  const changes = result === 'applied' ? reconciled.changes : [];
  return { result, tip, ...planView(reconciled.state, changes, baseUrl) };
}

/** Ends the command with exit status 1 unless the tip is what is applied. */
export function failUnlessApplied(reconciled: Reconciled): void {
  // What is wrong was told as it came.
  if (reconciled.result === 'failed') throw new CommandError('');
  if (reconciled.result === 'stopped') throw new CommandError('stopped before anything was applied');
  if (reconciled.result !== 'suspended') return;
  const hint = 'hookmill reconcile resume ends that';
  throw new CommandError(`nothing was applied: reconciling is suspended since ${reconciled.since}; ${hint}`);
}

/** A signal that comes when the process is asked to end. */
export function signalOfEnd(): AbortSignal {
  const ending = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => ending.abort());
  return ending.signal;
}
