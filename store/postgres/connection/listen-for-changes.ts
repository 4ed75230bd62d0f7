import { once } from 'node:events';
import { Socket } from 'node:net';
import { setInterval as every, setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Watch } from '../../ports/documents.ts';
import { connectMs } from './pool.ts';

/** @limit First and longest wait before the lost connection for notifications is made again, in ms. */
const againMs = { first: 100, longest: 10_000 };
/** @limit Time between two signs of life of the connection for notifications, in ms: a dead one may look idle. */
const aliveMs = 10_000;

/** The channel of all notifications. The payload says what changed. */
export const notificationChannel = 'hookmill';

/**
 * Calls `onNotification` for each notification with that payload, and whenever some may have been missed. Connects
 * again, after longer and longer waits, when the connection is lost. Resolves after the first attempt to connect.
 */
export async function listenForChanges(
  url: string,
  payload: string,
  onNotification: () => void,
): Promise<Watch> {
  const stop = new AbortController();
  const attempted = Promise.withResolvers<void>();
  const keepListening = async () => {
    for (let failures = 0; !stop.signal.aborted; failures++) {
      await listenOnce(url, payload, onNotification, stop.signal, () => {
        failures = 0;
        attempted.resolve();
      }).catch(ignore);
      attempted.resolve();
      await sleep(waitAfter(failures), undefined, { ref: false, signal: stop.signal }).catch(ignore);
    }
  };
  void keepListening();
  await attempted.promise;
  return { close: async () => stop.abort() };
}

/** Listens until the connection is lost, or `signal` aborts. */
async function listenOnce(
  url: string,
  payload: string,
  onNotification: () => void,
  signal: AbortSignal,
  onListening: () => void,
): Promise<void> {
  const socket = new Socket();
  const client = new pg.Client({
    connectionString: url,
    application_name: 'hookmill',
    connectionTimeoutMillis: connectMs,
    query_timeout: connectMs,
    keepAlive: true,
    stream: () => socket,
  });
  client.on('error', ignore);
  client.on('notification', message => message.payload === payload && onNotification());
  const ended = once(client, 'end', { signal });
  ended.catch(ignore);
  try {
    await client.connect();
    await client.query(`LISTEN ${notificationChannel}`);
    onListening();
    onNotification();
    await Promise.race([ended, showLife(client, signal)]);
  } finally {
    // A connection whose other side is silent would not end: the process does not wait for it.
    socket.unref();
    client.end().catch(ignore);
  }
}

async function showLife(client: pg.Client, signal: AbortSignal): Promise<void> {
  for await (const _ of every(aliveMs, undefined, { signal, ref: false })) await client.query('SELECT 1');
}

/** Doubles with each failure. Half of it is random, so that replicas do not all come back at the same moment. */
function waitAfter(failures: number): number {
  const wait = Math.min(againMs.first * 2 ** failures, againMs.longest);
  return wait * (1 - Math.random() / 2);
}

function ignore(): undefined {
  return undefined;
}
