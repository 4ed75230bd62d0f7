import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type ApiProblemCode, apiProblems } from '../../schema/api/problems.ts';
import type { RunUsage } from '../../schema/run-report.ts';
import type { DeliveryLog, Run, UnfinishedRuns } from '../../store/ports/delivery-log.ts';
import type { Replicas, ReplicasState } from '../../store/ports/replicas.ts';
import type { HealthCounts } from '../../store/ports/tallies.ts';
import type { IssuerKeys } from '../issuers/issuer-keys.ts';
import type { FactoryReconcile } from '../reconciling/reconcile-statuses.ts';
import type { ServedFactory } from '../served/served-factories.ts';
import type { Traces } from './traces.ts';

export interface Metrics {
  /** Counts and times a request to the ingress. The result is the label of its outcome, or the code of its problem. */
  observeRequest(
    webhook: { readonly factory: string; readonly name: string } | undefined,
    result: string,
    seconds: number,
  ): void;
  /** Counts a request to the management port. The result is the code of its problem, or `answered`. */
  observeManagement(result: ApiProblemCode | 'answered'): void;
  /** Counts an attempt at a run, by what became of the run, and what it has used. */
  observeAttempt(run: Pick<Run, 'factory' | 'automation'>, state: RunEnd, usage?: RunUsage): void;
  /** Adds the places of the runners of this daemon, and how many of them are taken. */
  addRunners(read: () => readonly RunnerLoad[]): void;
  /** Renders the metrics in the Prometheus text format. */
  render(): Promise<string>;
  readonly contentType: string;
}

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

/** The sources that are read whenever the metrics are rendered. */
export interface MetricSources {
  readonly deliveryLog: Pick<DeliveryLog, 'stats'>;
  readonly unlogged: { readonly totals: ReadonlyMap<string, number> };
  readonly readStates: () => readonly ServedFactory[];
  readonly readReconciles: () => Promise<readonly FactoryReconcile[]>;
  readonly readUnfinishedRuns: () => Promise<UnfinishedRuns>;
  readonly readHealth: () => Promise<HealthCounts>;
  readonly readIssuers: IssuerKeys['status'];
  readonly nowMs: () => number;
  readonly replicas: Pick<Replicas, 'describe'> | undefined;
  readonly traces: Pick<Traces, 'dropped'> | undefined;
}

