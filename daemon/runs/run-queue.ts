import type { Logger } from 'pino';
import type { RunUsage } from '../../schema/run-report.ts';
import type { ClaimedRuns, DeliveryLog, Run, RunnerPlaces } from '../../store/ports/delivery-log.ts';
import type { Store } from '../../store/ports/store.ts';
import { oneAtATime } from '../background-work.ts';
import type { RunEnd, RunnerLoad } from '../observability/run-metrics.ts';
import type { Traces } from '../observability/traces.ts';
import { type RecordAttemptDeps, recordAttempt, settleRun } from './record-attempt.ts';
import { type AttemptDeps, attemptRun, cancelAttempts } from './run-attempt.ts';
import { type ReadRunAutomation, type RunAutomation, readRunAutomationsFrom } from './run-automations.ts';
import { toUnattempted } from './run-record.ts';
import { boundRetries } from './run-settings.ts';
import { goneRunsConcurrent, type OpenRunners } from './runners/create-runner.ts';
import { type AttemptResult, RunCancelled } from './runners/runner.ts';

/** @limit Shortest wait of a run that hookmill itself could not begin, in ms: most passing faults are over then. */
const troubleWaitMsMin = 1_000;

/** @limit Longest wait of a run that hookmill itself could not begin, in ms: a repaired disk is noticed soon. */
const troubleWaitMsMax = 30_000;

/** Trouble that keeps hookmill from executing runs, such as a full disk. It is logged when it begins and when it ends. */
class RunTrouble {
  readonly #log: Logger;
  readonly #monotonicMs: () => number;
  #current: { readonly sinceMs: number; runs: number } | undefined;

  constructor(log: Logger, monotonicMs: () => number) {
    this.#log = log;
    this.#monotonicMs = monotonicMs;
  }

  /** Records that a run could not begin. */
  add(run: string, reason: string): void {
    if (!this.#current) {
      this.#current = { sinceMs: this.#monotonicMs(), runs: 0 };
      this.#log.error({ run, reason }, 'cannot execute runs; they wait, and no attempt is counted');
    }
    this.#current.runs++;
  }

  /** Records that a run was executed. */
  end(): void {
    if (!this.#current) return;
    this.#log.info({ postponed: this.#current.runs }, 'can execute runs again');
    this.#current = undefined;
  }

  /** As long as the trouble has lasted, within bounds. */
  waitMs(): number {
    const lastedMs = this.#current ? this.#monotonicMs() - this.#current.sinceMs : 0;
    return Math.round(Math.min(Math.max(lastedMs, troubleWaitMsMin), troubleWaitMsMax));
  }
}

/** @limit Smallest step back of the clock that corrects the queue, in ms: smaller ones are adjustments of time services. */
const clockStepMsMin = 1_000;
/** @limit Time between two looks for queued runs, in ms: a run that a command queued is unseen for no longer. */
const runPollMs = 2_000;

export interface RunQueueOptions {
  readonly deliveryLog: DeliveryLog;
  readonly store: Pick<Store, 'runFiles'>;
  readonly runners: OpenRunners;
  /** Finds which of these runners no daemon offers. */
  readonly findGone: (runners: readonly string[]) => Promise<readonly string[]>;
  /** How long due runs wait while no daemon offers their runner, in ms; by default, not at all. */
  readonly runnerWaitMs?: number;
  /** Reads automations where that does not delay deliveries; by default, in this thread. */
  readonly readAutomation?: ReadRunAutomation;
  /** Undefined unless the daemon traces. */
  readonly traces?: Traces | undefined;
  /** Differs each time a daemon starts. */
  readonly daemonId: string;
  readonly log: Logger;
  /** Called with the state of a run after each attempt that was recorded, and after it was stopped. */
  readonly observe: (run: Run, state: RunEnd, usage?: RunUsage) => void;
  readonly nowMs: () => number;
  /** A clock that nobody can set. */
  readonly monotonicMs: () => number;
  /** Returns a number from 0 up to 1, like Math.random. */
  readonly random: () => number;
}

/**
 * Executes the runs of the delivery log, each at least once. It first queues again the runs that an earlier daemon
 * left running, so no other queue may work on the same log.
 */
export async function startRunQueue(options: RunQueueOptions): Promise<RunQueue> {
  const { deliveryLog, daemonId, log, nowMs } = options;
  const requeued = await deliveryLog.requeueRunsOfOthers(daemonId);
  await deliveryLog.correctDueTimes({ nowMs: nowMs(), backMs: 0 });
  if (requeued > 0)
    log.warn({ runs: requeued }, 'queued again the runs that an earlier daemon left unfinished');
  const queue = new RunQueue(options);
  queue.wake();
  return queue;
}

/** Claims due runs, up to the concurrency limit. Start one with `startRunQueue`. */
export class RunQueue {
  readonly #options: RunQueueOptions;
  readonly #attemptDeps: Omit<AttemptDeps, 'runner'>;
  readonly #readAutomation: ReadRunAutomation;
  readonly #trouble: RunTrouble;
  /** How far the clock was ahead of the monotonic one when it was last compared. */
  #clockAheadMs: number;
  readonly #stopping = new AbortController();
  readonly #executing = new Set<Execution>();
  /** Aborts when the claims of the runs in progress are lost. */
  #claims = new AbortController();
  readonly #claim = oneAtATime(() => this.#claimAndWait());
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RunQueueOptions) {
    const { deliveryLog, store, traces, log, nowMs, monotonicMs } = options;
    this.#options = options;
    this.#trouble = new RunTrouble(log, monotonicMs);
    this.#clockAheadMs = nowMs() - monotonicMs();
    this.#attemptDeps = { deliveryLog, runFiles: store.runFiles, traces };
    this.#readAutomation = options.readAutomation ?? readRunAutomationsFrom(deliveryLog);
  }

