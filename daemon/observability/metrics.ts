import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { DeliveryLog } from '../../store/delivery-log.ts';
import type { FactoryReconcile } from '../reconciling/reconcile-statuses.ts';
import type { ServedStates } from '../served/served-states.ts';
import type { ServedWebhook } from '../served/served-webhooks.ts';

export interface IngressMetrics {
  observe(webhook: ServedWebhook | undefined, result: string, seconds: number): void;
}

export interface Metrics extends IngressMetrics {
  /** In the Prometheus text format. */
  render(): Promise<string>;
  readonly contentType: string;
  /** Adds what is read from other parts whenever the metrics are asked for. */
  watch(deliveryLog: DeliveryLog, appliedStates: ServedStates): void;
  watchReconciles(read: () => Promise<readonly FactoryReconcile[]>): void;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const requests = new Counter({
    name: 'hookmill_ingress_requests_total',
    help: 'Requests to the ingress by webhook and result',
    labelNames: ['factory', 'webhook', 'result'],
    registers,
  });
  const duration = new Histogram({
    name: 'hookmill_ingress_seconds',
    help: 'Time from a request to its answer, the commit included',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers,
  });
  return {
    observe: (webhook, result, seconds) => {
      requests.inc({ factory: webhook?.factory ?? '', webhook: webhook?.name ?? '', result });
      duration.observe(seconds);
    },
    render: () => registry.metrics(),
    contentType: registry.contentType,
    watch: (deliveryLog, appliedStates) => {
      for (const [stat, help] of Object.entries(deliveryLogStats)) {
        const name = `hookmill_delivery_log_${stat.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)}`;
        new Gauge({
          name,
          help,
          registers,
          collect() {
            this.set(deliveryLog.stats()[stat as keyof typeof deliveryLogStats]);
          },
        });
      }
      const perFactory = (
        name: string,
        help: string,
        value: (status: ReturnType<ServedStates['status']>[number]) => number,
      ) =>
        new Gauge({
          name,
          help,
          labelNames: ['factory'],
          registers,
          collect() {
            for (const status of appliedStates.status()) this.set({ factory: status.factory }, value(status));
          },
        });
      perFactory(
        'hookmill_applied_serial',
        'Serial of the applied state that is served',
        ({ serial }) => serial,
      );
      perFactory(
        'hookmill_applied_state_broken',
        '1 while the applied state on disk cannot be served',
        ({ problem }) => (problem ? 1 : 0),
      );
    },
    watchReconciles: read => {
      for (const [name, { help, value }] of Object.entries(reconcileGauges)) {
        new Gauge({
          name: `hookmill_reconcile_${name}`,
          help,
          labelNames: ['factory'],
          registers,
          async collect() {
            this.reset();
            for (const { factory, reconcile } of await read()) {
              const now = value(reconcile);
              if (now !== undefined) this.set({ factory }, now);
            }
          },
        });
      }
    },
  };
}

type ReconcileGauge = {
  readonly help: string;
  /** undefined: there is nothing to tell yet. */
  readonly value: (reconcile: FactoryReconcile['reconcile']) => number | undefined;
};

const reconcileGauges: Readonly<Record<string, ReconcileGauge>> = {
  failing: {
    help: '1 while the last reconcile failed; /readyz tells since when, and of which commit',
    value: now => ('problem' in now || now.failingSince !== null ? 1 : 0),
  },
  suspended: {
    help: '1 while reconciling is suspended',
    value: now => ('problem' in now ? undefined : Number(now.suspendedAt !== null)),
  },
  last_success_timestamp_seconds: {
    help: 'When the tip of the branch was last what is applied',
    value: now => {
      if ('problem' in now || now.lastSuccess === null) return undefined;
      return Date.parse(now.lastSuccess.at) / 1_000;
    },
  },
  commits_behind: {
    help: 'Commits that the tip of the branch is ahead of the applied revision',
    value: now => ('problem' in now ? undefined : (now.commitsBehind ?? undefined)),
  },
};

const deliveryLogStats = {
  waiting: 'Deliveries that wait for their commit',
  waitingBytes: 'Bytes of the payloads that wait for their commit',
  committed: 'Rows committed since the start',
  commits: 'Commits since the start',
  failedCommits: 'Commits that failed since the start',
  refusedFull: 'Deliveries refused because too many were waiting',
  droppedRejections: 'Rejections not logged because too many deliveries were waiting',
  lastCommitMs: 'Milliseconds that the last commit took, its sync included',
} as const;
