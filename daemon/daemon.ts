import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { escapedKeyDefect, hasEscapedKeyDefect } from '../json/parse-json-text.ts';
import { toOwnBaseUrl } from '../schema/ingress-url.ts';
import type { DeliveryLog } from '../store/ports/delivery-log.ts';
import type { DaemonRecord } from '../store/ports/store.ts';
import { nameReceiver } from './alerts/alert-settings.ts';
import { type AlertsTask, startAlerts } from './alerts/start-alerts.ts';
import type { Close, Condition, DaemonOptions, OnClose, Parts } from './daemon-parts.ts';
import { startHealth } from './health/start-health.ts';
import { createSenderCheck } from './http/client-address.ts';
import type { ReportEndpoint } from './ingress/ingress.ts';
import { startUnloggedWrites, UnloggedRequests } from './ingress/unlogged-requests.ts';
import { type IssuerKeys, startIssuerKeys } from './issuers/issuer-keys.ts';
import { beginOpening, type LogOpening } from './log-opening.ts';
import { followReplicas } from './management/follow-replicas.ts';
import { LiveDeliveries } from './management/live-deliveries.ts';
import { createMetrics, type Metrics } from './observability/metrics.ts';
import type { Traces } from './observability/traces.ts';
import { type OperationsThread, openOperationsThread } from './operations-thread/operations-thread.ts';
import { readReconcileStatuses, startReconcilers } from './reconciling/reconcilers.ts';
import { openCallbacks } from './runs/callbacks.ts';
import { ReceiverReports } from './runs/receiver-reports.ts';
import { openReportEndpoint } from './runs/report-endpoint.ts';
import { startRetention } from './runs/retention.ts';
import { type RunQueue, startRunQueue } from './runs/run-queue.ts';
import { listPrograms, listRunners, toOffered } from './runs/run-settings.ts';
import { openRunners } from './runs/runners/create-runner.ts';
import { explainMissingProgram } from './runs/runners/missing-program.ts';
import { startSenders } from './senders/start-senders.ts';
import { type ServedStates, type ServedStatesOptions, serveAppliedStates } from './served/served-states.ts';
import { boundConnections, startIngress, startManagement } from './start-ports.ts';

export interface Daemon {
  readonly ingressUrl: string;
  readonly managementUrl: string;
  readonly factories: number;
  readonly webhooks: number;
  /** After the delay that the settings ask for, stops accepting deliveries, commits what it has, and ends within 10 s. */
  stop(): Promise<void>;
}

/** Starts a daemon on a store. Fails, and leaves nothing open, if a part of it cannot start or `stopping` aborts. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { settings, stopping, log } = options;
  const condition: Condition = {
    baseUrl: settings.baseUrl ?? toOwnBaseUrl(`http://${settings.host}:${settings.port}`),
    listensAt: null,
    phase: 'starting',
    failure: undefined,
  };
  const opened: Close[] = [];
  const stop = async () => {
    condition.phase = 'stopping';
    await closeAll(opened);
  };
  try {
    const started = await startParts(options, condition, close => {
      opened.push(close);
      stopping.throwIfAborted();
    });
    condition.phase = 'running';
    if (hasEscapedKeyDefect()) log.debug({ node: process.version }, escapedKeyDefect);
    const stopOrderly = async () => {
      condition.phase = 'stopping';
      // So that a proxy sees that this daemon is not ready, and sends new connections elsewhere.
      if (!condition.failure) await delay(settings.stopDelaySeconds * 1_000);
      await stop();
    };
    return { ...started, stop: stopOrderly };
  } catch (error) {
    await stop().catch(err => log.error({ err }, 'cannot close a part of the daemon'));
    throw error;
  }
}

/** Closes the parts, last opened first. A part that fails does not keep the others open. */
async function closeAll(opened: readonly Close[]): Promise<void> {
  const errors: unknown[] = [];
  for (const close of opened.toReversed()) await close().catch(error => errors.push(error));
  if (errors.length > 0) throw errors[0];
}

