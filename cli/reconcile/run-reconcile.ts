import type { FollowOptions, FollowProgress } from '../../operations/branch/follow-branch.ts';
import { type Reconciled, reconcile } from '../../operations/branch/reconcile.ts';
import type { Factory } from '../../operations/factory.ts';
import { readImpacts } from '../../operations/impact/read-impacts.ts';
import { type Change, summarize } from '../../operations/plan/plan.ts';
import { planView } from '../../operations/views/plan-view.ts';
import type { AppliedState } from '../../schema/applied-state.ts';
import { shortenRevision } from '../../schema/clients/describe.ts';
import type { Commit } from '../../schema/commit.ts';
import { printable } from '../../schema/text/printable.ts';
import type { FollowedBranch } from '../../sources/repository/followed-repository.ts';
import { CommandError } from '../exit-status.ts';
import { printFindings } from '../output.ts';
import { colours, describeCommit } from '../render/colours.ts';
import { completeCommands } from '../render/own-commands.ts';
import { renderFailureText } from '../render/render-branch.ts';
import { renderDiagnostics } from '../render/render-diagnostics.ts';

export type Allowances = Pick<FollowOptions, 'allowEmpty' | 'allowRename' | 'allowRewind'>;

/** Reconciles once. Prints every step to a terminal; elsewhere it prints only changes and failures. */
export async function runReconcile(
  factory: Factory,
  followed: FollowedBranch,
  signal: AbortSignal,
  allowances: Allowances & Pick<FollowOptions, 'newUids'> = {},
): Promise<Reconciled> {
  const isWatched = process.stderr.isTTY === true;
  const reconciled = await reconcile(factory, followed, {
    ...allowances,
    environment: process.env,
    signal,
    onProgress: progress => isWatched && printFindings(renderProgress(progress)),
  });
  if (isWatched || reconciled.result === 'applied' || reconciled.result === 'failed')
    printFindings(renderReconciled(reconciled));
  return reconciled;
}

/** The data that `reconcile -o json` prints: the same as for `apply`, plus the result. */
export async function readReconcileData(opened: Factory, baseUrl: string, reconciled: Reconciled) {
  const { result } = reconciled;
  const factory = opened.name;
  if (result === 'suspended') return { factory, result, since: reconciled.since };
  if (result === 'stopped') return { factory, result };
  const { tip } = reconciled;
  if (result === 'failed') {
    const { reason, message, hint, commitsBehind, diagnostics } = reconciled;
    return { factory, result, tip, reason, message, hint, commitsBehind, diagnostics };
  }
  if (result === 'unchanged') return { result, tip, ...planView(reconciled.state, [], baseUrl) };
  const { changes, before, state } = reconciled;
  const { impacts } = await readImpacts(opened, changes, before, state);
  return { result, tip, ...planView(state, changes, baseUrl, impacts) };
}

interface ReconciledTip {
  readonly result: 'applied' | 'unchanged';
  readonly tip: Commit;
  readonly state: AppliedState;
  /** The applied state that the changes were planned against. */
  readonly before: AppliedState;
  readonly changes: readonly Change[];
}

/** Returns the result if the tip is applied. Fails with exit status 1 if it is not. */
export function requireApplied(reconciled: Reconciled): ReconciledTip {
  switch (reconciled.result) {
    case 'applied':
      return reconciled;
    case 'unchanged':
      return { ...reconciled, before: reconciled.state, changes: [] };
    case 'failed':
      // runReconcile has printed the reason.
      throw new CommandError('');
    case 'stopped':
      throw new CommandError('stopped before anything was applied');
    case 'suspended': {
      const hint = 'run `hookmill reconcile resume` to follow the branch again';
      throw new CommandError(
        `nothing was applied: reconciling has been suspended since ${reconciled.since}; ${hint}`,
      );
    }
  }
}

/** Creates a signal that aborts when the process is asked to end. */
export function createStopSignal(): AbortSignal {
  const stopping = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stopping.abort());
  return stopping.signal;
}

/** One line for a step of a running reconcile. */
function renderProgress(progress: FollowProgress): string {
  return `${step} ${printable(describeStep(progress))}\n`;
}

function describeStep(progress: FollowProgress): string {
  switch (progress.step) {
    case 'look':
      return `checking ${progress.repository.branch} of ${progress.repository.url}`;
    case 'fetch':
      return `fetching ${shortenRevision(progress.revision)}`;
    case 'apply':
      return `applying ${describeCommit(progress.tip)}`;
  }
}

/** Describes the end of a reconcile. */
function renderReconciled(reconciled: Reconciled): string {
  switch (reconciled.result) {
    case 'unchanged':
      return `${good} up to date\n`;
    case 'applied': {
      const { add, change, destroy } = summarize(reconciled.changes);
      const counts = `${add} added, ${change} changed, ${destroy} destroyed`;
      const warnings = renderDiagnostics(reconciled.diagnostics, reconciled.texts);
      return `${warnings}${good} applied as serial ${reconciled.state.serial}: ${counts}\n`;
    }
    case 'failed': {
      const { message, hint, tip, diagnostics, texts } = reconciled;
      const where = tip ? ` (at ${describeCommit(tip)})` : '';
      const advice =
        hint === undefined ? '' : `  ${colours.cyan('hint:')} ${printable(completeCommands(hint))}\n`;
      const findings = renderDiagnostics(diagnostics, texts);
      return `${findings}${bad} ${renderFailureText(message, where)}\n${advice}`;
    }
    case 'suspended':
      return `${step} reconciling has been suspended since ${reconciled.since}\n`;
    case 'stopped':
      return `${step} stopped\n`;
  }
}

const step = colours.cyan('►');
const good = colours.green('✔');
const bad = colours.red('✗');