  /** Looks for due runs now, unless there is no place for one: the end of an attempt wakes the queue then. */
  wake(): void {
    if (Object.values(this.#findPlaces()).some(count => count > 0)) void this.#claim();
  }

  /** How many runs each runner executes at the moment, and how many it may. */
  describeRunners(): readonly RunnerLoad[] {
    const taken = countBy(this.#executing, ({ runner }) => runner);
    return [...this.#options.runners.offered].map(([name, { concurrency }]) => ({
      ...{ name, places: concurrency },
      executing: taken.get(name) ?? 0,
    }));
  }

  /** The places that are left: none beside a run that is tried alone. */
  #findPlaces(): RunnerPlaces {
    const isAlone = [...this.#executing].some(execution => execution.isAlone);
    return Object.fromEntries(
      this.describeRunners().map(({ name, executing, places }) => [
        name,
        isAlone ? 0 : Math.max(0, places - executing),
      ]),
    );
  }

  /** The runners whose runs might end the daemon. */
  #listSuspects(): string[] {
    return [...this.#options.runners.offered].flatMap(([name, { mayEndDaemon }]) =>
      mayEndDaemon ? [name] : [],
    );
  }

  /** Ends the attempts in progress, because other daemons may have begun their runs again. */
  abandon(): void {
    this.#options.log.warn({ runs: this.#executing.size }, 'seemed dead; other daemons take over its runs');
    this.#claims.abort();
    this.#claims = new AbortController();
  }

  /** Claims no more runs and ends the attempts in progress. Unfinished runs are queued again. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#claim();
    await Promise.all([...this.#executing].map(({ ended }) => ended));
  }

  async #claimAndWait(): Promise<void> {
    const { nowMs } = this.#options;
    const { signal } = this.#stopping;
    if (signal.aborted) return;
    clearTimeout(this.#timer);
    const nextDueMs = await this.#claimDueRuns();
    if (signal.aborted) return;
    const waitMs = Math.min(runPollMs, Math.max(0, (nextDueMs ?? Infinity) - nowMs()));
    this.#timer = setTimeout(() => void this.#claim(), waitMs);
  }

  async #claimDueRuns(): Promise<number | undefined> {
    const { findGone, log, nowMs, runnerWaitMs = 0 } = this.#options;
    try {
      await this.#correctDueTimes();
      const { nextDueMs, otherRunners } = await this.#claimFor(this.#findPlaces());
      const gone = otherRunners ? await findGone(otherRunners) : [];
      const places = Object.fromEntries(gone.map(name => [name, goneRunsConcurrent]));
      // They fail, but not at once: another daemon may offer their runner soon.
      if (gone.length > 0) await this.#claimFor(places, nowMs() - runnerWaitMs);
      return nextDueMs;
    } catch (error) {
      log.error({ err: error }, 'cannot claim runs; the daemon tries again');
      return undefined;
    }
  }

  async #claimFor(places: RunnerPlaces, dueMs?: number): Promise<ClaimedRuns> {
    const { deliveryLog, daemonId, nowMs } = this.#options;
    const suspects = this.#listSuspects();
    const alone = suspects.length > 0 && { alone: { runners: suspects, isIdle: this.#executing.size === 0 } };
    const due = dueMs !== undefined && { dueMs };
    const claimed = await deliveryLog.claimRuns({ daemonId, nowMs: nowMs(), places, ...due, ...alone });
    const { runs, stopped = [], toCancel = [] } = claimed;
    for (const run of runs) this.#begin(run, claimed.alone === 'claimed');
    for (const run of stopped) this.#tellStopped(run);
    for (const { id, cancel } of this.#executing) if (toCancel.includes(id)) cancel.abort(new RunCancelled());
    return claimed;
  }

  #tellStopped(run: Run): void {
    const { log, observe } = this.#options;
    observe(run, 'stopped');
    log.error({ ...describe(run), reason: run.error }, 'a run was stopped instead of started');
  }

  /** Queued runs have due times of a clock that may be set back. */
  async #correctDueTimes(): Promise<void> {
    const { deliveryLog, log, nowMs, monotonicMs } = this.#options;
    const [now, aheadMs] = [nowMs(), nowMs() - monotonicMs()];
    const backMs = Math.round(this.#clockAheadMs - aheadMs);
    if (backMs >= clockStepMsMin) {
      const runs = await deliveryLog.correctDueTimes({ nowMs: now, backMs });
      log.warn(
        { seconds: Math.round(backMs / 1_000), runs },
        'the clock was set back; queued runs do not wait longer',
      );
    }
    this.#clockAheadMs = aheadMs;
  }

