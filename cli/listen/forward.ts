import http from 'node:http';
import https from 'node:https';
import type { DeliveryView } from '../../operations/views/delivery-views.ts';
import { UnreachableError } from '../exit-status.ts';

/** Headers of the connection on which a delivery arrived, not of the delivery. */
const connectionHeaders = new Set([
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'transfer-encoding',
]);

/**
 * Posts a delivery to a URL: the exact body, the headers that were kept, and its id. Returns the status of the answer,
 * for which it waits as long as it takes: somebody may debug the receiver. Rejects with UnreachableError without one.
 */
export function forward(
  to: string,
  { id, webhook, headers = {} }: Pick<DeliveryView, 'id' | 'webhook' | 'headers'>,
  body: Uint8Array,
): Promise<number> {
  const { request } = to.startsWith('https:') ? https : http;
  const kept = Object.entries(headers).filter(([name]) => !connectionHeaders.has(name));
  return new Promise((resolve, reject) => {
    const sent = request(to, {
      method: 'POST',
      // One for each delivery: a receiver that restarts would have closed a connection that is kept.
      agent: false,
      headers: {
        // A header is bytes, and node writes each character as one.
        ...Object.fromEntries(kept.map(([name, value]) => [name, Buffer.from(value).toString('latin1')])),
        'hookmill-delivery-id': id,
        'hookmill-webhook': webhook,
        'content-length': body.length,
      },
    });
    sent.once('response', response => {
      response.resume().once('close', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', (error: NodeJS.ErrnoException) => {
      reject(new UnreachableError(`${to} does not take ${id} (${error.code ?? error.message})`));
    });
    sent.end(body);
  });
}