export function createMetrics(sources: MetricSources): Metrics {
  const { deliveryLog, unlogged, readStates, readReconciles, replicas, traces } = sources;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  addDeliveryLogGauges(registry, deliveryLog);
  addUnloggedCounter(registry, unlogged);
  addStateGauges(registry, readStates);
  addReconcileGauges(registry, readReconciles);
  addRunGauges(registry, sources);
  addHealthGauges(registry, sources);
  addIssuerGauge(registry, sources);
  if (replicas) addReplicaGauges(registry, replicas);
  if (traces) addDroppedSpans(registry, traces);
  return {
    observeRequest: createRequestObserver(registry),
    observeManagement: createManagementObserver(registry),
    observeAttempt: createAttemptObserver(registry, readStates),
    addRunners: read => addRunnerGauges(registry, read),
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function createRequestObserver(registry: Registry): Metrics['observeRequest'] {
  const registers = [registry];
  const requests = new Counter({
    name: 'hookmill_ingress_requests_total',
    help: 'Requests to the ingress by webhook and result',
    labelNames: ['factory', 'webhook', 'result'],
    registers,
  });
  const duration = new Histogram({
    name: 'hookmill_ingress_seconds',
    help: 'Seconds from a request to its answer, including the commit',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers,
  });
  return (webhook, result, seconds) => {
    requests.inc({ factory: webhook?.factory ?? '', webhook: webhook?.name ?? '', result });
    duration.observe(seconds);
  };
}

function createManagementObserver(registry: Registry): Metrics['observeManagement'] {
  const requests = new Counter({
    name: 'hookmill_management_requests_total',
    help: 'Requests to the management port by result: answered, or the code of the problem',
    labelNames: ['result'],
    registers: [registry],
  });
  for (const result of ['answered', ...Object.keys(apiProblems)]) requests.inc({ result }, 0);
  return result => requests.inc({ result });
}

/** @limit Automations whose counters begin at 0: later ones begin with their first attempt, which Prometheus does not count. */
const automationsAtZeroMax = 5_000;

/** The counters of an automation exist from the first scrape after it is applied: an increase is counted only from a value. */
function createAttemptObserver(
  registry: Registry,
  readStates: MetricSources['readStates'],
): Metrics['observeAttempt'] {
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
function addRunGauges(
  registry: Registry,
  { readUnfinishedRuns, nowMs }: Pick<MetricSources, 'readUnfinishedRuns' | 'nowMs'>,
): void {
  const read = shareRead(() => readUnfinishedRuns().catch(() => undefined));
  addOptionalGauge(registry, 'hookmill_runs_queued', 'Runs that wait for an attempt', async () => {
    return (await read())?.queued;
  });
  const waitingHelp = 'Queued runs that wait for other runs because of their order or concurrency';
  addOptionalGauge(registry, 'hookmill_runs_waiting', waitingHelp, async () => (await read())?.waiting);
  addOptionalGauge(registry, 'hookmill_runs_running', 'Runs that are executed now', async () => {
    return (await read())?.running;
  });
  const holdingHelp =
    'Failed runs that hold the runs behind them: retention keeps them until they are retried or dismissed';
  addOptionalGauge(registry, 'hookmill_runs_holding', holdingHelp, async () => (await read())?.holding);
  const ageHelp = 'Seconds since the queued run was due that has waited longest; 0 if none is due';
  addOptionalGauge(registry, 'hookmill_run_queue_age_seconds', ageHelp, async () => {
    const runs = await read();
    return runs && Math.max(0, (nowMs() - (runs.firstDueMs ?? Infinity)) / 1_000);
  });
}

function addRunnerGauges(registry: Registry, read: () => readonly RunnerLoad[]): void {
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

/**
 * The webhooks that got a delivery, by what was last found of them. Those that are quiet or failing are named: up to a
 * limit, because the others would be a series for each webhook that says nothing.
 */
function addHealthGauges(registry: Registry, { readHealth }: Pick<MetricSources, 'readHealth'>): void {
  const read = shareRead(() => readHealth().catch(() => undefined));
  const registers = [registry];
  new Gauge({
    name: 'hookmill_webhook_health',
    help: '1 for each webhook that is quiet or failing',
    labelNames: ['factory', 'webhook', 'state'],
    registers,
    async collect() {
      this.reset();
      for (const { factory, webhook, state } of (await read())?.unhealthy ?? [])
        this.set({ factory, webhook, state }, 1);
    },
  });
  new Gauge({
    name: 'hookmill_webhooks',
    help: 'Webhooks that got a delivery, by their health',
    labelNames: ['state'],
    registers,
    async collect() {
      this.reset();
      for (const { state, webhooks } of (await read())?.counts ?? []) this.inc({ state }, webhooks);
    },
  });
}

/** The issuers whose keys verify tokens. */
function addIssuerGauge(registry: Registry, { readIssuers }: Pick<MetricSources, 'readIssuers'>): void {
  new Gauge({
    name: 'hookmill_issuer_failing',
    help: '1 while the keys of an issuer of OpenID Connect tokens cannot be fetched; /readyz shows why',
    labelNames: ['issuer'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { issuer, failure } of readIssuers()) this.set({ issuer }, failure ? 1 : 0);
    },
  });
}

/** A gauge that has no value while `read` returns none. */
function addOptionalGauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => Promise<number | null | undefined>,
): void {
  new Gauge({
    ...{ name, help, registers: [registry] },
    async collect() {
      const value = await read();
      if (value == null) this.remove();
      else this.set(value);
    },
  });
}

const deliveryLogStats = {
  waiting: 'Deliveries that wait for their commit',
  waitingBytes: 'Bytes of payloads that wait for their commit',
  committed: 'Rows committed since the start',
  commits: 'Commits since the start',
  failedCommits: 'Failed commits since the start',
  refusedFull: 'Deliveries refused because too many were waiting',
  droppedRejections: 'Rejections not logged, because too many deliveries were waiting or their commit failed',
  lastCommitMs: 'Milliseconds of the last commit, including the sync to disk',
} as const;

function addDeliveryLogGauges(registry: Registry, deliveryLog: Pick<DeliveryLog, 'stats'>): void {
  for (const [stat, help] of Object.entries(deliveryLogStats)) {
    const name = `hookmill_delivery_log_${stat.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)}`;
    new Gauge({
      ...{ name, help, registers: [registry] },
      collect() {
        this.set(deliveryLog.stats()[stat as keyof typeof deliveryLogStats]);
      },
    });
  }
}

function addUnloggedCounter(registry: Registry, unlogged: MetricSources['unlogged']): void {
  new Counter({
    name: 'hookmill_unlogged_requests_total',
    help: 'Refused requests without a row in the delivery log, by reason',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [reason, total] of unlogged.totals) this.inc({ reason }, total);
    },
  });
}

