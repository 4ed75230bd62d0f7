import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { suspendReconcile } from '../../../operations/reconcile.ts';
import { startReconcileLoop } from '../../../operations/reconcile-loop.ts';
import { readRememberedRepository } from '../../../operations/remembered-repository.ts';
import { durationMs } from '../../../schema/definitions/duration.ts';
import {
  type FollowedRepository,
  parseFollowedRepositories,
  reconcileSeconds,
  toFollowedBranch,
} from '../../../sources/repository/followed-repository.ts';
import { type Context, contextOf, openFactory } from '../../context.ts';
import { CommandError, exitStatus } from '../../exit-status.ts';
import { printData, printStatus } from '../../output.ts';
import { repositoryFrom } from '../../reconcile/choose-repository.ts';
import type { RepositoryOptions } from '../../reconcile/repository-options.ts';
import {
  type Allowances,
  failUnlessApplied,
  reconcileData,
  runReconcile,
  signalOfEnd,
} from '../../reconcile/run-reconcile.ts';
import { renderDiagnostics } from '../../render/render-diagnostics.ts';

interface ReconcileOptions extends RepositoryOptions, Allowances {
  readonly config?: string;
  readonly once?: true;
}

/** Once, or at each interval until a signal ends it. */
export async function reconcileCommand(command: Command): Promise<void> {
  const context = await contextOf(command);
  const options: ReconcileOptions = command.opts();
  const followed = await repositoryOf(context, options);
  const branch = toFollowedBranch(followed);
  const ending = signalOfEnd();
  const run = async (signal: AbortSignal) => {
    const reconciled = await runReconcile(context, branch, signal, options);
    printData(context, reconcileData(context, reconciled), () => '');
    return reconciled;
  };
  if (options.once) return failUnlessApplied(await run(ending));

  refuseAllowances(options);
  const loop = startReconcileLoop({
    intervalMs: durationMs(followed.interval) ?? reconcileSeconds * 1_000,
    reconcile: run,
    onError: error => printStatus(`hookmill: ${error instanceof Error ? error.message : error}`),
    random: Math.random,
  });
  if (!ending.aborted) await once(ending, 'abort');
  await loop.stop();
}

export async function suspend(command: Command): Promise<void> {
  await setSuspended(command, true);
}

export async function resume(command: Command): Promise<void> {
  await setSuspended(command, false);
}

async function setSuspended(command: Command, suspended: boolean): Promise<void> {
  const context = await contextOf(command);
  const { factory } = context;
  if (!(await readRememberedRepository(openFactory(context)))) {
    throw new CommandError(`the factory ${factory} was never reconciled with a repository`);
  }
  const suspendedAt = await suspendReconcile(openFactory(context), suspended);
  printData(context, { factory, suspendedAt }, () =>
    suspendedAt === null
      ? `Reconciling of the factory ${factory} goes on.\n`
      : `Reconciling of the factory ${factory} is suspended since ${suspendedAt}.\n`,
  );
}

async function repositoryOf(context: Context, options: ReconcileOptions): Promise<FollowedRepository> {
  const { factory } = context;
  const configured = options.config === undefined ? [] : await readRepositories(options.config);
  const named = configured.find(other => other.factory === factory);
  const known = named ?? (await readRememberedRepository(openFactory(context)));
  const followed = repositoryFrom(options, factory, known);
  if (followed) return followed;
  const hint = 'name it with --repository, HOOKMILL_REPOSITORY, or repositories: in the file of --config';
  throw new CommandError(`the factory ${factory} has no repository; ${hint}`, exitStatus.usage);
}

/** The repositories that a configuration file of the daemon names. */
async function readRepositories(file: string): Promise<readonly FollowedRepository[]> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`${file} cannot be read (${error.code})`, exitStatus.usage);
  });
  const { definition, diagnostics, text } = parseFollowedRepositories(file, bytes);
  process.stderr.write(renderDiagnostics(diagnostics, new Map([[file, text]])));
  if (!definition) throw new CommandError('nothing was reconciled');
  return definition.repositories;
}

/** What is allowed once must not be allowed for good. */
function refuseAllowances({ allowEmpty, allowRename, allowRewind }: Allowances): void {
  if (!allowEmpty && !allowRename && !allowRewind) return;
  const message = '--allow-empty, --allow-rename and --allow-rewind are for one reconcile: add --once';
  throw new CommandError(message, exitStatus.usage);
}
