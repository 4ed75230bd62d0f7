import type { Command } from 'commander';
import type { PlanView } from '../../../operations/views/plan-view.ts';
import type { OpenBackend } from '../../backend/backend.ts';
import { CommandError } from '../../exit-status.ts';
import { printData, printFindings, printStatus } from '../../output.ts';
import { renderDiagnostics } from '../../render/render-diagnostics.ts';
import { renderApplied, renderPlan } from '../../render/render-plan.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill apply`. */
export function declareApply(parent: Command, openBackend: OpenBackend): Command {
  return addCommand(
    parent,
    'apply',
    'make the definitions the applied state, all or nothing',
    `
Each new webhook gets a UID and an ingress URL. A webhook without a file is destroyed, and its URL never comes back.
To destroy something, confirm at the prompt or use --yes.

With a file that plan --out wrote, hookmill applies exactly that plan and does not ask. It applies nothing if the
definitions, the team secrets or the applied state have changed since.

If the factory follows a branch, hookmill applies the tip of the branch and ignores the files here.

Examples:
  hookmill apply --dry-run
  hookmill plan --out reviewed.plan && hookmill apply reviewed.plan`,
  )
    .argument('[plan]', 'a file that plan --out wrote')
    .option('--yes', 'destroy without asking')
    .option('--dry-run', 'show the plan and change nothing')
    .option(
      '--adopt',
      'replace a factory that is managed in the dashboard or (on a local home) follows a branch',
    )
    .action(async (planFile: string | undefined, options: ApplyCommandOptions, command: Command) =>
      apply(planFile, options, command, openBackend),
    );
}

interface ApplyCommandOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly adopt?: boolean;
}

async function apply(
  planFile: string | undefined,
  { yes = false, dryRun = false, adopt = false }: ApplyCommandOptions,
  command: Command,
  openBackend: OpenBackend,
): Promise<void> {
  const { backend, output } = await openBackend(command);
  const confirm = async (showPlan: () => Promise<PlanView>) =>
    yes || confirmDestroy(await showPlan(), output);
  const applied = await backend.apply({ planFile, dryRun, adopt, confirm, onNote: printStatus });
  printFindings(renderDiagnostics(applied.diagnostics, applied.texts));
  if (applied.result === 'invalid') throw new CommandError('nothing was applied');
  if (applied.result === 'declined') {
    throw new CommandError('nothing was applied: to destroy something, confirm at the prompt or use --yes');
  }
  const { result, tip, plan, webhooks } = applied;
  const data = tip ? { result, tip, ...plan } : plan;
  printData(output, data, () =>
    renderApplied({ plan, webhooks, isApplied: result === 'applied' }, Date.now()),
  );
}

/** Asks on a terminal before something is destroyed, because that cannot be undone. */
async function confirmDestroy(plan: PlanView, output: 'text' | 'json'): Promise<boolean> {
  printFindings(renderPlan(plan, Date.now()));
  if (!process.stdin.isTTY || output === 'json') return false;
  const prompts = await import('@inquirer/prompts');
  const message = `Destroy ${plan.summary.destroy}? A destroyed webhook's URL never comes back.`;
  return prompts.confirm({ message, default: false }, { output: process.stderr });
}
