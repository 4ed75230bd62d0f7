import { ingressUrl } from '../../schema/ingress-url.ts';
import { type FollowedRepository, toFollowedBranch } from '../../sources/repository/followed-repository.ts';
import type { Context } from '../context.ts';
import { CommandError, exitStatus } from '../exit-status.ts';
import { printData, printStatus } from '../output.ts';
import { printable } from '../render/printable.ts';
import { renderAppliedPlan } from '../render/render-plan.ts';
import { failUnlessApplied, reconcileData, runReconcile, signalOfEnd } from './run-reconcile.ts';

/** `apply` in a repository-backed factory: the tip of the production branch, reviewed there, and nothing else. */
export async function applyBranch(
  context: Context,
  followed: FollowedRepository,
  isWorkTreeMeant: boolean,
): Promise<void> {
  const follows = `the factory ${context.factory} follows ${followed.branch} of ${followed.repository}`;
  if (isWorkTreeMeant) {
    const hint = '`hookmill plan` shows the work tree against what is applied';
    throw new CommandError(
      `${follows}: a plan of the work tree cannot be applied; ${hint}`,
      exitStatus.usage,
    );
  }
  printStatus(printable(`${follows}: the work tree is not looked at.`));
  const reconciled = await runReconcile(context, toFollowedBranch(followed), signalOfEnd());
  failUnlessApplied(reconciled);
  if (reconciled.result !== 'applied' && reconciled.result !== 'unchanged') return;
  const { serial, webhooks } = reconciled.state;
  const changes = reconciled.result === 'applied' ? reconciled.changes : [];
  const urls = webhooks.map(webhook => ({ name: webhook.name, url: ingressUrl(context.baseUrl, webhook) }));
  printData(context, reconcileData(context, reconciled), () =>
    renderAppliedPlan(changes, serial, urls, reconciled.result === 'applied'),
  );
}