  #begin(run: Run, isAlone: boolean): void {
    const cancel = new AbortController();
    const { id, runner } = run;
    const execution = { id, runner, isAlone, cancel, ended: this.#execute(run, cancel.signal) };
    this.#executing.add(execution);
    void execution.ended.finally(() => {
      this.#executing.delete(execution);
      this.wake();
    });
  }

  async #execute(run: Run, cancelled: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([this.#stopping.signal, this.#claims.signal]);
    const { log } = this.#options;
    try {
      const { result, automation: wanted } = await this.#attemptOrCancel(run, signal, cancelled);
      if (result.kind !== 'unattempted') this.#trouble.end();
      else if (!signal.aborted) this.#trouble.add(run.id, result.reason);
      const state = await recordAttempt(run, result, this.#recordDeps(run, wanted), signal);
      if (result.kind !== 'unattempted') this.#tell(run, result, state);
    } catch (err) {
      log.error(
        { ...describe(run), err },
        'cannot record the result of a run attempt; the next daemon repeats it',
      );
    }
  }

  /**
   * Records the end of an attempt that its receiver went on with. Rejects with DeliveryLogError if that cannot be recorded
   * now.
   */
  async settle(run: Run, result: AttemptResult): Promise<RunEnd> {
    const state = await settleRun(run, result, this.#recordDeps(run, await this.#readAutomation(run)));
    if (state !== 'lost') this.#tell(run, result, state);
    this.wake();
    return state;
  }

  #recordDeps(run: Run, wanted: RunAutomation | undefined): RecordAttemptDeps {
    const settings = boundRetries(this.#options.runners.find(run), wanted);
    return { ...this.#options, settings, troubleWaitMs: () => this.#trouble.waitMs() };
  }

  #tell(run: Run, result: AttemptResult, state: RunEnd): void {
    const { log, observe } = this.#options;
    // The state is `lost` if the receiver has reported the end before it answered.
    if (result.kind === 'waiting') {
      log.info(describe(run), 'the receiver goes on with a run');
      return;
    }
    observe(run, state, result.usage);
    log[levels[state]]({ ...describe(run), state, reason: result.reason }, 'run attempt ended');
  }

  /** Makes one attempt, or ends what is left of a run that somebody cancels. An attempt that succeeds meanwhile stays so. */
  async #attemptOrCancel(run: Run, signal: AbortSignal, cancelled: AbortSignal): Promise<Attempted> {
    const either = AbortSignal.any([signal, cancelled]);
    const attempted = run.cancel ? undefined : await this.#attempt(run, either);
    const { kind = 'cancelled' } = attempted?.result ?? {};
    const isOver = kind === 'succeeded' || kind === 'waiting';
    if (attempted && kind !== 'cancelled' && (isOver || !cancelled.aborted)) return attempted;
    const runner = this.#options.runners.find(run);
    return { result: await cancelAttempts(run, runner, signal).catch(toUnattempted) };
  }

  /** Reads the run's automation and makes one attempt. A failure of hookmill itself is a result too. */
  async #attempt(run: Run, signal: AbortSignal): Promise<Attempted> {
    try {
      const automation = await this.#readAutomation(run);
      if (!automation)
        return { result: { kind: 'failed', reason: 'the prompt of the automation is not in the log' } };
      const deps = { ...this.#attemptDeps, runner: this.#options.runners.find(run) };
      return { automation, result: await attemptRun(run, automation, deps, signal) };
    } catch (error) {
      return { result: toUnattempted(error) };
    }
  }
}

/** An attempt in progress. */
interface Execution {
  readonly id: string;
  readonly runner: string;
  /** Whether nothing else may be executed beside it. */
  readonly isAlone: boolean;
  readonly cancel: AbortController;
  readonly ended: Promise<void>;
}

interface Attempted {
  readonly result: AttemptResult;
  readonly automation?: RunAutomation;
}

/** A failed run is an error; one that is queued again may still succeed. */
const levels = {
  succeeded: 'info',
  waiting: 'info',
  proposed: 'info',
  queued: 'warn',
  lost: 'warn',
  failed: 'error',
  stopped: 'error',
  cancelled: 'info',
} as const;

function describe({ id, deliveryId, factory, automation, runner, attempts }: Run): object {
  return { run: id, delivery: deliveryId, factory, automation, runner, attempt: attempts };
}

function countBy<T>(all: Iterable<T>, key: (one: T) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(key(one), (counts.get(key(one)) ?? 0) + 1);
  return counts;
}