async function startParts(
  options: DaemonOptions,
  condition: Condition,
  onClose: OnClose,
): Promise<Omit<Daemon, 'stop'>> {
  const { store, settings, environment, log } = options;
  const daemonId = randomUUID();
  const traces = await openTraces(options, daemonId, onClose);
  const live: LiveDeliveries = new LiveDeliveries({
    beforeView: async factory => following?.beginAt(factory),
  });
  const following = store.replicas && followReplicas(live, store.deliveries);
  const { deliveryLog, events } = await openLog(options, condition, live);
  onClose(() => deliveryLog.close());
  const { thread, ...threads } = openThreads(options, deliveryLog, onClose);
  const keys = await followIssuers(options, onClose);
  const served = await serveStates(options, thread, { keys, baseUrl: () => condition.baseUrl });
  onClose(() => served.close());
  if (following) onClose(() => following.close());
  const readReconciles = () => readReconcileStatuses(store);
  const unlogged = new UnloggedRequests(served.findMeant, options.nowMs);
  const unloggedWrites = startUnloggedWrites(unlogged, deliveryLog);
  onClose(() => unloggedWrites.stop());
  const stores = { deliveryLog, served, live, unlogged, keys };
  const metrics = openMetrics(options, { ...stores, readReconciles, traces });
  const connections = boundConnections(options);
  const parts = { ...stores, connections, metrics, traces, readReconciles, thread, threads, daemonId };

  // The management port starts before the ingress and closes after it, so that it can report while the ingress stops.
  const managementUrl = await startManagement(options, parts, condition, onClose);
  const alerts = startWatching(options, parts, events, managementUrl, onClose);
  const { runQueue, reports } = await startRuns(options, parts, condition, onClose);
  events.on('queued', () => runQueue.wake()).on('claimsLost', () => runQueue.abandon());
  const reconcilers = startReconcilers({
    ...{ store, environment, log, repositories: settings.repositories },
    random: Math.random,
    onApplied: factory => void served.refresh(factory),
  });
  onClose(() => reconcilers.stop());
  const ingress = await startIngress(options, { ...parts, reports }, condition, reconcilers.trigger);
  // These close in parallel: each may need seconds, and the whole stop has only ten.
  onClose(() => Promise.all([ingress.close(), runQueue.stop(), reconcilers.stop()]));
  const trustsProxies = settings.trustProxies.length > 0;
  const ingressUrl = settings.baseUrl ?? ingress.url;
  const record = {
    ...{ ingressUrl, managementUrl, listensAt: ingress.url, id: daemonId, trustsProxies },
    senderUrls: settings.senders.urls,
    deliveriesPerMinute: settings.limits.deliveriesPerMinute,
    webhooks: settings.webhooks,
  };
  await recordAddress(options, { ...record, connections: connections.ingress });
  watchSenders(options, parts, condition, onClose);
  // Only now, because a webhook of this daemon may be the receiver.
  alerts.wake();
  const status = served.status();
  const webhooks = status.reduce((sum, factory) => sum + factory.webhooks, 0);
  return { ingressUrl: ingress.url, managementUrl, factories: status.length, webhooks };
}

/** Opens the operations thread, and further threads of its kind. Each starts with its first operation. */
function openThreads({ store: { place } }: DaemonOptions, deliveryLog: DeliveryLog, onClose: OnClose) {
  const open = () => {
    const thread = openOperationsThread({ place, deliveryLog });
    onClose(() => thread.close());
    return thread;
  };
  return { thread: open(), lists: open(), outside: open() };
}

function watchSenders(
  { store, log, nowMs, monotonicMs }: DaemonOptions,
  { threads, served }: Parts,
  condition: Condition,
  onClose: OnClose,
): void {
  const parts = { thread: threads.outside, listSenders: served.listSenders, replicas: store.replicas };
  const senders = startSenders({
    ...{ ...parts, log, nowMs, monotonicMs, baseUrl: () => condition.baseUrl, random: Math.random },
  });
  onClose(() => senders.stop());
}

async function followIssuers(
  { store, settings, log, nowMs, monotonicMs }: DaemonOptions,
  onClose: OnClose,
): Promise<IssuerKeys> {
  const { issuers: trusted } = settings.oidc;
  const keys = await startIssuerKeys({ stored: store.issuerKeys, trusted, log, nowMs, monotonicMs });
  onClose(() => keys.stop());
  return keys;
}

function openMetrics(
  { store, nowMs }: DaemonOptions,
  {
    served,
    keys,
    ...sources
  }: Pick<Parts, 'deliveryLog' | 'served' | 'keys' | 'unlogged' | 'readReconciles' | 'traces'>,
): Metrics {
  return createMetrics({
    ...{ ...sources, readStates: served.status, readIssuers: keys.status, nowMs },
    readUnfinishedRuns: () => store.deliveries.countUnfinishedRuns(),
    readHealth: () => store.deliveries.countHealth(),
    replicas: store.replicas,
  });
}

/** Starts the tasks that watch health and send alerts. Returns the task that sends alerts. */
function startWatching(
  { store, settings, log, nowMs }: DaemonOptions,
  { deliveryLog, thread, served, metrics }: Parts,
  events: LogOpening['events'],
  managementUrl: string,
  onClose: OnClose,
): AlertsTask {
  const receivers = settings.alerts.map(nameReceiver);
  const dashboardUrl = (settings.managementUrl ?? managementUrl).replace(/\/+$/, '');
  const targets = { receivers, dashboardUrl };
  const common = { log, nowMs, random: Math.random };
  const alerts = startAlerts({ ...common, store, deliveryLog, settings, targets, thread, served });
  onClose(() => alerts.stop());
  metrics.addFullQuotas(alerts.countFull);
  const onLooked = () => alerts.wake();
  const parts = { thread, deliveryLog, replicas: store.replicas, alerts: store.alerts, targets };
  const health = startHealth({ ...common, ...parts, onLooked });
  onClose(() => health.stop());
  events.on('committed', health.observeDeliveries);
  return alerts;
}

