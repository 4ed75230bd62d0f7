import type { FollowProgress } from '../../operations/follow-branch.ts';
import { summarize } from '../../operations/plan.ts';
import type { Reconciled } from '../../operations/reconcile.ts';
import { colours } from './colours.ts';
import { describeCommit, shortenRevision } from './describe-commit.ts';
import { printable } from './printable.ts';
import { renderDiagnostics } from './render-diagnostics.ts';

/** One line for a step of a running reconcile. */
export function renderProgress(progress: FollowProgress): string {
  return `${step} ${printable(describeStep(progress))}\n`;
}

function describeStep(progress: FollowProgress): string {
  switch (progress.step) {
    case 'look':
      return `checking ${progress.repository.branch} of ${progress.repository.url}`;
    case 'fetch':
      return `fetching ${shortenRevision(progress.revision)}`;
    case 'apply':
      return `applying ${describeCommit(progress.tip)}`;
  }
}

/** How a reconcile ended. */
export function renderReconciled(reconciled: Reconciled): string {
  switch (reconciled.result) {
    case 'unchanged':
      return `${good} up to date\n`;
    case 'applied': {
      const { add, change, destroy } = summarize(reconciled.changes);
      const counts = `${add} added, ${change} changed, ${destroy} destroyed`;
      const warnings = renderDiagnostics(reconciled.diagnostics, reconciled.texts);
      return `${warnings}${good} applied as serial ${reconciled.state.serial}: ${counts}\n`;
    }
    case 'failed': {
      const { message, hint, tip, diagnostics, texts } = reconciled;
      const where = tip ? ` (at ${describeCommit(tip)})` : '';
      const advice = hint === undefined ? '' : `  ${colours.cyan('hint:')} ${printable(hint)}\n`;
      const findings = renderDiagnostics(diagnostics, texts);
      return `${findings}${bad} ${printable(message)}${printable(where)}\n${advice}`;
    }
    case 'suspended':
      return `${step} reconciling has been suspended since ${reconciled.since}\n`;
    case 'stopped':
      return `${step} stopped\n`;
  }
}

const step = colours.cyan('►');
const good = colours.green('✔');
const bad = colours.red('✗');
