import type { Command } from 'commander';
import { planFactory } from '../../reconcile/apply.ts';
import { summarize } from '../../reconcile/plan.ts';
import type { AppliedSource } from '../../schema/applied-state.ts';
import { readAppliedState } from '../../store/applied-state-store.ts';
import { contextOf, factoryOf } from '../context.ts';
import { loadDirectory } from '../load-definitions.ts';
import { printData } from '../output.ts';
import { fieldList } from '../table.ts';

export async function status(command: Command): Promise<void> {
  const context = await contextOf(command);
  const state = await readAppliedState(context.home, context.factory);
  const planned = await planFactory(factoryOf(context), loadDirectory(context.directory));
  const summary = planned.ok ? summarize(planned.changes) : undefined;
  const upToDate = summary !== undefined && summary.add + summary.change + summary.destroy === 0;

  const data = {
    factory: context.factory,
    serial: state.serial,
    source: state.source,
    revision: state.source?.kind === 'repository' ? state.source.revision : null,
    tip: null,
    upToDate,
    lastReconcile: null,
    appliedAt: state.serial === 0 ? null : state.appliedAt,
    webhooks: state.webhooks.length,
    automations: state.automations.length,
    diagnostics: planned.diagnostics,
  };
  const pending = summary
    ? `${summary.add} to add, ${summary.change} to change, ${summary.destroy} to destroy`
    : `the definitions have errors: hookmill validate and hookmill plan show them`;
  printData(context, data, () =>
    fieldList([
      ['factory', context.factory],
      ['applied', state.serial === 0 ? 'nothing yet' : `serial ${state.serial}, ${state.appliedAt}`],
      ['from', originOf(state.source)],
      ['webhooks', String(state.webhooks.length)],
      ['automations', String(state.automations.length)],
      ['definitions', upToDate ? 'as applied' : pending],
    ]),
  );
}

function originOf(source: AppliedSource | null): string {
  if (source === null) return '-';
  if (source.kind === 'dashboard') return 'the dashboard';
  return source.kind === 'directory' ? source.directory : source.repository;
}
