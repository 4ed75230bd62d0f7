import { setTimeout as wait } from 'node:timers/promises';
import type { AppliedStatus } from '../../../operations/attention/status.ts';
import type { Summary } from '../../../operations/plan/plan.ts';
import type { SenderView } from '../../../operations/senders/check-sender.ts';
import { findDrift, type ReconcileView } from '../../../operations/views/reconcile-view.ts';
import type { Backend, PlanResult } from '../../backend/backend.ts';
import { type DaemonHealth, isAmiss } from '../../backend/daemon-health.ts';
import { openBackend } from '../../backend/open-backend.ts';
import { exitStatus, UsageError } from '../../exit-status.ts';
import type { Place } from '../../global-options.ts';
import { isOutputOpen, printData, printJsonLine, printText } from '../../output.ts';
import { renderCounts } from '../../render/colours.ts';
import { completeCommands } from '../../render/own-commands.ts';
import {
  describeBranch,
  renderBranchFailure,
  toBranchData,
  toBranchFields,
} from '../../render/render-branch.ts';
import { renderFields } from '../../render/render-table.ts';
import { persist } from '../../rows/follow-rows.ts';
import type { CliCommand } from '../cli-command.ts';

/** @limit Time between two looks of `hookmill status --watch`, in ms: soon enough for a person, and each look may run the commands of references. */
const watchMs = 5_000;

/** Declares `hookmill status`. */
export function declareStatus(command: CliCommand): void {
  command
    .explain(`show what is applied, how the definitions or the branch differ from it, and whether a daemon serves it

Exits with 1 if something is wrong: the last reconcile failed, someone edited the applied state or applied something
other than the branch, the definitions have errors, or a daemon answers but is not ready or does not serve what is
applied. It also shows when no daemon answers; that is not an error.

With --watch, it looks every ${watchMs / 1_000} s and prints the status again when it has changed, until Ctrl-C. With -o json, each
status is one line. It goes on while a server cannot be reached.

Examples:
  hookmill status
  hookmill status --detailed-exitcode -o json
  hookmill status --watch`)
    .option(
      '--detailed-exitcode',
      'set the exit status: 0 for up to date, 1 for any error, 2 for changes that are not applied yet',
    )
    .option('--watch', 'print the status again whenever it has changed')
    .action(async (options: StatusOptions, command: CliCommand) => status(options, command));
}

interface StatusOptions {
  readonly detailedExitcode?: true;
  readonly watch?: true;
}

/** A comparison of the applied state with a branch or the definitions directory. */
interface Comparison {
  readonly data: object;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly findings?: string;
  readonly isWrong: boolean;
  /** Whether there are changes that are not applied yet; `unknown` if there is nothing here to compare with. */
  readonly pending: 'none' | 'changes' | 'unknown';
}

async function status({ detailedExitcode, watch }: StatusOptions, command: CliCommand): Promise<void> {
  if (watch && detailedExitcode) throw new UsageError('--watch cannot be combined with --detailed-exitcode');
  const { backend, ...place } = await openBackend(command);
  if (watch) return watchStatus(backend, place);
  const { data, render, isWrong, pending } = await readStatus(backend, place);
  printData(place.output, data, render);
  if (isWrong) process.exitCode = exitStatus.problems;
  else if (detailedExitcode) process.exitCode = detailedStatuses[pending];
}

