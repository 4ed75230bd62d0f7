import type { Command } from 'commander';
import { applyDefinitions } from '../../operations/apply.ts';
import { type Change, summarize } from '../../operations/plan.ts';
import type { PlannedChanges } from '../../operations/plan-definitions.ts';
import { planFactory } from '../../operations/plan-factory.ts';
import { findOutdatedParts, makePlanFile } from '../../operations/plan-file.ts';
import { forgetFollowed } from '../../operations/reconcile.ts';
import { readRememberedRepository } from '../../operations/remembered-repository.ts';
import { planView } from '../../operations/views/plan-view.ts';
import type { AppliedState } from '../../schema/applied-state.ts';
import { renderIngressUrl } from '../../schema/ingress-url.ts';
import { applyBranch } from '../apply-branch.ts';
import { serverOf } from '../backend/server-client.ts';
import { applyOnServer, type PlanView } from '../backend/server-definitions.ts';
import { type Context, contextOf, openFactory, type Place, placeOf } from '../context.ts';
import { CommandError, exitStatus } from '../exit-status.ts';
import { loadDirectory } from '../load-definitions.ts';
import { printData, printStatus } from '../output.ts';
import { readPlanFile } from '../plan-file.ts';
import { renderDiagnostics } from '../render/render-diagnostics.ts';
import { renderAppliedPlan, renderPlan } from '../render/render-plan.ts';

interface ApplyOptions {
  readonly yes?: true;
  readonly dryRun?: true;
  readonly adopt?: true;
}

/** With the file that `plan --out` wrote, what was reviewed is applied, or nothing. */
export async function apply(planFile: string | undefined, command: Command): Promise<void> {
  const options = command.opts<ApplyOptions>();
  const server = serverOf(command);
  if (server && planFile !== undefined) {
    throw new CommandError('a plan file is of a home: with --server, apply without one', exitStatus.usage);
  }
  if (server) {
    const confirmed = (plan: PlanView) => confirm(placeOf(command), options, plan.changes);
    return applyOnServer(server, options, confirmed, command);
  }
  const context = await contextOf(command);
  const followed = options.adopt ? undefined : await readRememberedRepository(openFactory(context));
  if (followed) return applyBranch(context, followed, planFile !== undefined || options.dryRun === true);
  const reviewed = planFile === undefined ? undefined : readPlanFile(planFile);
  const definitions = loadDirectory(context.directory);
  if (definitions.fileCount === 0 && definitions.diagnostics.length === 0) {
    printStatus(`There are no definitions in ${context.directory}.`);
  }
  const factory = openFactory(context);
  const source = { kind: 'directory' as const, directory: context.directory };
  const refuseIfMoved = (planned: PlannedChanges) => {
    const moved = reviewed
      ? findOutdatedParts(reviewed, makePlanFile(factory.name, definitions, planned))
      : [];
    if (moved.length > 0) throw movedSince(moved);
  };
  const result = options.dryRun
    ? await dryRun(planFactory(factory, definitions), refuseIfMoved)
    : await applyDefinitions(
        factory,
        definitions,
        source,
        async (changes, planned) => {
          refuseIfMoved(planned);
          return reviewed !== undefined || confirm(context, options, changes);
        },
        options,
      );

  process.stderr.write(renderDiagnostics(result.diagnostics, definitions.texts));
  if (result.result === 'invalid') throw new CommandError('nothing was applied');
  if (result.result === 'declined') {
    throw new CommandError('nothing was applied: destroying needs a yes at the prompt, or --yes');
  }
  if (result.result !== 'dry-run' && options.adopt) await forgetFollowed(factory);
  const { changes, state } = result;
  const data = planView(state, changes, context.baseUrl);
  printData(context, data, () => renderApplied(context, changes, state, result.result === 'applied'));
}

async function dryRun(
  planning: ReturnType<typeof planFactory>,
  refuseIfMoved: (planned: PlannedChanges) => void,
) {
  const planned = await planning;
  if (!planned.ok) return { result: 'invalid' as const, diagnostics: planned.diagnostics };
  refuseIfMoved(planned);
  return { result: 'dry-run' as const, ...planned };
}

function movedSince(moved: readonly string[]): CommandError {
  const message = `nothing was applied, for this is not what was planned: ${moved.join('; ')}`;
  return new CommandError(`${message}. Plan again, and have that reviewed.`);
}

/** Destroying cannot be undone, so somebody has to have said yes to it. */
async function confirm(
  { output }: Pick<Place, 'output'>,
  { yes }: ApplyOptions,
  changes: readonly Change[],
): Promise<boolean> {
  const summary = summarize(changes);
  if (summary.destroy === 0 || yes) return true;
  process.stderr.write(renderPlan(changes, summary));
  if (!process.stdin.isTTY || output === 'json') return false;
  const prompts = await import('@inquirer/prompts');
  const message = `Destroy ${summary.destroy}? A webhook's URL never comes back.`;
  return prompts.confirm({ message, default: false }, { output: process.stderr });
}

function renderApplied(
  { baseUrl }: Context,
  changes: readonly Change[],
  { serial, webhooks }: AppliedState,
  applied: boolean,
): string {
  const urls = webhooks.map(webhook => ({ name: webhook.name, url: renderIngressUrl(baseUrl, webhook) }));
  return renderAppliedPlan(changes, serial, urls, applied);
}