async function recordAddress({ store, settings, log }: DaemonOptions, record: DaemonRecord): Promise<void> {
  const failed = 'cannot record where this daemon listens; commands may print other URLs, or not find it';
  const isLowered = (record.connections ?? 0) < settings.limits.connections;
  const address = isLowered ? record : { ...record, connections: undefined };
  await store.daemonAddress.record(address).catch(err => log.warn({ err }, failed));
}

/** A daemon that does not trace never loads OpenTelemetry. */
async function openTraces(
  { settings, log, monotonicMs }: DaemonOptions,
  daemonId: string,
  onClose: OnClose,
): Promise<Traces | undefined> {
  const { tracing, trustProxies } = settings;
  if (!tracing) return undefined;
  const { Traces } = await import('./observability/traces.ts');
  const isTrusted = createSenderCheck(tracing.trustSenders, trustProxies);
  const traces = new Traces({ settings: tracing, isTrusted, daemonId, log, monotonicMs });
  onClose(traces.close);
  return traces;
}

/** Waits until the delivery log is open, and connects what it tells with the parts that want to know. */
async function openLog(
  { store, onFatal, opening = beginOpening(store) }: DaemonOptions,
  condition: Condition,
  live: LiveDeliveries,
): Promise<LogOpening & { readonly deliveryLog: DeliveryLog }> {
  // With replicas, live views ask the store, which has the deliveries to all of them.
  if (!store.replicas) opening.events.on('committed', rows => live.publish(rows));
  const deliveryLog = await opening.opened;
  void opening.failed.then(error => {
    condition.failure = `the delivery log has failed: ${error.message}`;
    onFatal(error);
  });
  return { ...opening, deliveryLog };
}

function serveStates(
  { store, log }: DaemonOptions,
  thread: OperationsThread,
  tokens: NonNullable<ServedStatesOptions['tokens']>,
): Promise<ServedStates> {
  return serveAppliedStates({
    ...{ store, tokens },
    loadState: factory => thread.run('loadState', factory),
    onLoaded: status => log.info(status, 'serving the applied state'),
    onProblem: status => log.error(status, 'cannot serve the applied state; still serving the last good one'),
    onFailure: err => log.error({ err }, 'cannot look for changed applied states; looking again'),
  });
}

async function startRuns(
  { store, settings, environment, log, nowMs, monotonicMs }: DaemonOptions,
  { deliveryLog, thread, daemonId, metrics, traces }: Parts,
  condition: Condition,
  onClose: OnClose,
): Promise<{ readonly runQueue: RunQueue; readonly reports: ReportEndpoint | undefined }> {
  const { directory } = settings.runs;
  if (directory !== undefined) await store.runFiles.placeIn(directory);
  const retention = startRetention({ store, deliveryLog, settings: settings.retention, log, nowMs });
  onClose(() => retention.stop());
  const listed = listRunners(settings.runs);
  for (const { program, path } of listed.flatMap(listPrograms)) {
    const missing = await explainMissingProgram(program.argv[0] ?? '', environment);
    if (!missing) continue;
    const settings = `runs.${path.join('.')}`;
    log.warn({ settings, reason: missing }, 'the command of runs cannot be started, so each run will fail');
  }
  const callbackKeys = listed.some(({ runner }) => runner.kind === 'http' && runner.callback)
    ? await store.seal.deriveKeys('run callbacks')
    : undefined;
  const openCallbacksAt =
    callbackKeys && ((url?: string) => openCallbacks(callbackKeys, () => url ?? condition.baseUrl));
  const runners = await openRunners(settings.runs, {
    ...{ environment, store, deliveryLog, nowMs },
    openCallbacks: openCallbacksAt,
  });
  await store.offeredRunners.record(daemonId, listed.map(toOffered));
  const runQueue = await startRunQueue({
    ...{ store, deliveryLog, runners, log, nowMs, monotonicMs },
    findGone: async names => {
      const offered = await store.offeredRunners.read();
      return names.filter(name => !offered.some(one => one.name === name));
    },
    runnerWaitMs: settings.runs.runnerWaitSeconds * 1_000,
    readAutomation: ({ snapshot, automation }) => thread.run('readRunAutomation', { snapshot, automation }),
    ...{ daemonId, traces },
    observe: metrics.observeAttempt,
    random: Math.random,
  });
  onClose(() => runQueue.stop());
  metrics.addRunners(() => runQueue.describeRunners());
  const reports = new ReceiverReports({
    ...{ deliveryLog, log, nowMs, reader: store.deliveries, runFiles: store.runFiles },
    settle: (run, result) => runQueue.settle(run, result),
    openMasking: async run => runners.find(run).openMasking?.(run),
  });
  onClose(() => reports.stop());
  const callbacks = openCallbacksAt?.();
  return { runQueue, reports: callbacks && openReportEndpoint({ callbacks, reports, log }) };
}
