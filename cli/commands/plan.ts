import type { Command } from 'commander';
import { planFactory } from '../../reconcile/apply.ts';
import { summarize } from '../../reconcile/plan.ts';
import { contextOf, factoryOf } from '../context.ts';
import { CommandError, exitStatus } from '../exit-status.ts';
import { loadDirectory } from '../load-definitions.ts';
import { printData } from '../output.ts';
import { planData } from '../plan-data.ts';
import { renderDiagnostics } from '../render-diagnostics.ts';
import { renderPlan } from '../render-plan.ts';

export async function planCommand(command: Command): Promise<void> {
  const context = await contextOf(command);
  const definitions = loadDirectory(context.directory);
  const planned = await planFactory(factoryOf(context), definitions);
  process.stderr.write(renderDiagnostics(planned.diagnostics, definitions.texts));
  if (!planned.ok) throw new CommandError('the definitions cannot be applied');

  const { changes, state } = planned;
  const summary = summarize(changes);
  const data = planData(context.factory, context.baseUrl, state, changes);
  printData(context, data, () => renderPlan(changes, summary));
  const { detailedExitcode } = command.opts<{ detailedExitcode?: true }>();
  if (detailedExitcode && summary.add + summary.change + summary.destroy > 0)
    process.exitCode = exitStatus.changes;
}
