import { randomFillSync } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { apiRoutes } from '../schema/api/routes.ts';
import { toOwnBaseUrl } from '../schema/ingress-url.ts';
import { findRateLimit } from '../schema/rate-limits.ts';
import type { Close, Condition, DaemonOptions, OnClose, Parts } from './daemon-parts.ts';
import { createAddressReader, createProxyCheck } from './http/client-address.ts';
import { type ConnectionShares, readDescriptorLimit, shareConnections } from './http/connections.ts';
import {
  closeServer,
  createBoundedServer,
  type ListenPlace,
  listen,
  type PassedSockets,
} from './http/http-server.ts';
import { createMemoryBudgets, createSharedBudgets } from './ingress/budgets.ts';
import { createIngress, type IngressOptions } from './ingress/ingress.ts';
import { createApi } from './management/api/create-api.ts';
import { findDashboardDirectory, readDashboardFiles } from './management/dashboard-files.ts';
import { openIssuerCallers } from './management/guards/issuer-callers.ts';
import { createManagement } from './management/management.ts';
import { openSignIn } from './management/sign-in/open-sign-in.ts';
import { connectionsMax } from './settings.ts';

/** @limit Time from the signal to stop until connections are cut, in ms: the process must be gone within 10 s. */
const stopGraceMs = 7_000;

/** @limit Time that the requests on the management port have to end when the daemon stops, in ms: after the ingress, in what is left of the 10 s. */
const managementGraceMs = 1_000;

/** Bytes fetched at once: enough for 512 ids. */
const poolBytes = 8 * 1024;

const notReadyPhases = {
  starting: 'the daemon is starting',
  running: undefined,
  stopping: 'the daemon is stopping',
} as const;

/** Serves the management port. Returns its URL. */
export async function startManagement(
  { store, settings, version, sockets, environment, log, nowMs, monotonicMs }: DaemonOptions,
  parts: Parts,
  condition: Condition,
  onClose: OnClose,
): Promise<string> {
  const { deliveryLog, served, keys, live, metrics, readReconciles, daemonId, connections } = parts;
  const { managementUrl } = settings;
  const readClientAddress = createAddressReader(settings.trustProxies);
  const signIn =
    settings.signIn &&
    (await openSignIn({
      ...{ settings: settings.signIn, managementUrl: managementUrl ?? '', environment, nowMs },
      teamSecrets: store.teamSecrets,
    }));
  const api = createApi({
    ...{ store, served, deliveryLog, live, managementUrl, signIn, nowMs, monotonicMs, log },
    workloads: openIssuerCallers({ ...settings.oidc, managementUrl, keys, nowMs }),
    answerInThread: (request, turn) => {
      const { thread } = apiRoutes[request.id];
      const answering = thread === 'lists' || thread === 'outside' ? parts.threads[thread] : parts.thread;
      return answering.run('answerRequest', request, turn);
    },
    readClientAddress,
    facts: { version, startedAt: new Date(nowMs()).toISOString(), settings },
    requestsPerMinute: settings.limits.apiRequestsPerMinute,
    baseUrl: () => condition.baseUrl,
    listensAt: () => condition.listensAt,
  });
  onClose(() => api.close());
  const management = createManagement({
    ...{ served, metrics, readReconciles, readIssuers: keys.status, api: api.router, identify: api.identify },
    ...{ managementUrl, daemonId, log, readClientAddress, monotonicMs },
    dashboard: await readDashboardFiles(findDashboardDirectory()),
    notReady: () =>
      condition.failure ??
      notReadyPhases[condition.phase] ??
      deliveryLog.describeTrouble() ??
      served.describeUnserved(),
  });
  const server = createBoundedServer(management.callback(), {
    connections: connections.management,
    publicUrl: managementUrl,
    isProxy: createProxyCheck(settings.trustProxies),
  });
  const place = { port: settings.managementPort, host: '127.0.0.1' };
  const address = await listen(server, passedSocket('management', sockets) ?? place);
  onClose(() => {
    live.close();
    return closeServer(server, managementGraceMs);
  });
  return toUrl(address);
}

/** Serves the ingress. Returns its URL, and a function that closes it. */
export async function startIngress(
  { store, settings, sockets, log, nowMs, monotonicMs }: DaemonOptions,
  {
    deliveryLog,
    served,
    unlogged,
    metrics,
    traces,
    reports,
    connections,
  }: Parts & Pick<IngressOptions, 'reports'>,
  condition: Condition,
  onAccepted: IngressOptions['onAccepted'],
): Promise<{ readonly url: string; readonly close: Close }> {
  const rates = { ...settings.limits, webhooks: settings.webhooks };
  const app = createIngress({
    deps: {
      findWebhook: served.findWebhook,
      isUnserved: served.isUnserved,
      budgets: store.replicas
        ? createSharedBudgets(settings.limits, monotonicMs, store.replicas)
        : createMemoryBudgets(settings.limits, monotonicMs),
      findRate: webhook => findRateLimit(rates, webhook),
      randomBytes: createRandomPool(),
      ...{ deliveryLog, nowMs },
    },
    ...{ settings, log, unlogged, traces, reports, onAccepted },
    observe: metrics.observeRequest,
    isStopping: () => condition.phase === 'stopping',
  });
  const server = createBoundedServer(app.callback(), {
    requestMs: settings.limits.requestSeconds * 1_000,
    connections: connections.ingress,
    publicUrl: settings.baseUrl,
    isProxy: createProxyCheck(settings.trustProxies),
  });
  const place = { port: settings.port, host: settings.host };
  const address = await listen(server, passedSocket('ingress', sockets) ?? place);
  const url = toUrl(address);
  condition.baseUrl = settings.baseUrl ?? toOwnBaseUrl(url);
  condition.listensAt = url;
  return { url, close: () => closeServer(server, stopGraceMs) };
}

function passedSocket(name: keyof PassedSockets, sockets: PassedSockets = {}): ListenPlace | undefined {
  const fd = sockets[name];
  return fd === undefined ? undefined : { fd, name };
}

function toUrl({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/**
 * Shares the connections that the process can have between the ports. Without enough descriptors, connections wait in
 * the queue of the system, where no rule of ours chooses among them.
 */
export function boundConnections({ settings, log }: DaemonOptions): ConnectionShares {
  const wanted = { ingress: settings.limits.connections, management: connectionsMax };
  const descriptors = readDescriptorLimit();
  const shares = shareConnections(wanted, descriptors);
  if (shares.ingress < wanted.ingress) {
    const lowered =
      'the limit of open files allows fewer connections than limits.connections; raise it (LimitNOFILE=, ulimit -n)';
    log.warn({ openFiles: descriptors, connections: shares.ingress, wanted: wanted.ingress }, lowered);
  }
  return shares;
}

/**
 * Creates a source of random bytes. It fetches many at once, because asking the system for the 16 bytes of each ID
 * costs more than the rest of creating the ID.
 */
function createRandomPool(): (count: number) => Uint8Array {
  const pool = Buffer.alloc(poolBytes);
  let used = poolBytes;
  return count => {
    if (used + count > poolBytes) {
      randomFillSync(pool);
      used = 0;
    }
    used += count;
    return pool.subarray(used - count, used);
  };
}
