import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Claim, Store } from '../store/ports/store.ts';
import { StoreError } from '../store/ports/store-error.ts';
import { createProxyCheck } from './http/client-address.ts';
import { closeServer, createBoundedServer, listen, type PassedSockets } from './http/http-server.ts';
import { createProblemRenderer } from './ingress/answer.ts';
import { isAskedDirectly } from './management/guards/browser-guards.ts';
import type { DaemonSettings } from './settings.ts';

/** @limit Time between two looks whether a copy to the store is complete, in ms: senders try again later than that. */
const copyPollMs = 2_000;
/** @limit Time after which senders should try again while a copy to the store is not complete, in seconds: it may take minutes. */
const copyRetrySeconds = 30;
/** @limit Time for the last answers that a copy to the store is not complete, in ms: nothing is read for them. */
const closeMs = 1_000;

interface Options {
  readonly store: Pick<Store, 'claimDaemon'>;
  readonly settings: DaemonSettings;
  readonly sockets?: PassedSockets;
  readonly log: Logger;
}

/**
 * Reserves the store for this daemon. While a copy or restore to it is not complete, both ports answer 503, and the store
 * is only looked at, so that the copy can go on. A socket that the service manager passed is left to it: connections wait
 * there. Undefined if `stopping` aborts first. Fails as `claimDaemon`.
 */
export async function claimWhenComplete(options: Options, stopping: AbortSignal): Promise<Claim | undefined> {
  const { store, log } = options;
  const unless = (codes: readonly string[]) => (error: unknown) => {
    if (error instanceof StoreError && codes.includes(error.code)) return error;
    throw error;
  };
  let claim = await store.claimDaemon().catch(unless(['incomplete']));
  if (!(claim instanceof StoreError)) return claim;
  const { urls, close } = await answerUnavailable(options, claim.message);
  log.warn({ ...urls, reason: claim.message }, 'nothing is served until the copy to this store is complete');
  try {
    while (claim instanceof StoreError) {
      await sleep(copyPollMs, undefined, { signal: stopping }).catch(() => undefined);
      if (stopping.aborted) return undefined;
      // The copy that completed it still holds the store for a moment.
      claim = await store.claimDaemon().catch(unless(['incomplete', 'locked']));
    }
    log.info('the copy to this store is complete');
    return claim;
  } finally {
    await close();
  }
}

/** Answers 503 on both ports. */
async function answerUnavailable({ settings, sockets = {} }: Options, reason: string) {
  const { status, body } = createProblemRenderer()('not-served', copyRetrySeconds);
  const headers = { 'Content-Type': 'application/problem+json', 'Retry-After': copyRetrySeconds };
  const refuse: RequestListener = (_, response) => {
    response.writeHead(status, { ...headers, Connection: 'close' }).end(body);
  };
  const tellHealth: RequestListener = (request, response) => {
    const path = request.method === 'GET' ? request.url : undefined;
    if (path !== '/healthz' && path !== '/readyz') return refuse(request, response);
    const isWatched = isAskedDirectly(request, settings.managementUrl);
    const isAlive = path === '/healthz';
    const health = isAlive ? { status: 'ok' } : { status: 'not ready', ...(isWatched && { reason }) };
    response.writeHead(isAlive ? 200 : 503, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(health));
  };
  const isProxy = createProxyCheck(settings.trustProxies);
  const { baseUrl, managementUrl, host, port, managementPort } = settings;
  const servers = [
    { name: 'ingress', listener: refuse, publicUrl: baseUrl, host, port },
    {
      name: 'management',
      listener: tellHealth,
      publicUrl: managementUrl,
      host: '127.0.0.1',
      port: managementPort,
    },
  ] as const;
  const open = servers.filter(({ name }) => sockets[name] === undefined);
  const listening = open.map(async ({ name, listener, publicUrl, ...place }) => {
    const server = createBoundedServer(listener, { isProxy, publicUrl });
    const { address, port } = await listen(server, place);
    return { server, url: [name, `http://${address}:${port}`] as const };
  });
  const opened = await Promise.all(listening);
  return {
    urls: Object.fromEntries(opened.map(({ url }) => url)),
    close: () => Promise.all(opened.map(({ server }) => closeServer(server, closeMs))),
  };
}
