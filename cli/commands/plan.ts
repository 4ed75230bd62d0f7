import type { Command } from 'commander';
import { planFactory } from '../../operations/apply.ts';
import { type Impact, impactOf } from '../../operations/impact.ts';
import { type Change, summarize } from '../../operations/plan.ts';
import { planFileOf } from '../../operations/plan-file.ts';
import { readRememberedRepository } from '../../operations/remembered-repository.ts';
import type { AppliedState } from '../../schema/applied-state.ts';
import type { Definitions } from '../../sources/definitions.ts';
import { serverOf } from '../backend/server-client.ts';
import { planOnServer } from '../backend/server-definitions.ts';
import { type Context, contextOf, factoryOf } from '../context.ts';
import { withHistory } from '../delivery-history.ts';
import { CommandError, exitStatus } from '../exit-status.ts';
import { loadDirectory } from '../load-definitions.ts';
import { printData, printStatus } from '../output.ts';
import { writePlanFile } from '../plan-file.ts';
import { impactSentences } from '../render/impact-text.ts';
import { planData } from '../render/plan-data.ts';
import { planMarkdown, refusalMarkdown } from '../render/plan-markdown.ts';
import { printable } from '../render/printable.ts';
import { renderDiagnostics } from '../render/render-diagnostics.ts';
import { renderPlan } from '../render/render-plan.ts';

interface PlanOptions {
  readonly output: 'text' | 'json' | 'markdown';
  readonly detailedExitcode?: true;
  readonly out?: string;
}

export async function planCommand(command: Command): Promise<void> {
  const server = serverOf(command);
  if (server) return planOnServer(server, command);
  const context = await contextOf(command);
  const { output, detailedExitcode, out }: PlanOptions = command.optsWithGlobals();
  await tellOfBranch(context);
  const definitions = loadDirectory(context.directory);
  const planned = await planFactory(factoryOf(context), definitions);
  const { diagnostics } = planned;
  process.stderr.write(renderDiagnostics(diagnostics, definitions.texts));
  if (!planned.ok) {
    if (output === 'markdown') process.stdout.write(refusalMarkdown(context.factory, diagnostics));
    throw new CommandError('the definitions cannot be applied');
  }

  if (out !== undefined) await writePlanFile(out, planFileOf(context.factory, definitions, planned));
  const { changes, state } = planned;
  const summary = summarize(changes);
  const nowMs = Date.now();
  const impacts = impactsOf(context, definitions, state, changes, nowMs);
  const sentencesOf = (change: Change) => {
    const impact = impacts.get(change);
    return impact ? impactSentences(impact, nowMs) : [];
  };
  if (output === 'markdown') {
    const explained = changes.map(change => ({ change, sentences: sentencesOf(change) }));
    process.stdout.write(planMarkdown(context.factory, state.serial, summary, explained, diagnostics));
  } else {
    const data = planData(context.factory, context.baseUrl, state, changes, impacts);
    printData(context, data, () => renderPlan(changes, summary, sentencesOf));
  }
  if (detailedExitcode && summary.add + summary.change + summary.destroy > 0)
    process.exitCode = exitStatus.changes;
}

/** What is planned from a work tree is not what will be applied. */
async function tellOfBranch({ home, factory }: Context): Promise<void> {
  const followed = await readRememberedRepository(home, factory);
  if (!followed) return;
  const { branch, repository } = followed;
  const message = `the factory ${factory} follows ${branch} of ${repository}: this is what merging the work tree would change.`;
  printStatus(printable(message));
}

function impactsOf(
  context: Context,
  definitions: Definitions,
  state: AppliedState,
  changes: readonly Change[],
  nowMs: number,
): ReadonlyMap<Change, Impact> {
  return withHistory(context, nowMs, history => {
    const found = changes.map(change => [change, impactOf(change, definitions, state, history)] as const);
    return new Map(found.flatMap(([change, impact]) => (impact ? [[change, impact] as const] : [])));
  });
}
