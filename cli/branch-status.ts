import type { z } from 'zod';
import { type Drift, findDrift, type ReconcileView } from '../operations/views/reconcile-view.ts';
import type { sourceAnswer } from '../schema/api/answers.ts';
import type { Commit } from '../schema/commit.ts';
import { printable } from './render/printable.ts';
import { renderDiagnostics } from './render/render-diagnostics.ts';
import { describeCommit } from './render/render-reconcile.ts';

interface Applied {
  readonly source: z.output<typeof sourceAnswer> | null;
  readonly edited: boolean;
}

/** How a factory stands to the branch that it follows, as JSON. What is known of the branch is from the last look. */
export function branchData(applied: Applied, reconcile: ReconcileView) {
  const { tip, ...told } = reconcile;
  return {
    tip: tip?.revision ?? null,
    upToDate: isUpToDate(applied, reconcile),
    drift: findDrift(applied.source, applied.edited, reconcile),
    lastReconcile: lastReconcile(reconcile),
    ...told,
  };
}

/** The same for people. */
export function branchFields(applied: Applied, reconcile: ReconcileView): [name: string, value: string][] {
  const { source, edited } = applied;
  const { followed, tip, suspendedAt, lastSuccess, failingSince } = reconcile;
  const drift = findDrift(source, edited, reconcile);
  const path = followed.path === '' ? '' : `, ${followed.path}`;
  const fields: [string, string | undefined][] = [
    ['follows', `${followed.branch} of ${followed.repository}${path}`],
    ['revision', source?.kind === 'repository' ? describeCommit(source) : '-'],
    ['tip', tip ? tipText(applied, reconcile, tip) : '-'],
    ['drift', drift === null ? undefined : driftTexts[drift]],
    ['last success', lastSuccess?.at ?? 'never'],
    ['failing since', failingSince ?? undefined],
    ['suspended since', suspendedAt ?? undefined],
  ];
  return fields.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}

/** What is wrong now, below the fields. */
export function branchFindings({ failingSince, lastFailure }: ReconcileView): string {
  if (failingSince === null || !lastFailure) return '';
  const { message, hint, tip, diagnostics } = lastFailure;
  const where = tip ? ` (at ${describeCommit(tip)})` : '';
  const advice = hint === undefined ? '' : `  hint: ${printable(hint)}\n`;
  return `\n✗ ${printable(message + where)}\n${advice}${renderDiagnostics(diagnostics, new Map())}`;
}

function tipText(applied: Applied, reconcile: ReconcileView, tip: Commit): string {
  if (isUpToDate(applied, reconcile)) return 'as applied';
  const { commitsBehind } = reconcile;
  const ahead = commitsBehind ? `, ${commitsBehind} ${commitsBehind === 1 ? 'commit' : 'commits'} ahead` : '';
  return `${describeCommit(tip)}${ahead}`;
}

const driftTexts: Readonly<Record<Drift, string>> = {
  edited: 'a hand edited the applied state; the next reconcile takes that back',
  'work-tree': 'a work tree was applied; the next reconcile takes that back',
  'other-branch': 'what is applied comes from elsewhere',
};

function isUpToDate({ source, edited }: Applied, reconcile: ReconcileView): boolean {
  const isTip = source?.kind === 'repository' && source.revision === reconcile.tip?.revision;
  return isTip && findDrift(source, edited, reconcile) === null;
}

function lastReconcile({ failingSince, lastSuccess, lastFailure }: ReconcileView) {
  if (failingSince !== null && lastFailure) {
    const { at, tip, message, diagnostics } = lastFailure;
    return { at, ok: false, revision: tip?.revision ?? null, message, diagnostics };
  }
  return lastSuccess && { at: lastSuccess.at, ok: true, revision: lastSuccess.tip.revision, diagnostics: [] };
}