function addDroppedSpans(registry: Registry, traces: Pick<Traces, 'dropped'>): void {
  new Counter({
    name: 'hookmill_spans_dropped_total',
    help: 'Spans of traces that never reached the collector',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(traces.dropped());
    },
  });
}

const stateGauges: Readonly<Record<string, FactoryGauge<ServedFactory>>> = {
  serial: {
    help: 'Serial of the applied state that is served',
    getValue: ({ serial }) => serial,
  },
  state_broken: {
    help: '1 while the applied state on disk cannot be served',
    getValue: ({ problem }) => (problem ? 1 : 0),
  },
};

/** One gauge for each factory. */
interface FactoryGauge<Status> {
  readonly help: string;
  /** Returns undefined while there is nothing to report. */
  readonly getValue: (status: Status) => number | undefined;
}

function addStateGauges(registry: Registry, readStates: MetricSources['readStates']): void {
  for (const [name, { help, getValue }] of Object.entries(stateGauges)) {
    new Gauge({
      ...{ name: `hookmill_applied_${name}`, help, labelNames: ['factory'], registers: [registry] },
      collect() {
        for (const status of readStates()) {
          const value = getValue(status);
          if (value !== undefined) this.set({ factory: status.factory }, value);
        }
      },
    });
  }
}

const reconcileGauges: Readonly<Record<string, FactoryGauge<FactoryReconcile['reconcile']>>> = {
  failing: {
    help: '1 while the last reconcile failed; /readyz shows since when and at which commit',
    getValue: status => ('problem' in status || status.failingSince !== null ? 1 : 0),
  },
  suspended: {
    help: '1 while reconciling is suspended',
    getValue: status => ('problem' in status ? undefined : Number(status.suspendedAt !== null)),
  },
  last_success_timestamp_seconds: {
    help: 'Unix time at which the tip of the branch was last found to be applied',
    getValue: status => {
      if ('problem' in status || status.lastSuccess === null) return undefined;
      return Date.parse(status.lastSuccess.at) / 1_000;
    },
  },
  commits_behind: {
    help: 'Commits by which the tip of the branch is ahead of the applied revision',
    getValue: status => ('problem' in status ? undefined : (status.commitsBehind ?? undefined)),
  },
};

function addReconcileGauges(registry: Registry, readReconciles: MetricSources['readReconciles']): void {
  const read = shareRead(readReconciles);
  for (const [name, { help, getValue }] of Object.entries(reconcileGauges)) {
    new Gauge({
      ...{ name: `hookmill_reconcile_${name}`, help, labelNames: ['factory'], registers: [registry] },
      async collect() {
        this.reset();
        for (const { factory, reconcile } of await read()) {
          const value = getValue(reconcile);
          if (value !== undefined) this.set({ factory }, value);
        }
      },
    });
  }
}

/** Lets the calls that come while a read is in progress share it: the gauges of one scrape are collected together. */
function shareRead<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
}

const replicaGauges: Readonly<
  Record<string, { readonly help: string; readonly getValue: (state: ReplicasState) => number | null }>
> = {
  hookmill_replicas: {
    help: 'Daemons on this database that are alive',
    getValue: ({ alive }) => alive.length,
  },
  hookmill_replica_runs: {
    help: 'Runs that these daemons execute',
    getValue: ({ alive }) => alive.reduce((sum, { runs }) => sum + runs, 0),
  },
  hookmill_standby_lag_ms: {
    help: 'Milliseconds by which the slowest standby of the database is behind',
    getValue: ({ standbyLagMs }) => standbyLagMs,
  },
};

/** While the database is out of reach, they have no value. */
function addReplicaGauges(registry: Registry, replicas: Pick<Replicas, 'describe'>): void {
  const read = shareRead(() => replicas.describe().catch(() => undefined));
  for (const [name, { help, getValue }] of Object.entries(replicaGauges)) {
    addOptionalGauge(registry, name, help, async () => {
      const state = await read();
      return state && getValue(state);
    });
  }
}
