import { planView } from '../../operations/views/plan-view.ts';
import { type FollowedRepository, toFollowedBranch } from '../../sources/repository/followed-repository.ts';
import type { ApplyOptions, ApplyResult } from '../backend/backend.ts';
import { listUrls } from '../backend/list-urls.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../exit-status.ts';
import { printable } from '../render/printable.ts';
import { createStopSignal, requireApplied, runReconcile } from './run-reconcile.ts';

/** Applies the tip of the production branch that a factory follows. Plans of the work tree are refused. */
export async function applyBranch(
  context: Context,
  followed: FollowedRepository,
  { planFile, dryRun, onNote }: Pick<ApplyOptions, 'planFile' | 'dryRun' | 'onNote'>,
): Promise<ApplyResult> {
  const follows = `the factory ${context.factory} follows ${followed.branch} of ${followed.repository}`;
  if (planFile !== undefined || dryRun) {
    const hint = 'run `hookmill plan` to compare the work tree with the applied state';
    throw new UsageError(`${follows}: a plan of the work tree cannot be applied; ${hint}`);
  }
  onNote(printable(`${follows}: the work tree is ignored.`));
  const reconciled = await runReconcile(context, toFollowedBranch(followed), createStopSignal());
  const { result, tip, state, changes } = requireApplied(reconciled);
  return {
    result,
    tip,
    plan: planView(state, changes, context.baseUrl),
    webhooks: listUrls(state, context),
    // The reconcile has printed its findings.
    diagnostics: [],
    texts: new Map(),
  };
}
