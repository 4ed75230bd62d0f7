import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { openDeliveryLog } from '../store/embedded/delivery-log/write/open-delivery-log.ts';
import { type Home, makePrivateDirectory } from '../store/embedded/files/home.ts';
import { sealFor } from '../store/sealing.ts';
import { clientAddressBehind } from './client-address.ts';
import { boundedServer, closeServer, listen } from './http-server.ts';
import { memoryBudgets } from './ingress/budgets.ts';
import { createIngress } from './ingress/ingress.ts';
import { randomPool } from './ingress/random-pool.ts';
import { createApi } from './management/api/create-api.ts';
import { dashboardDirectory, readDashboardFiles } from './management/dashboard-files.ts';
import { openLiveDeliveries } from './management/live-deliveries.ts';
import { createManagement } from './management/management.ts';
import { createMetrics } from './observability/metrics.ts';
import { readReconcileStatuses } from './reconciling/reconcile-statuses.ts';
import { type Reconcilers, startReconcilers } from './reconciling/reconcilers.ts';
import { startRetention } from './runs/retention.ts';
import { type RunQueue, startRunQueue } from './runs/run-queue.ts';
import { createRunner } from './runs/runners/create-runner.ts';
import { followAppliedStates } from './served/served-states.ts';
import type { DaemonSettings } from './settings.ts';

/** @limit Time from the signal to stop until connections are cut, in ms: the process must be gone within 10 s. */
const stopGraceMs = 7_000;

export interface DaemonOptions {
  readonly home: Home;
  readonly settings: DaemonSettings;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly nowMs: () => number;
  /** The daemon cannot go on and has to be started anew. */
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

/** Wires the daemon of a home and starts it. Fails, with nothing left open, if a part of it cannot start. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const opened: (() => Promise<unknown>)[] = [];
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

/** `opened` gets what closes each part, in the order in which they were started. */
async function start(
  { home, settings, environment, log, nowMs, onFatal }: DaemonOptions,
  opened: (() => Promise<unknown>)[],
  closeAll: () => Promise<void>,
): Promise<Daemon> {
  await makePrivateDirectory(home.directory);
  let stopping = false;
  let fatal: string | undefined;

  let runQueue: RunQueue | undefined;
  let reconcilers: Reconcilers | undefined;
  const live = openLiveDeliveries();
  const runner = createRunner(settings.runs.runner, environment, nowMs);
  const deliveryLog = await openDeliveryLog(home.deliveryLogFile, {
    onRunsQueued: () => runQueue?.wake(),
    onCommitted: rows => live.publish(rows),
    onFatal: error => {
      fatal = 'the delivery log is gone';
      onFatal(error);
    },
  });
  opened.push(() => deliveryLog.close());
  const seal = sealFor(home, environment);
  const appliedStates = await followAppliedStates({
    home,
    seal,
    onLoaded: status => log.info(status, 'serving the applied state'),
    onProblem: status => log.error(status, 'the applied state cannot be served; the last good one still is'),
  });
  opened.push(() => appliedStates.close());
  const metrics = createMetrics();
  metrics.watch(deliveryLog, appliedStates);
  const readReconciles = () => readReconcileStatuses(home);
  metrics.watchReconciles(readReconciles);

  const ingressApp = createIngress({
    deps: {
      findWebhook: uid => appliedStates.findWebhook(uid),
      budgets: memoryBudgets(settings.limits),
      deliveryLog,
      nowMs,
      randomBytes: randomPool(),
    },
    settings,
    log,
    metrics,
    stopping: () => stopping,
    onAccepted: webhook => reconcilers?.deliveryAccepted(webhook),
  });
  const { managementUrl } = settings;
  let baseUrl = settings.baseUrl ?? `http://${settings.host}:${settings.port}`;
  const clientAddress = clientAddressBehind(settings.trustProxies);
  const api = createApi({
    ...{ home, seal, appliedStates, deliveryLog, live, managementUrl, clientAddress, nowMs, log },
    baseUrl: () => baseUrl,
  });
  opened.push(() => api.close());
  const managementApp = createManagement({
    ...{ appliedStates, metrics, readReconciles, api: api.router, managementUrl, log },
    dashboard: await readDashboardFiles(dashboardDirectory()),
    notReady: () => (stopping ? 'stopping' : fatal),
  });
  // Opened first, so that it can still tell while the ingress stops.
  const management = boundedServer(managementApp.callback());
  const managementAddress = await listen(management, settings.managementPort, '127.0.0.1');
  opened.push(() => closeServer(management, 0));
  const retention = startRetention({ deliveryLog, home, settings: settings.retention, log, nowMs });
  opened.push(() => retention.stop());
  const daemonId = randomUUID();
  const { runs } = settings;
  const queue = await startRunQueue({
    deliveryLog,
    home,
    settings: runs,
    runner,
    daemonId,
    log,
    nowMs,
    random: Math.random,
  });
  runQueue = queue;
  opened.push(() => queue.stop());
  const { requestSeconds, connections } = settings.limits;
  const ingress = boundedServer(ingressApp.callback(), { requestMs: requestSeconds * 1_000, connections });
  const ingressAddress = await listen(ingress, settings.port, settings.host);
  baseUrl = settings.baseUrl ?? urlOf(ingressAddress);
  // Side by side: both take their time, and the whole has ten seconds.
  opened.push(() => Promise.all([closeServer(ingress, stopGraceMs), queue.stop(), reconcilers?.stop()]));
  const { repositories } = settings;
  reconcilers = startReconcilers({
    ...{ home, seal, repositories, environment, log },
    random: Math.random,
    onApplied: () => void appliedStates.refresh(),
  });

  const status = appliedStates.status();
  return {
    ingressUrl: urlOf(ingressAddress),
    managementUrl: urlOf(managementAddress),
    factories: status.length,
    webhooks: status.reduce((sum, { webhooks }) => sum + webhooks, 0),
    stop: async () => {
      stopping = true;
      await closeAll();
    },
  };
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
