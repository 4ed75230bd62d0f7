import type { Command } from 'commander';
import { sourceView } from '../../reconcile/applied-views.ts';
import { planFactory } from '../../reconcile/apply.ts';
import { type Summary, summarize } from '../../reconcile/plan.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { readAppliedState } from '../../store/applied-state-store.ts';
import { contextOf, factoryOf, type Place, placeOf } from '../context.ts';
import { loadDirectory } from '../load-definitions.ts';
import { printData } from '../output.ts';
import { callServer, type Server, serverOf } from '../server-client.ts';
import { planFor } from '../server-definitions.ts';
import { fieldList } from '../table.ts';

/** What is applied, and what the definitions in the directory would change. */
interface Status {
  readonly serial: number;
  readonly source: AppliedSourceView | null;
  readonly appliedAt: string | null;
  readonly webhooks: number;
  readonly automations: number;
  readonly summary: Summary | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

type AppliedSourceView = NonNullable<ReturnType<typeof sourceView>>;

export async function status(command: Command): Promise<void> {
  const server = serverOf(command);
  const place = server ? placeOf(command) : await contextOf(command);
  const { summary, ...told } = server ? await statusOf(server, place) : await statusHere(command);
  const upToDate = summary !== undefined && summary.add + summary.change + summary.destroy === 0;

  const { serial, source, appliedAt, webhooks, automations, diagnostics } = told;
  const data = {
    factory: place.factory,
    serial,
    source,
    revision: source?.kind === 'repository' ? source.revision : null,
    tip: null,
    upToDate,
    lastReconcile: null,
    appliedAt,
    webhooks,
    automations,
    diagnostics,
  };
  const pending = summary
    ? `${summary.add} to add, ${summary.change} to change, ${summary.destroy} to destroy`
    : `the definitions have errors: hookmill validate and hookmill plan show them`;
  printData(place, data, () =>
    fieldList([
      ['factory', place.factory],
      ['applied', serial === 0 ? 'nothing yet' : `serial ${serial}, ${appliedAt}`],
      ['from', originOf(source)],
      ['webhooks', String(webhooks)],
      ['automations', String(automations)],
      ['definitions', upToDate ? 'as applied' : pending],
    ]),
  );
}

async function statusHere(command: Command): Promise<Status> {
  const context = await contextOf(command);
  const state = await readAppliedState(context.home, context.factory);
  const planned = await planFactory(factoryOf(context), loadDirectory(context.directory));
  return {
    serial: state.serial,
    source: sourceView(state.source),
    appliedAt: state.serial === 0 ? null : state.appliedAt,
    webhooks: state.webhooks.length,
    automations: state.automations.length,
    summary: planned.ok ? summarize(planned.changes) : undefined,
    diagnostics: planned.diagnostics,
  };
}

async function statusOf(server: Server, place: Place): Promise<Status> {
  const { factory } = place;
  const applied = await callServer(server, 'showStatus', { params: { factory } });
  const planned = await planFor(server, place);
  const summary = planned.ok ? planned.plan.summary : undefined;
  return { ...applied, summary, diagnostics: planned.ok ? planned.plan.diagnostics : planned.diagnostics };
}

function originOf(source: AppliedSourceView | null): string {
  if (source === null) return '-';
  if (source.kind === 'dashboard') return 'the dashboard';
  return source.kind === 'directory' ? source.directory : source.repository;
}
