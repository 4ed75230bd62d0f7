import type { z } from 'zod';
import type { AppliedStatus } from '../../operations/attention/status.ts';
import type { PlanView } from '../../operations/views/plan-view.ts';
import { findDrift, type ReconcileView } from '../../operations/views/reconcile-view.ts';
import type { Commit } from '../../schema/commit.ts';
import { printable } from '../../schema/text/printable.ts';
import type { sourceAnswer } from '../../schema/views/factories.ts';
import { describeCommit } from './colours.ts';
import { completeCommands } from './own-commands.ts';
import { renderDiagnostics } from './render-diagnostics.ts';

interface Branch {
  readonly repository: string;
  readonly branch: string;
  /** The folder of the definitions; empty at the root. */
  readonly path: string;
}

interface Applied {
  readonly source: z.output<typeof sourceAnswer> | null;
  readonly edited: boolean;
}

/** Compares a factory with the branch that it follows, as the last reconcile found it. For JSON output. */
export function toBranchData(applied: Applied, reconcile: ReconcileView) {
  const { tip, ...told } = reconcile;
  return {
    tip: tip?.revision ?? null,
    upToDate: isUpToDate(applied, reconcile),
    drift: findDrift(applied.source, applied.edited, reconcile),
    lastReconcile: toLastReconcile(reconcile),
    ...told,
  };
}

/** Makes the same comparison for text output. */
export function toBranchFields(applied: Applied, reconcile: ReconcileView): [name: string, value: string][] {
  const { source } = applied;
  const { followed, tip, suspendedAt, lastSuccess, failingSince } = reconcile;
  const fields: [string, string | undefined][] = [
    ['follows', describeBranch(followed)],
    ['revision', source?.kind === 'repository' ? describeCommit(source) : '-'],
    ['tip', tip ? describeTip(applied, reconcile, tip) : '-'],
    ['last success', lastSuccess?.at ?? 'never'],
    ['failing since', failingSince ?? undefined],
    ['suspended since', suspendedAt ?? undefined],
  ];
  return fields.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}

/** The last failure, unless a success followed. */
export function renderBranchFailure({ failingSince, lastFailure }: ReconcileView): string {
  if (failingSince === null || !lastFailure) return '';
  const { message, hint, tip, diagnostics } = lastFailure;
  const where = tip ? ` (at ${describeCommit(tip)})` : '';
  const advice = hint === undefined ? '' : `  hint: ${printable(completeCommands(hint))}\n`;
  return `\n✗ ${renderFailureText(message, where)}\n${advice}${renderDiagnostics(diagnostics, new Map())}`;
}

/** A failure with the place where it happened. What git said has several lines: each stays a line of its own. */
export function renderFailureText(message: string, where: string): string {
  const [first = '', ...more] = message.split('\n').map(printable);
  return [first + printable(where), ...more.map(line => `  ${line}`)].join('\n');
}

/** Says that the tip of the branch was applied before, and what was changed by hand since. */
export function renderTipApplied(
  { base }: Pick<PlanView, 'base'>,
  changedByHand: AppliedStatus['changedByHand'],
): string {
  const changes = changedByHand.map(
    ({ webhook, enabled }) => `${webhook.name} was ${enabled ? 'enabled' : 'disabled'}`,
  );
  const drift = `; changed by hand since: ${changes.join(', ')}. The next commit undoes that`;
  return `${printable(`${base?.branch} has no new commit${changes.length === 0 ? '' : drift}`)}.\n`;
}

function describeTip(applied: Applied, reconcile: ReconcileView, tip: Commit): string {
  if (isUpToDate(applied, reconcile)) return 'applied';
  const { commitsBehind } = reconcile;
  const ahead = commitsBehind ? `, ${commitsBehind} ${commitsBehind === 1 ? 'commit' : 'commits'} ahead` : '';
  return `${describeCommit(tip)}${ahead}`;
}

function isUpToDate({ source, edited }: Applied, reconcile: ReconcileView): boolean {
  const isTip = source?.kind === 'repository' && source.revision === reconcile.tip?.revision;
  return isTip && findDrift(source, edited, reconcile) === null;
}

function toLastReconcile({ failingSince, lastSuccess, lastFailure }: ReconcileView) {
  if (failingSince !== null && lastFailure) {
    const { at, tip, message, diagnostics } = lastFailure;
    return { at, ok: false, revision: tip?.revision ?? null, message, diagnostics };
  }
  return lastSuccess && { at: lastSuccess.at, ok: true, revision: lastSuccess.tip.revision, diagnostics: [] };
}

/** A branch that a factory follows in a few words. */
export function describeBranch({ repository, branch, path }: Branch): string {
  return `${branch} of ${repository}${path === '' ? '' : `, ${path}`}`;
}