/** Prints the status, and again each time that it has changed, until a signal or until nobody reads the output. */
async function watchStatus(backend: Backend, place: Place): Promise<void> {
  const { createStopSignal } = await import('../../reconcile/run-reconcile.ts');
  const stopping = createStopSignal();
  const stopped = new Promise<'stopped'>(resolve =>
    stopping.addEventListener('abort', () => resolve('stopped')),
  );
  for (let last = ''; isOutputOpen() && !stopping.aborted; ) {
    const read = await Promise.race([stopped, persist(() => readStatus(backend, place))]);
    if (read === 'stopped') break;
    const found = JSON.stringify(read.data, (key, value) => (volatileKeys.has(key) ? undefined : value));
    if (found !== last) {
      if (place.output === 'json') printJsonLine(read.data);
      else printText(`${last === '' ? '' : `\n${new Date().toISOString()}\n`}${read.render()}`);
    }
    last = found;
    await wait(watchMs, undefined, { signal: stopping }).catch(() => undefined);
  }
  // A request that was under way must not keep the process.
  if (stopping.aborted) process.exit(exitStatus.ok);
}

/** Parts of the status that change all the time though nothing happens: times of reconciles, load and lag. */
const volatileKeys = new Set(['at', 'checkedAt', 'lastReconcile', 'lastSuccess', 'runs', 'standbyLagMs']);

interface ReadStatus extends Pick<Comparison, 'isWrong' | 'pending'> {
  readonly data: object;
  readonly render: () => string;
}

async function readStatus(backend: Backend, place: Place): Promise<ReadStatus> {
  const applied = await backend.call('showStatus');
  const [daemon, compared] = await Promise.all([
    backend.showDaemon(applied.serial),
    applied.reconcile ? compareBranch(applied, applied.reconcile) : compareDirectory(backend, applied),
  ]);
  const { senders } = await backend.call('listSenders');
  const render = () => {
    const daemonFields = [
      ['daemon', describeDaemon(daemon, applied)],
      ...(applied.replicas ? [['replicas', describeReplicas(applied.replicas)] as const] : []),
    ] as const;
    const fields = [
      ...toCommonFields(place, applied),
      ...compared.fields,
      ...describeAttention(applied),
      ...daemonFields,
      ...describeSenders(senders),
    ].map(([name, value]) => [name, completeCommands(value)] as const);
    return `${renderFields(fields)}${compared.findings ?? ''}`;
  };
  return {
    ...{ data: { ...toCommonData(place, applied), daemon, senders, ...compared.data }, render },
    isWrong: compared.isWrong || applied.edited || isAmiss(daemon, applied.serial),
    pending: compared.pending,
  };
}

const detailedStatuses = {
  none: exitStatus.ok,
  changes: exitStatus.changes,
  unknown: exitStatus.problems,
} as const satisfies Record<Comparison['pending'], number>;

/** Nothing is wrong with a suspended branch, because it should not be applied. */
function compareBranch(applied: AppliedStatus, reconcile: ReconcileView): Comparison {
  const { source, edited } = applied;
  const { failingSince, suspendedAt } = reconcile;
  const data = toBranchData(applied, reconcile);
  const differs = failingSince !== null || findDrift(source, edited, reconcile) !== null;
  return {
    data,
    fields: toBranchFields(applied, reconcile),
    findings: renderBranchFailure(reconcile),
    isWrong: suspendedAt === null && differs,
    pending: data.upToDate ? 'none' : 'changes',
  };
}

async function compareDirectory(backend: Backend, { managedBy }: AppliedStatus): Promise<Comparison> {
  const common = { tip: null, lastReconcile: null };
  // Its definitions are in the dashboard only.
  if (managedBy === 'dashboard') {
    const data = { ...common, upToDate: true, diagnostics: [] };
    return { data, fields: [], isWrong: false, pending: 'none' };
  }
  const planned = await backend.plan({ withImpact: false, onNote: () => undefined });
  const { diagnostics } = planned;
  const isUpToDate = planned.ok && isEmpty(planned.plan.summary);
  // Commands that only show also run elsewhere.
  const isElsewhere = diagnostics.some(({ code }) => code === 'factory/no-definitions');
  return {
    data: { ...common, upToDate: isUpToDate, diagnostics },
    fields: [['definitions', describePending(planned, isElsewhere)]],
    isWrong: !planned.ok && !isElsewhere,
    pending: isUpToDate ? 'none' : isElsewhere ? 'unknown' : 'changes',
  };
}

