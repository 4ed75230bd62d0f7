import { Counter, Gauge, type Registry } from 'prom-client';
import type { RunUsage } from '../../schema/run-report.ts';
import type { Run, UnfinishedRuns } from '../../store/ports/delivery-log.ts';
import type { ServedFactory } from '../served/served-factories.ts';
import { addStateGauges, type StateGauge } from './gauges.ts';

/** How many runs a runner executes at the moment, and how many it may. */
export interface RunnerLoad {
  readonly name: string;
  readonly executing: number;
  readonly places: number;
}

const runEnds = [
  ...(['succeeded', 'failed', 'queued', 'lost', 'waiting', 'stopped', 'cancelled', 'proposed'] as const),
] as const;

/**
 * The state of a run after an attempt. `lost`: another claim or the receiver's report came first, so nothing was recorded.
 * `waiting`: its receiver goes on with it. `proposed`: its second command is next. `stopped`: it failed without an attempt, by `runsPerHour`.
 */
export type RunEnd = (typeof runEnds)[number];

/** Counts an attempt at a run, by what became of the run, and what it has used. */
export type ObserveAttempt = (
  run: Pick<Run, 'factory' | 'automation'>,
  state: RunEnd,
  usage?: RunUsage,
) => void;

/** @limit Automations whose counters begin at 0: later ones begin with their first attempt, which Prometheus does not count. */
const automationsAtZeroMax = 5_000;

/** The counters of an automation exist from the first scrape after it is applied: an increase is counted only from a value. */
export function createAttemptObserver(
  registry: Registry,
  readStates: () => readonly ServedFactory[],
): ObserveAttempt {
  const serials = new Map<string, number>();
  const atZero = new Set<string>();
  const attempts = new Counter({
    name: 'hookmill_run_attempts_total',
    help: 'Attempts at runs, by what became of the run: it succeeded, failed, is queued again, waits for its receiver, or was lost to another daemon; and runs that runsPerHour stopped before one',
    labelNames: ['factory', 'automation', 'state'],
    registers: [registry],
    collect() {
      for (const { factory, serial, automations } of readStates()) {
        if (serials.get(factory) === serial) continue;
        serials.set(factory, serial);
        for (const automation of automations) {
          if (atZero.size < automationsAtZeroMax) atZero.add(`${factory}/${automation}`);
          if (!atZero.has(`${factory}/${automation}`)) continue;
          for (const state of runEnds) this.inc({ factory, automation, state }, 0);
        }
      }
    },
  });
  const count = createUsageCounter(registry);
  return (run, state, usage) => {
    attempts.inc({ factory: run.factory, automation: run.automation, state });
    if (usage) count(run, usage);
  };
}

const usageCounters: Readonly<Record<keyof RunUsage, { readonly name: string; readonly help: string }>> = {
  costUsd: { name: 'run_cost_dollars', help: 'What attempts at runs cost, as far as they say, in dollars' },
  inputTokens: {
    name: 'run_input_tokens',
    help: 'Tokens that attempts at runs gave to models, as far as they say',
  },
  outputTokens: {
    name: 'run_output_tokens',
    help: 'Tokens that attempts at runs got of models, as far as they say',
  },
  turns: { name: 'run_turns', help: 'Calls of models by attempts at runs, as far as they say' },
};

function createUsageCounter(
  registry: Registry,
): (run: Pick<Run, 'factory' | 'automation'>, usage: RunUsage) => void {
  const counters = Object.entries(usageCounters).map(([key, { name, help }]) => {
    const labelNames = ['factory', 'automation'];
    const counter = new Counter({ name: `hookmill_${name}_total`, help, labelNames, registers: [registry] });
    return [key as keyof RunUsage, counter] as const;
  });
  return ({ factory, automation }, usage) => {
    for (const [key, counter] of counters) counter.inc({ factory, automation }, usage[key] ?? 0);
  };
}

/** With replicas, each daemon reports the runs of all of them. */
export function addRunGauges(
  registry: Registry,
  readUnfinishedRuns: () => Promise<UnfinishedRuns>,
  nowMs: () => number,
): void {
  const gauges: Readonly<Record<string, StateGauge<UnfinishedRuns>>> = {
    hookmill_runs_queued: { help: 'Runs that wait for an attempt', getValue: ({ queued }) => queued },
    hookmill_runs_waiting: {
      help: 'Queued runs that wait for other runs because of their order or concurrency',
      getValue: ({ waiting }) => waiting,
    },
    hookmill_runs_running: { help: 'Runs that are executed now', getValue: ({ running }) => running },
    hookmill_runs_holding: {
      help: 'Failed runs that hold the runs behind them: retention keeps them until they are retried or dismissed',
      getValue: ({ holding }) => holding,
    },
    hookmill_run_queue_age_seconds: {
      help: 'Seconds since the queued run was due that has waited longest; 0 if none is due',
      getValue: ({ firstDueMs }) => Math.max(0, (nowMs() - (firstDueMs ?? Infinity)) / 1_000),
    },
  };
  addStateGauges(registry, gauges, readUnfinishedRuns);
}

export function addRunnerGauges(registry: Registry, read: () => readonly RunnerLoad[]): void {
  const add = (name: string, help: string, getValue: (load: RunnerLoad) => number) =>
    new Gauge({
      ...{ name, help, labelNames: ['runner'], registers: [registry] },
      collect() {
        for (const load of read()) this.set({ runner: load.name }, getValue(load));
      },
    });
  add('hookmill_runner_places', 'Runs that a runner of this daemon executes at most', load => load.places);
  add('hookmill_runner_runs', 'Runs that a runner of this daemon executes now', load => load.executing);
}
