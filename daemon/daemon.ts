import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { DeliveryLog } from '../store/delivery-log.ts';
import type { Store } from '../store/ports.ts';
import { clientAddressBehind } from './http/client-address.ts';
import { boundedServer, closeServer, listen } from './http/http-server.ts';
import { memoryBudgets } from './ingress/budgets.ts';
import { createIngress } from './ingress/ingress.ts';
import { randomPool } from './ingress/random-pool.ts';
import { createApi } from './management/api/create-api.ts';
import { dashboardDirectory, readDashboardFiles } from './management/dashboard-files.ts';
import { type LiveDeliveries, openLiveDeliveries } from './management/live-deliveries.ts';
import { createManagement } from './management/management.ts';
import { createMetrics, type Metrics } from './observability/metrics.ts';
import { readReconcileStatuses } from './reconciling/reconcile-statuses.ts';
import { type Reconcilers, startReconcilers } from './reconciling/reconcilers.ts';
import { startRetention } from './runs/retention.ts';
import { type RunQueue, startRunQueue } from './runs/run-queue.ts';
import { createRunner } from './runs/runners/create-runner.ts';
import { type ServedStates, serveAppliedStates } from './served/served-states.ts';
import type { DaemonSettings } from './settings.ts';

/** @limit Time from the signal to stop until connections are cut, in ms: the process must be gone within 10 s. */
const stopGraceMs = 7_000;

export interface DaemonOptions {
  readonly store: Store;
  readonly settings: DaemonSettings;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly nowMs: () => number;
  /** The daemon cannot go on and must be started again. */
  readonly onFatal: (error: unknown) => void;
}

export interface Daemon {
  readonly ingressUrl: string;
  readonly managementUrl: string;
  readonly factories: number;
  readonly webhooks: number;
  /** Stops accepting, commits what it has, and ends within 10 s. */
  stop(): Promise<void>;
}

/** The parts of a daemon that others work with. */
interface Parts {
  readonly deliveryLog: DeliveryLog;
  readonly served: ServedStates;
  readonly live: LiveDeliveries;
  readonly metrics: Metrics;
  /** The ingress' public URL, known for certain once it listens. */
  baseUrl: string;
  /** The reason why deliveries cannot be accepted now; undefined when they can. */
  notReady: string | undefined;
  runQueue: RunQueue | undefined;
  reconcilers: Reconcilers | undefined;
}

/** Wires the daemon of a store and starts it. Fails, with nothing left open, if a part of it cannot start. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const opened: Close[] = [];
  const closeAll = async () => {
    for (const close of opened.toReversed()) await close();
  };
  try {
    return await start(options, opened, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

type Close = () => Promise<unknown>;

/** `opened` collects how each part is closed, in the order in which the parts were started. */
async function start(
  options: DaemonOptions,
  opened: Close[],
  closeAll: () => Promise<void>,
): Promise<Daemon> {
  const parts = await openParts(options, opened);
  // Started first and stopped last, so that it can report while the ingress stops.
  const managementUrl = await startManagement(options, parts, opened);
  await startRuns(options, parts, opened);
  const ingressUrl = await startIngress(options, parts, opened);
  const { store, environment, log, settings } = options;
  parts.reconcilers = startReconcilers({
    ...{ store, environment, log, repositories: settings.repositories },
    random: Math.random,
    onApplied: () => void parts.served.refresh(),
  });
  const status = parts.served.status();
  return {
    ingressUrl,
    managementUrl,
    factories: status.length,
    webhooks: status.reduce((sum, { webhooks }) => sum + webhooks, 0),
    stop: async () => {
      parts.notReady = 'stopping';
      await closeAll();
    },
  };
}

async function openParts({ store, settings, log, onFatal }: DaemonOptions, opened: Close[]): Promise<Parts> {
  let parts: Parts | undefined;
  const live = openLiveDeliveries();
  const deliveryLog = await store.openDeliveryLog({
    onRunsQueued: () => parts?.runQueue?.wake(),
    onCommitted: rows => live.publish(rows),
    onFatal: error => {
      if (parts) parts.notReady = 'the delivery log is gone';
      onFatal(error);
    },
  });
  opened.push(() => deliveryLog.close());
  const served = await serveAppliedStates({
    store,
    onLoaded: status => log.info(status, 'serving the applied state'),
    onProblem: status => log.error(status, 'the applied state cannot be served; the last good one still is'),
  });
  opened.push(() => served.close());
  const metrics = createMetrics();
  metrics.watch(deliveryLog, served);
  metrics.watchReconciles(() => readReconcileStatuses(store));
  parts = {
    ...{ deliveryLog, served, live, metrics },
    baseUrl: settings.baseUrl ?? `http://${settings.host}:${settings.port}`,
    notReady: undefined,
    runQueue: undefined,
    reconcilers: undefined,
  };
  return parts;
}

async function startManagement(
  { store, settings, log, nowMs }: DaemonOptions,
  parts: Parts,
  opened: Close[],
): Promise<string> {
  const { deliveryLog, served, live, metrics } = parts;
  const { managementUrl } = settings;
  const api = createApi({
    ...{ store, served, deliveryLog, live, managementUrl, nowMs, log },
    clientAddress: clientAddressBehind(settings.trustProxies),
    baseUrl: () => parts.baseUrl,
  });
  opened.push(() => api.close());
  const management = createManagement({
    ...{ served, metrics, api: api.router, managementUrl, log },
    readReconciles: () => readReconcileStatuses(store),
    dashboard: await readDashboardFiles(dashboardDirectory()),
    notReady: () => parts.notReady,
  });
  const server = boundedServer(management.callback());
  const address = await listen(server, settings.managementPort, '127.0.0.1');
  opened.push(() => closeServer(server, 0));
  return toUrl(address);
}

async function startRuns(
  { store, settings, environment, log, nowMs }: DaemonOptions,
  parts: Parts,
  opened: Close[],
): Promise<void> {
  const { deliveryLog } = parts;
  const retention = startRetention({ store, deliveryLog, settings: settings.retention, log, nowMs });
  opened.push(() => retention.stop());
  const queue = await startRunQueue({
    ...{ store, deliveryLog, settings: settings.runs, log, nowMs },
    runner: createRunner(settings.runs.runner, environment, store.runFiles, nowMs),
    daemonId: randomUUID(),
    random: Math.random,
  });
  parts.runQueue = queue;
  opened.push(() => queue.stop());
}

async function startIngress(
  { settings, log, nowMs }: DaemonOptions,
  parts: Parts,
  opened: Close[],
): Promise<string> {
  const { deliveryLog, served, metrics } = parts;
  const app = createIngress({
    deps: {
      findWebhook: uid => served.findWebhook(uid),
      budgets: memoryBudgets(settings.limits),
      deliveryLog,
      nowMs,
      randomBytes: randomPool(),
    },
    ...{ settings, log, metrics },
    stopping: () => parts.notReady === 'stopping',
    onAccepted: webhook => parts.reconcilers?.deliveryAccepted(webhook),
  });
  const { requestSeconds, connections } = settings.limits;
  const server = boundedServer(app.callback(), { requestMs: requestSeconds * 1_000, connections });
  const address = await listen(server, settings.port, settings.host);
  parts.baseUrl = settings.baseUrl ?? toUrl(address);
  // Side by side: each takes its time, and together they have ten seconds.
  opened.push(() =>
    Promise.all([closeServer(server, stopGraceMs), parts.runQueue?.stop(), parts.reconcilers?.stop()]),
  );
  return toUrl(address);
}

function toUrl({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
