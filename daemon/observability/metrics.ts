import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type ApiProblemCode, apiProblems } from '../../schema/api/problems.ts';
import type { DeliveryLog, UnfinishedRuns } from '../../store/ports/delivery-log.ts';
import type { Replicas, ReplicasState } from '../../store/ports/replicas.ts';
import type { HealthCounts } from '../../store/ports/tallies.ts';
import type { IssuerKeys } from '../issuers/issuer-keys.ts';
import type { FactoryReconcile } from '../reconciling/reconcilers.ts';
import type { ServedFactory } from '../served/served-factories.ts';
import { addStateGauges, type StateGauge, shareRead } from './gauges.ts';
import {
  addRunGauges,
  addRunnerGauges,
  createAttemptObserver,
  type ObserveAttempt,
  type RunnerLoad,
} from './run-metrics.ts';
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
  readonly observeAttempt: ObserveAttempt;
  /** Adds the places of the runners of this daemon, and how many of them are taken. */
  addRunners(read: () => readonly RunnerLoad[]): void;
  /** Adds the number of open alerts that a factory has used its share of something. */
  addFullQuotas(count: () => number): void;
  /** Renders the metrics in the Prometheus text format. */
  render(): Promise<string>;
  readonly contentType: string;
}

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
  addAppliedGauges(registry, readStates);
  addReconcileGauges(registry, readReconciles);
  addRunGauges(registry, sources.readUnfinishedRuns, sources.nowMs);
  addHealthGauges(registry, sources);
  addIssuerGauge(registry, sources);
  if (replicas) addStateGauges(registry, replicaGauges, () => replicas.describe());
  if (traces) addDroppedSpans(registry, traces);
  return {
    observeRequest: createRequestObserver(registry),
    observeManagement: createManagementObserver(registry),
    observeAttempt: createAttemptObserver(registry, readStates),
    addRunners: read => addRunnerGauges(registry, read),
    addFullQuotas: count => addFullQuotas(registry, count),
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

function addFullQuotas(registry: Registry, count: () => number): void {
  new Gauge({
    name: 'hookmill_quotas_full',
    help: 'Open alerts that a factory has used its share of something',
    registers: [registry],
    collect() {
      this.set(count());
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

const appliedGauges: Readonly<Record<string, FactoryGauge<ServedFactory>>> = {
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

function addAppliedGauges(registry: Registry, readStates: MetricSources['readStates']): void {
  for (const [name, { help, getValue }] of Object.entries(appliedGauges)) {
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

const replicaGauges: Readonly<Record<string, StateGauge<ReplicasState>>> = {
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
