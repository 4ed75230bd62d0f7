import { openBackend } from '../../backend/open-backend.ts';
import { CommandError, exitStatus } from '../../exit-status.ts';
import { printData, printFindings, printStatus, printText } from '../../output.ts';
import { renderDiagnostics } from '../../render/render-diagnostics.ts';
import { renderPlan } from '../../render/render-plan.ts';
import { renderErrorsMarkdown, renderPlanMarkdown } from '../../render/render-plan-markdown.ts';
import type { CliCommand } from '../cli-command.ts';

/** Declares `hookmill plan`. */
export function declarePlan(command: CliCommand): void {
  command
    .explain(`show what an apply would change

The plan names each changed part of a definition, with its value before and after, and what that means for senders and
runs. For this it reads the delivery log: when and how often a webhook was used, and which stored deliveries a changed
automation would treat differently.

Examples:
  hookmill plan
  hookmill plan --detailed-exitcode -o markdown > comment.md`)
    .option(
      '--detailed-exitcode',
      'set the exit status: 0 for no changes, 1 for any error, 2 only for changes',
    )
    .option('--out <file>', 'also write the plan to a file, for hookmill apply <file>')
    .action(async (_, command: CliCommand) => plan(command));
}

interface PlanCommandOptions {
  readonly output: 'text' | 'json' | 'markdown';
  readonly detailedExitcode?: true;
  readonly out?: string;
}

async function plan(command: CliCommand): Promise<void> {
  const { output, detailedExitcode, out }: PlanCommandOptions = command.optsWithGlobals();
  const { backend, factory } = await openBackend(command);
  const planned = await backend.plan({ withImpact: true, out, onNote: printStatus });
  const { diagnostics, texts } = planned;
  printFindings(renderDiagnostics(diagnostics, texts));
  if (!planned.ok) {
    if (output === 'markdown') printText(renderErrorsMarkdown(factory, diagnostics));
    throw new CommandError('the definitions cannot be applied');
  }
  const nowMs = Date.now();
  if (output === 'markdown') {
    printText(renderPlanMarkdown(planned.plan, diagnostics, nowMs));
  } else printData(output, planned.plan, () => renderPlan(planned.plan, nowMs));
  const { add, change, destroy } = planned.plan.summary;
  if (detailedExitcode && add + change + destroy > 0) process.exitCode = exitStatus.changes;
}
