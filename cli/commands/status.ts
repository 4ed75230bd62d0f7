import type { Command } from 'commander';
import { type Summary, summarize } from '../../operations/plan.ts';
import { planFactory } from '../../operations/plan-factory.ts';
import { type AppliedStatus, showStatus } from '../../operations/status.ts';
import { findDrift } from '../../operations/views/reconcile-view.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { callServer, type Server, serverOf } from '../backend/server-client.ts';
import { planFor } from '../backend/server-definitions.ts';
import { branchData, branchFields, branchFindings } from '../branch-status.ts';
import { contextOf, openFactory, type Place, placeOf } from '../context.ts';
import { loadDirectory } from '../load-definitions.ts';
import { printData } from '../output.ts';
import { fieldList } from '../render/table.ts';

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
  const isAsFollowed = reconcile !== null && findDrift(source, edited, reconcile) === null;
  return [
    ['factory', factory],
    ['applied', serial === 0 ? 'nothing yet' : `serial ${serial}, ${appliedAt}`],
    ...(isAsFollowed ? [] : ([['from', originOf(source)]] satisfies [string, string][])),
    ['webhooks', String(webhooks)],
    ['automations', String(automations)],
  ];
}

async function appliedHere(command: Command): Promise<AppliedStatus> {
  return showStatus(openFactory(await contextOf(command)));
}

function appliedOn(server: Server, { factory }: Place): Promise<AppliedStatus> {
  return callServer(server, 'showStatus', { params: { factory } });
}

async function pendingHere(command: Command): Promise<Pending> {
  const context = await contextOf(command);
  const planned = await planFactory(openFactory(context), loadDirectory(context.directory));
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
