import type { Command } from 'commander';
import { isEdited } from '../../operations/applied-source.ts';
import { planFactory } from '../../operations/apply.ts';
import { type Summary, summarize } from '../../operations/plan.ts';
import { sourceView } from '../../operations/views/applied-views.ts';
import { driftOf, type ReconcileView, reconcileView } from '../../operations/views/reconcile-view.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { readAppliedState } from '../../store/embedded/applied-states.ts';
import { readReconcileStatus } from '../../store/embedded/reconcile-statuses.ts';
import { callServer, type Server, serverOf } from '../backend/server-client.ts';
import { planFor } from '../backend/server-definitions.ts';
import { branchData, branchFields, branchFindings } from '../branch-status.ts';
import { contextOf, factoryOf, type Place, placeOf } from '../context.ts';
import { loadDirectory } from '../load-definitions.ts';
import { printData } from '../output.ts';
import { fieldList } from '../render/table.ts';

interface AppliedStatus {
  readonly serial: number;
  readonly source: ReturnType<typeof sourceView>;
  readonly appliedAt: string | null;
  readonly webhooks: number;
  readonly automations: number;
  /** A hand changed what a reconcile applied. */
  readonly edited: boolean;
  readonly reconcile: ReconcileView | null;
}

/** What applying the definitions in the directory would do. */
interface Pending {
  readonly summary: Summary | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** What is applied, and how that differs from what is to be: a branch's tip, or else the definitions in the directory. */
export async function status(command: Command): Promise<void> {
  const server = serverOf(command);
  const place = server ? placeOf(command) : await contextOf(command);
  const applied = server ? await appliedOn(server, place) : await appliedHere(command);
  const { reconcile } = applied;
  if (reconcile) {
    printData(place, { ...common(place, applied), ...branchData(applied, reconcile) }, () => {
      const fields = [...commonFields(place, applied), ...branchFields(applied, reconcile)];
      return `${fieldList(fields)}${branchFindings(reconcile)}`;
    });
    return;
  }
  const { summary, diagnostics } = server ? await pendingOn(server, place) : await pendingHere(command);
  const upToDate = summary !== undefined && summary.add + summary.change + summary.destroy === 0;
  const pending = summary
    ? `${summary.add} to add, ${summary.change} to change, ${summary.destroy} to destroy`
    : `the definitions have errors: hookmill validate and hookmill plan show them`;
  const data = { ...common(place, applied), tip: null, upToDate, lastReconcile: null, diagnostics };
  printData(place, data, () =>
    fieldList([...commonFields(place, applied), ['definitions', upToDate ? 'as applied' : pending]]),
  );
}

function common({ factory }: Place, { serial, source, appliedAt, webhooks, automations }: AppliedStatus) {
  const revision = source?.kind === 'repository' ? source.revision : null;
  return { factory, serial, source, revision, appliedAt, webhooks, automations };
}

function commonFields({ factory }: Place, applied: AppliedStatus): [name: string, value: string][] {
  const { serial, source, appliedAt, webhooks, automations, edited, reconcile } = applied;
  const isAsFollowed = reconcile !== null && driftOf(source, edited, reconcile) === null;
  return [
    ['factory', factory],
    ['applied', serial === 0 ? 'nothing yet' : `serial ${serial}, ${appliedAt}`],
    ...(isAsFollowed ? [] : ([['from', originOf(source)]] satisfies [string, string][])),
    ['webhooks', String(webhooks)],
    ['automations', String(automations)],
  ];
}

async function appliedHere(command: Command): Promise<AppliedStatus> {
  const { home, factory } = await contextOf(command);
  const state = await readAppliedState(home, factory);
  return {
    serial: state.serial,
    source: sourceView(state.source),
    appliedAt: state.serial === 0 ? null : state.appliedAt,
    webhooks: state.webhooks.length,
    automations: state.automations.length,
    edited: isEdited(state),
    reconcile: reconcileView(await readReconcileStatus(home, factory)),
  };
}

function appliedOn(server: Server, { factory }: Place): Promise<AppliedStatus> {
  return callServer(server, 'showStatus', { params: { factory } });
}

async function pendingHere(command: Command): Promise<Pending> {
  const context = await contextOf(command);
  const planned = await planFactory(factoryOf(context), loadDirectory(context.directory));
  const { diagnostics } = planned;
  return { summary: planned.ok ? summarize(planned.changes) : undefined, diagnostics };
}

async function pendingOn(server: Server, place: Place): Promise<Pending> {
  const planned = await planFor(server, place);
  if (planned.ok) return { summary: planned.plan.summary, diagnostics: planned.plan.diagnostics };
  return { summary: undefined, diagnostics: planned.diagnostics };
}

function originOf(source: AppliedStatus['source']): string {
  if (source === null) return '-';
  if (source.kind === 'dashboard') return 'the dashboard';
  if (source.kind === 'directory') return source.directory;
  const path = source.path === '' ? '' : `, ${source.path}`;
  return `${source.branch} of ${source.repository}${path}`;
}
