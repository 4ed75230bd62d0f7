import type { Command } from 'commander';
import { openHistory } from '../../operations/history.ts';
import { findImpacts, type Impact } from '../../operations/impact.ts';
import { type Change, summarize } from '../../operations/plan.ts';
import type { PlannedChanges } from '../../operations/plan-definitions.ts';
import { planFactory } from '../../operations/plan-factory.ts';
import { makePlanFile } from '../../operations/plan-file.ts';
import { readRememberedRepository } from '../../operations/remembered-repository.ts';
import { planView } from '../../operations/views/plan-view.ts';
import type { Definitions } from '../../sources/definitions.ts';
import { DeliveryLogError } from '../../store/delivery-log-error.ts';
import { serverOf } from '../backend/server-client.ts';
import { planOnServer } from '../backend/server-definitions.ts';
import { type Context, contextOf, openFactory } from '../context.ts';
import { CommandError, exitStatus } from '../exit-status.ts';
import { loadDirectory } from '../load-definitions.ts';
import { printData, printStatus } from '../output.ts';
import { writePlanFile } from '../plan-file.ts';
import { impactSentences } from '../render/impact-text.ts';
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
  const planned = await planFactory(openFactory(context), definitions);
  const { diagnostics } = planned;
  process.stderr.write(renderDiagnostics(diagnostics, definitions.texts));
  if (!planned.ok) {
    if (output === 'markdown') process.stdout.write(refusalMarkdown(context.factory, diagnostics));
    throw new CommandError('the definitions cannot be applied');
  }

  if (out !== undefined) await writePlanFile(out, makePlanFile(context.factory, definitions, planned));
  const { changes, state } = planned;
  const summary = summarize(changes);
  const nowMs = Date.now();
  const impacts = await readImpacts(context, definitions, planned);
  const sentencesOf = (change: Change) => {
    const impact = impacts.get(change);
    return impact ? impactSentences(impact, nowMs) : [];
  };
  if (output === 'markdown') {
    const explained = changes.map(change => ({ change, sentences: sentencesOf(change) }));
    process.stdout.write(planMarkdown(context.factory, state.serial, summary, explained, diagnostics));
  } else {
    const data = planView(state, changes, context.baseUrl, impacts);
    printData(context, data, () => renderPlan(changes, summary, sentencesOf));
  }
  if (detailedExitcode && summary.add + summary.change + summary.destroy > 0)
    process.exitCode = exitStatus.changes;
}

/** What is planned from a work tree is not what will be applied. */
async function tellOfBranch(context: Context): Promise<void> {
  const { factory } = context;
  const followed = await readRememberedRepository(openFactory(context));
  if (!followed) return;
  const { branch, repository } = followed;
  const message = `the factory ${factory} follows ${branch} of ${repository}: this is what merging the work tree would change.`;
  printStatus(printable(message));
}

/** A plan is useful without its impact as well. */
async function readImpacts(context: Context, definitions: Definitions, { state, changes }: PlannedChanges) {
  try {
    return await findImpacts(changes, definitions, state, openHistory(openFactory(context)));
  } catch (error) {
    if (!(error instanceof DeliveryLogError)) throw error;
    printStatus(`The plan is made without the delivery log: ${error.message}.`);
    return new Map<Change, Impact>();
  }
}
