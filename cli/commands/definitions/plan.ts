import { openBackend } from '../../backend/open-backend.ts';
import { CommandError, exitStatus } from '../../exit-status.ts';
import { printData, printFindings, printStatus, printText } from '../../output.ts';
import { renderDiagnostics } from '../../render/render-diagnostics.ts';
import { judgePlan, planVerdicts, renderPlan } from '../../render/render-plan.ts';
import { renderPlanMarkdown } from '../../render/render-plan-markdown.ts';
import { locateInRepository } from '../../work-tree.ts';
import type { CliCommand } from '../cli-command.ts';

/** Declares `hookmill plan`. */
export function declarePlan(command: CliCommand): void {
  command
    .explain(`show what an apply would change

The plan names each changed part of a definition, with its value before and after, and what that means for senders and
runs. For this it reads the delivery log: when and how often a webhook was used, and which stored deliveries a changed
automation would treat differently.

A file with an error does not hide the plan of the others. If the factory follows a branch, the plan is of the merge of
the git work tree into that branch, as far as it was fetched. It also says what would be refused after the merge, and the
command that allows it. The exit status is 1 in both cases.

With --watch, plans again whenever a file of the definitions directory has changed, until Ctrl-C.

Examples:
  hookmill plan
  hookmill plan --detailed-exitcode -o markdown > comment.md`)
    .option(
      '--detailed-exitcode',
      'set the exit status: 0 for no changes, 1 for any error, 2 only for changes',
    )
    .option('--out <file>', 'also write the plan to a file, for hookmill apply <file>')
    .option('--watch', 'plan again whenever a definition has changed')
    .action(async (_, command: CliCommand) => plan(command));
}

interface PlanCommandOptions {
  readonly output: 'text' | 'json' | 'markdown';
  readonly detailedExitcode?: true;
  readonly out?: string;
  readonly watch?: true;
}

async function plan(command: CliCommand): Promise<void> {
  const options: PlanCommandOptions = command.optsWithGlobals();
  const { output, detailedExitcode, out } = options;
  if (!options.watch) return printPlan(options, await openBackend(command));
  const { refuseWithWatch, watchDefinitions } = await import('../../definitions/watch-definitions.ts');
  refuseWithWatch({
    [`-o ${output}`]: output !== 'text',
    '--out': out !== undefined,
    '--detailed-exitcode': detailedExitcode !== undefined,
  });
  const opened = await openBackend(command);
  await watchDefinitions([opened.directory], () => printPlan(options, opened));
}

async function printPlan(
  { output, detailedExitcode, out }: PlanCommandOptions,
  { backend, directory }: Awaited<ReturnType<typeof openBackend>>,
): Promise<void> {
  const { plan, diagnostics, texts } = await backend.plan({ withImpact: true, out, onNote: printStatus });
  const verdict = judgePlan(plan, diagnostics);
  printFindings(renderDiagnostics(diagnostics, texts));
  const nowMs = Date.now();
  if (output === 'markdown')
    printText(renderPlanMarkdown(plan, diagnostics, nowMs, locateInRepository(directory, process.env)));
  else {
    const data = { ...plan, ok: verdict === 'applicable', diagnostics };
    printData(output, data, () => renderPlan(plan, nowMs, verdict === 'incomplete'));
  }
  if (verdict !== 'applicable') throw new CommandError(planVerdicts[verdict]);
  const { add, change, destroy } = plan.summary;
  if (detailedExitcode && add + change + destroy > 0) process.exitCode = exitStatus.changes;
}
