import type { Command } from 'commander';
import { addCommand } from '../commands/add-command.ts';
import { addRepositoryOptions } from '../reconcile/repository-options.ts';

/** What follows the production branch of a repository. */
export function addReconcileCommands(program: Command): void {
  const load = () => import('../commands/reconcile/reconcile.ts');
  const reconcile = addCommand(
    program,
    'reconcile',
    'make the tip of a production branch the applied state, again at each interval',
    `
The repository comes from flags, then the environment, then the entry of the factory in the daemon's configuration
file, then from the last reconcile. A tip that is invalid changes nothing. \`serve\` takes the same flags, and needs no
reconcile beside it.

Examples:
  hookmill reconcile --once --repository https://git.example.com/acme/hooks.git
  hookmill reconcile --once --allow-rewind
  hookmill reconcile suspend`,
  );
  addRepositoryOptions(reconcile)
    .option('--config <file>', "the daemon's configuration file, for its repositories")
    .option('--once', 'reconcile once; exit with 1 if it failed')
    .option('--allow-empty', 'with --once: apply a tip without any definition')
    .option('--allow-rename', 'with --once: apply renamed webhooks, whose URLs move')
    .option('--allow-rewind', 'with --once: follow a branch whose history was rewritten')
    .action(async (_, command) => (await load()).reconcileCommand(command));
  addCommand(
    reconcile,
    'suspend',
    'leave the applied state as it is, whatever is pushed',
    `
The daemon and every other reconcile of the factory keep to it. What is applied by hand meanwhile is taken back when
reconciling is resumed.

Examples:
  hookmill reconcile suspend
  hookmill --factory payments reconcile suspend`,
  ).action(async (_, command) => (await load()).suspend(command));
  addCommand(
    reconcile,
    'resume',
    'follow the branch again',
    `
Examples:
  hookmill reconcile resume
  hookmill reconcile resume && hookmill reconcile --once`,
  ).action(async (_, command) => (await load()).resume(command));
}
