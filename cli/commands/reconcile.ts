import { once } from 'node:events';
import type { Reconciled } from '../../operations/branch/reconcile.ts';
import type { FollowedRepository } from '../../sources/repository/followed-repository.ts';
import { openBackend } from '../backend/open-backend.ts';
import { type Context, openContext, toOpenFactory } from '../context.ts';
import { CommandError, UsageError } from '../exit-status.ts';
import { addRepositoryOptions, type RepositoryOptions } from '../input/options.ts';
import { readInputFile } from '../input/read-input.ts';
import { printData, printFindings, printStatus } from '../output.ts';
import type { Allowances } from '../reconcile/run-reconcile.ts';
import { renderDiagnostics } from '../render/render-diagnostics.ts';
import type { CliCommand } from './cli-command.ts';

/** Declares `hookmill reconcile`. */
export function declareReconcile(command: CliCommand): void {
  command
    .explain(`apply the tip of a production branch, repeatedly or once

The repository comes from flags, then the environment, then the entry of the factory in the daemon's configuration
file, then the last reconcile. An invalid tip changes nothing. \`serve\` takes the same flags; with it, you do not need
this command.

Examples:
  hookmill reconcile --once --repository https://git.example.com/acme/hooks.git
  hookmill reconcile --once --allow-rewind
  hookmill reconcile suspend`)
    .subcommands({ now, suspend, resume });
  addRepositoryOptions(command)
    .option('--config <file>', "the daemon's configuration file, for its repositories")
    .option('--once', 'reconcile once; exit with 1 if it failed')
    .option('--allow-empty', 'with --once: apply a tip without any definitions')
    .option('--allow-rename', 'with --once: apply renamed webhooks, which get new URLs')
    .option('--allow-rewind', 'with --once: follow a branch with rewritten history')
    .action(async (options: ReconcileOptions, command: CliCommand) =>
      reconcile(options, await openContext(command)),
    );
}

interface ReconcileOptions extends RepositoryOptions, Allowances {
  readonly config?: string;
  readonly once?: true;
}

/** Reconciles once, or at each interval until a signal. */
async function reconcile(options: ReconcileOptions, context: Context): Promise<void> {
  const [{ createStopSignal, requireApplied, readReconcileData, runReconcile }, { toFollowedBranch }] =
    await Promise.all([
      import('../reconcile/run-reconcile.ts'),
      import('../../sources/repository/followed-repository.ts'),
    ]);
  const followed = await requireRepository(context, options);
  const branch = toFollowedBranch(followed);
  const factory = toOpenFactory(context);
  const stopping = createStopSignal();
  const run = async (signal: AbortSignal) => {
    const reconciled = await runReconcile(factory, branch, signal, options);
    if (context.output === 'json') {
      printData('json', await readReconcileData(factory, context.baseUrl, reconciled), () => '');
    }
    return reconciled;
  };
  if (options.once) requireApplied(await run(stopping));
  else {
    refuseAllowances(options);
    await repeat(run, followed, stopping);
  }
}

async function repeat(
  reconcile: (signal: AbortSignal) => Promise<Reconciled>,
  followed: FollowedRepository,
  stopping: AbortSignal,
): Promise<void> {
  const [{ startReconcileLoop }, { getIntervalMs }] = await Promise.all([
    import('../../operations/branch/reconcile-loop.ts'),
    import('../../sources/repository/followed-repository.ts'),
  ]);
  const loop = startReconcileLoop({
    intervalMs: getIntervalMs(followed),
    reconcile,
    onError: error => printStatus(`hookmill: ${error instanceof Error ? error.message : error}`),
    random: Math.random,
  });
  if (!stopping.aborted) await once(stopping, 'abort');
  await loop.stop();
}

async function requireRepository(context: Context, options: ReconcileOptions): Promise<FollowedRepository> {
  const [{ readRememberedRepository }, { chooseRepository }] = await Promise.all([
    import('../../operations/branch/remembered-repository.ts'),
    import('../reconcile/choose-repository.ts'),
  ]);
  const { factory } = context;
  const configured = options.config === undefined ? [] : await readRepositories(options.config);
  const named = configured.find(other => other.factory === factory);
  const known = named ?? (await readRememberedRepository(toOpenFactory(context)));
  const followed = chooseRepository(options, factory, known);
  if (followed) return followed;
  const hint = 'use --repository, HOOKMILL_REPOSITORY, or repositories: in the file of --config';
  throw new UsageError(`the factory ${factory} has no repository; ${hint}`);
}

/** Reads the repositories in the daemon's configuration file. */
async function readRepositories(file: string): Promise<readonly FollowedRepository[]> {
  const { parseFollowedRepositories } = await import('../reconcile/choose-repository.ts');
  const { definition, diagnostics, text } = parseFollowedRepositories(file, await readInputFile(file));
  printFindings(renderDiagnostics(diagnostics, new Map([[file, text]])));
  if (!definition) throw new CommandError('nothing was reconciled');
  return definition.repositories;
}

/** Refuses allowances without --once: each is a decision about one tip, and must not apply to later ones. */
function refuseAllowances({ allowEmpty, allowRename, allowRewind }: Allowances): void {
  if (!allowEmpty && !allowRename && !allowRewind) return;
  throw new UsageError('--allow-empty, --allow-rename and --allow-rewind require --once');
}

function now(command: CliCommand): void {
  command
    .explain(`ask the daemon to look at the branch now

The daemon that follows the branch looks within seconds, whichever replica is asked. \`hookmill status\` shows what
became of it. To reconcile here and wait for the end, use \`hookmill reconcile --once\`.

Examples:
  hookmill reconcile now
  hookmill --server https://hookmill.example.com reconcile now`)
    .action(async (_, command: CliCommand) => {
      const { backend, factory, output } = await openBackend(command);
      const { askedAt } = await backend.call('requestReconcile', { body: {} });
      printData(output, { factory, askedAt }, () => `Asked for a look at the branch of ${factory}.\n`);
    });
}

function suspend(command: CliCommand): void {
  command
    .explain(`stop following the branch until you resume

The daemon and every other reconcile of the factory stop too. After you resume, the next reconcile undoes whatever was
applied by hand in the meantime.

Examples:
  hookmill reconcile suspend
  hookmill --factory payments reconcile suspend`)
    .action(async (_, command: CliCommand) => {
      const { backend, factory, output } = await openBackend(command);
      const { suspendedAt } = await backend.call('suspendReconcile', { body: {} });
      printData(
        output,
        { factory, suspendedAt },
        () => `Reconciling of the factory ${factory} has been suspended since ${suspendedAt}.\n`,
      );
    });
}

function resume(command: CliCommand): void {
  command
    .explain(`follow the branch again

Examples:
  hookmill reconcile resume
  hookmill reconcile resume && hookmill reconcile --once`)
    .action(async (_, command: CliCommand) => {
      const { backend, factory, output } = await openBackend(command);
      const { suspendedAt } = await backend.call('resumeReconcile', { body: {} });
      printData(output, { factory, suspendedAt }, () => `Resumed reconciling of the factory ${factory}.\n`);
    });
}
