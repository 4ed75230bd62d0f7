import type { FollowOptions } from '../../operations/follow-branch.ts';
import type { Change } from '../../operations/plan.ts';
import { type Reconciled, reconcile } from '../../operations/reconcile.ts';
import { planView } from '../../operations/views/plan-view.ts';
import type { AppliedState } from '../../schema/applied-state.ts';
import type { Commit } from '../../schema/commit.ts';
import type { FollowedBranch } from '../../sources/repository/followed-repository.ts';
import { type Context, toOpenFactory } from '../context.ts';
import { CommandError } from '../exit-status.ts';
import { renderProgress, renderReconciled } from '../render/render-reconcile.ts';

export type Allowances = Pick<FollowOptions, 'allowEmpty' | 'allowRename' | 'allowRewind'>;

/** Reconciles once. Prints every step to a terminal; elsewhere it prints only changes and failures. */
export async function runReconcile(
  context: Context,
  followed: FollowedBranch,
  signal: AbortSignal,
  allowances: Allowances = {},
): Promise<Reconciled> {
  const isWatched = process.stderr.isTTY === true;
  const reconciled = await reconcile(toOpenFactory(context), followed, {
    ...allowances,
    environment: process.env,
    signal,
    onProgress: progress => isWatched && process.stderr.write(renderProgress(progress)),
  });
  if (isWatched || reconciled.result === 'applied' || reconciled.result === 'failed')
    process.stderr.write(renderReconciled(reconciled));
  return reconciled;
}

/** The data that `reconcile -o json` prints: that of `apply`, with the result. */
export function toReconcileData({ factory, baseUrl }: Context, reconciled: Reconciled) {
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

export interface ReconciledTip {
  readonly result: 'applied' | 'unchanged';
  readonly tip: Commit;
  readonly state: AppliedState;
  readonly changes: readonly Change[];
}

/** Returns how the tip was applied. Fails, with exit status 1, if it was not. */
export function requireApplied(reconciled: Reconciled): ReconciledTip {
  switch (reconciled.result) {
    case 'applied':
      return reconciled;
    case 'unchanged':
      return { ...reconciled, changes: [] };
    case 'failed':
      // runReconcile has printed the reason.
      throw new CommandError('');
    case 'stopped':
      throw new CommandError('stopped before anything was applied');
    case 'suspended': {
      const hint = 'run `hookmill reconcile resume` to end that';
      throw new CommandError(
        `nothing was applied: reconciling has been suspended since ${reconciled.since}; ${hint}`,
      );
    }
  }
}

/** Creates a signal that aborts when the process is asked to end. */
export function createStopSignal(): AbortSignal {
  const stopping = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stopping.abort());
  return stopping.signal;
}