function describeDaemon(daemon: DaemonHealth, { serial: applied, replicas }: AppliedStatus): string {
  const { state, url, reason, serial } = daemon;
  const because = reason === null ? '' : `: ${reason}`;
  switch (state) {
    case 'none':
      if (replicas && replicas.alive.length > 0) return 'none on this machine';
      return 'none has run with this home; start one with `hookmill serve`';
    case 'no answer':
      return `no answer from ${url}; start it with \`hookmill serve\``;
    case 'unknown':
      return `answers at ${url}, which does not show whether it is ready`;
    case 'not ready':
      return `not ready at ${url}${because}`;
    case 'ready': {
      if (serial === null) return `ready at ${url}, serves nothing of this factory${because}`;
      const but = isAmiss(daemon, applied) ? 'but only' : 'and';
      return `ready at ${url}, ${but} serves serial ${serial}${because}`;
    }
  }
}

function describeSenders(senders: readonly SenderView[]): (readonly [string, string])[] {
  return senders.map(({ webhook, at, findings }) => {
    const [worst] = findings.filter(({ severity }) => severity !== 'note');
    const state = worst
      ? `${worst.message}; see \`hookmill senders\``
      : (findings[0]?.message ?? 'as defined');
    return [`hook of ${webhook}`, `${at}: ${state}`];
  });
}

function describeReplicas({ alive, standbyLagMs }: NonNullable<AppliedStatus['replicas']>): string {
  const runs = alive.reduce((sum, replica) => sum + replica.runs, 0);
  const lag = standbyLagMs === null ? '' : `; the standby is ${standbyLagMs} ms behind`;
  return `${alive.length} alive, which execute ${runs} ${runs === 1 ? 'run' : 'runs'}${lag}`;
}

function describePending(planned: PlanResult, isElsewhere: boolean): string {
  if (!planned.ok && isElsewhere) return 'none in this directory';
  if (!planned.ok) return 'the definitions have errors: run `hookmill plan` to see them';
  const { summary } = planned.plan;
  return isEmpty(summary) ? 'up to date' : renderCounts(summary);
}

function isEmpty({ add, change, destroy }: Summary): boolean {
  return add + change + destroy === 0;
}

function toCommonData({ factory }: Place, applied: AppliedStatus) {
  const { serial, source, revision, appliedAt, webhooks, automations, changedByHand, replicas } = applied;
  return { factory, serial, source, revision, appliedAt, webhooks, automations, changedByHand, replicas };
}

function toCommonFields({ factory }: Place, applied: AppliedStatus): [name: string, value: string][] {
  const { serial, source, appliedAt, webhooks, automations, edited, reconcile } = applied;
  const isAsFollowed = reconcile !== null && findDrift(source, edited, reconcile) === null;
  return [
    ['factory', factory],
    ['applied', serial === 0 ? 'nothing yet' : `serial ${serial}, ${appliedAt}`],
    ...(isAsFollowed ? [] : ([['from', describeSource(source)]] satisfies [string, string][])),
    ['webhooks', String(webhooks)],
    ['automations', String(automations)],
  ];
}

/** One line for each thing that needs attention, but for a failing branch, which `toBranchFields` describes. */
function describeAttention({ attention }: AppliedStatus): [name: string, value: string][] {
  return attention
    .filter(({ type }) => type !== 'reconcile.failing')
    .map(({ type, since, reason, remedy }) => [
      type === 'drift' ? 'drift' : 'attention',
      `${reason}${since === null ? '' : ` (since ${since})`}${remedy === null ? '' : `. ${remedy}`}`,
    ]);
}

function describeSource(source: AppliedStatus['source']): string {
  if (source === null) return '-';
  if (source.kind === 'dashboard') return 'the dashboard';
  if (source.kind === 'directory') return source.directory;
  return describeBranch(source);
}
