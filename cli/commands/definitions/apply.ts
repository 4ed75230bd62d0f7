import { findUnconfirmed } from '../../../operations/plan/confirmations.ts';
import type { PlanView } from '../../../operations/views/plan-view.ts';
import { urlGone } from '../../../schema/changes/describe-impact.ts';
import { printable } from '../../../schema/text/printable.ts';
import type { Backend } from '../../backend/backend.ts';
import { isAmiss } from '../../backend/daemon-health.ts';
import { openBackend } from '../../backend/open-backend.ts';
import { CommandError, UsageError } from '../../exit-status.ts';
import { askToConfirm } from '../../input/read-input.ts';
import { printData, printFindings, printStatus } from '../../output.ts';
import { renderTipApplied } from '../../render/render-branch.ts';
import { renderDiagnostics } from '../../render/render-diagnostics.ts';
import { renderApplied, renderPlan } from '../../render/render-plan.ts';
import type { CliCommand } from '../cli-command.ts';

/** Declares `hookmill apply`. */
export function declareApply(command: CliCommand): void {
  command
    .explain(`make the definitions the applied state, all or nothing

Each new webhook gets a UID and an ingress URL. A webhook without a file is destroyed, and its URL stops answering. If
its definition comes back within 30 days with the same name and authentication, it gets its former UID and URL.
hookmill asks before it destroys something, and before a webhook uses a team secret in another way than others do.
Confirm at the prompt or use --yes.

With a file that plan --out wrote, hookmill applies exactly that plan and does not ask. It applies nothing if the
definitions, the team secrets or the applied state have changed since.

If the factory follows a branch, hookmill applies the tip of the branch and ignores the files here.

If a daemon runs, the command ends when the daemon serves what was applied, and says so.

Examples:
  hookmill apply --dry-run
  hookmill plan --out reviewed.plan && hookmill apply reviewed.plan`)
    .argument('[plan]', 'a file that plan --out wrote')
    .option('--yes', 'apply without asking')
    .option('--dry-run', 'show the plan and change nothing')
    .option(
      '--adopt',
      'replace a factory that is managed in the dashboard or (on a local home) follows a branch',
    )
    .option(
      '--new-uid <webhook>',
      'give a restored webhook a new UID instead of its former one; may be repeated',
      (name: string, names: readonly string[] = []) => [...names, name],
    )
    .action(async (planFile: string | undefined, options: ApplyCommandOptions, command: CliCommand) =>
      apply(planFile, options, command),
    );
}

interface ApplyCommandOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly adopt?: boolean;
  readonly newUid?: readonly string[];
}

async function apply(
  planFile: string | undefined,
  { yes = false, dryRun = false, adopt = false, newUid: newUids }: ApplyCommandOptions,
  command: CliCommand,
): Promise<void> {
  if (planFile !== undefined && newUids)
    throw new UsageError('--new-uid cannot be combined with a plan file');
  const { backend, output } = await openBackend(command);
  const confirm = async (showPlan: () => Promise<PlanView>) => yes || askToApply(await showPlan(), output);
  const applied = await backend.apply({ planFile, dryRun, adopt, newUids, confirm, onNote: printStatus });
  printFindings(renderDiagnostics(applied.diagnostics, applied.texts));
  if (applied.result === 'invalid') throw new CommandError('nothing was applied');
  if (applied.result === 'declined') {
    throw new CommandError('nothing was applied: confirm these changes at the prompt or use --yes');
  }
  const { result, tip, plan, webhooks } = applied;
  const data = tip ? { result, tip, ...plan } : plan;
  const isTipApplied = result === 'unchanged' && tip !== undefined;
  const { changedByHand } = isTipApplied ? await backend.call('showStatus') : { changedByHand: [] };
  printData(output, data, () =>
    isTipApplied
      ? renderTipApplied(plan, changedByHand)
      : renderApplied({ plan, webhooks, isApplied: result === 'applied' }, Date.now()),
  );
  if (result === 'applied') await waitUntilServed(backend, plan.serial);
}

/**
 * Waits until the daemon, if there is one, serves the new state, so that it judges deliveries that are sent afterwards.
 */
async function waitUntilServed(backend: Backend, serial: number): Promise<void> {
  const daemon = await backend.showDaemon(serial);
  if (isAmiss(daemon, serial)) {
    const reason = daemon.reason === null ? '' : ` (${daemon.reason})`;
    printStatus(
      `\nThe daemon at ${daemon.url} does not serve this yet${reason}; run \`hookmill status\` to see when it does.`,
    );
  } else if (daemon.state === 'ready') printStatus(`\nThe daemon at ${daemon.url} serves this now.`);
}

/** Shows the plan and the changes that need a confirmation, then asks on a terminal. */
async function askToApply(plan: PlanView, output: 'text' | 'json'): Promise<boolean> {
  printFindings(`${renderPlan(plan, Date.now())}${renderUnconfirmed(plan)}`);
  return askToConfirm('Apply?', output);
}

function renderUnconfirmed({ changes, summary: { destroy } }: PlanView): string {
  const shared = findUnconfirmed(changes).filter(({ confirmation }) => confirmation.reason !== 'destroy');
  const lines = [
    ...(destroy > 0 ? [`${destroy} destroyed: a destroyed webhook's ${urlGone}`] : []),
    ...shared.map(({ name, confirmation }) => `webhook ${name}: ${confirmation.message}`),
  ];
  return `\nTo confirm:\n${lines.map(line => `  ${printable(line)}\n`).join('')}`;
}
