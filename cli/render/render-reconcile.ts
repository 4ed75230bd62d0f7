import type { FollowProgress } from '../../operations/follow-branch.ts';
import { summarize } from '../../operations/plan.ts';
import type { Reconciled } from '../../operations/reconcile.ts';
import type { Commit } from '../../schema/commit.ts';
import { colours } from './colours.ts';
import { printable } from './printable.ts';
import { renderDiagnostics } from './render-diagnostics.ts';

/** A step of a reconcile that is under way, as a line. */
export function renderProgress(progress: FollowProgress): string {
  return `${step} ${printable(stepOf(progress))}\n`;
}

function stepOf(progress: FollowProgress): string {
  switch (progress.step) {
    case 'look':
      return `looking at ${progress.repository.branch} of ${progress.repository.url}`;
    case 'fetch':
      return `fetching ${shortRevision(progress.revision)}`;
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
      return `${step} reconciling is suspended since ${reconciled.since}\n`;
    case 'stopped':
      return `${step} stopped\n`;
  }
}

/** Author and subject are whatever their committer wrote: the line is to be escaped. */
export function describeCommit({ revision, subject, author }: Commit): string {
  return `${shortRevision(revision)} "${subject}" (${author})`;
}

export function shortRevision(revision: string): string {
  return revision.slice(0, 7);
}

const step = colours.cyan('►');
const good = colours.green('✔');
const bad = colours.red('✗');
