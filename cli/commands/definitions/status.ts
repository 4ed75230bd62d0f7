import type { Command } from 'commander';
import type { Summary } from '../../../operations/plan.ts';
import type { AppliedStatus } from '../../../operations/status.ts';
import { findDrift } from '../../../operations/views/reconcile-view.ts';
import type { OpenBackend, PlanResult } from '../../backend/backend.ts';
import type { Place } from '../../global-options.ts';
import { printData } from '../../output.ts';
import { describeBranch } from '../../render/describe-branch.ts';
import { renderBranchFailure, toBranchData, toBranchFields } from '../../render/render-branch.ts';
import { renderCounts } from '../../render/render-counts.ts';
import { renderFields } from '../../render/render-table.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill status`. */
export function declareStatus(parent: Command, openBackend: OpenBackend): Command {
  return addCommand(
    parent,
    'status',
    'show what is applied, and how the definitions or the branch differ from it',
    `
Examples:
  hookmill status
  hookmill status -o json`,
  ).action(async (_, command: Command) => status(command, openBackend));
}

/** Compares the applied state with the branch that the factory follows, otherwise with the definitions directory. */
async function status(command: Command, openBackend: OpenBackend): Promise<void> {
  const { backend, ...place } = await openBackend(command);
  const applied = await backend.showStatus();
  const { reconcile } = applied;
  if (reconcile) {
    const data = { ...toCommonData(place, applied), ...toBranchData(applied, reconcile) };
    printData(place.output, data, () => {
      const fields = [...toCommonFields(place, applied), ...toBranchFields(applied, reconcile)];
      return `${renderFields(fields)}${renderBranchFailure(reconcile)}`;
    });
    return;
  }
  const planned = await backend.plan({ withImpact: false, onNote: () => undefined });
  const upToDate = planned.ok && isEmpty(planned.plan.summary);
  const { diagnostics } = planned;
  const data = { ...toCommonData(place, applied), tip: null, upToDate, lastReconcile: null, diagnostics };
  printData(place.output, data, () =>
    renderFields([...toCommonFields(place, applied), ['definitions', describePending(planned)]]),
  );
}

function describePending(planned: PlanResult): string {
  if (!planned.ok) return 'the definitions have errors: run `hookmill plan` to see them';
  const { summary } = planned.plan;
  return isEmpty(summary) ? 'up to date' : renderCounts(summary);
}

function isEmpty({ add, change, destroy }: Summary): boolean {
  return add + change + destroy === 0;
}

function toCommonData({ factory }: Place, applied: AppliedStatus) {
  const { serial, source, revision, appliedAt, webhooks, automations } = applied;
  return { factory, serial, source, revision, appliedAt, webhooks, automations };
}

function toCommonFields({ factory }: Place, applied: AppliedStatus): [name: string, value: string][] {
  const { serial, source, appliedAt, webhooks, automations, edited, reconcile } = applied;
  const isAsFollowed = reconcile !== null && findDrift(source, edited, reconcile) === null;
  return [
    ['factory', factory],
    ['applied', serial === 0 ? 'nothing yet' : `serial ${serial}, ${appliedAt}`],
    ...(isAsFollowed ? [] : ([['from', describeSource(source)]] satisfies [string, string][])),
    ...(edited && reconcile === null ? ([['edited', editedText]] satisfies [string, string][]) : []),
    ['webhooks', String(webhooks)],
    ['automations', String(automations)],
  ];
}

const editedText = 'someone edited the applied state by hand; the next apply undoes that';

function describeSource(source: AppliedStatus['source']): string {
  if (source === null) return '-';
  if (source.kind === 'dashboard') return 'the dashboard';
  if (source.kind === 'directory') return source.directory;
  return describeBranch(source);
}
