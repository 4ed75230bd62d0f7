import http from 'node:http';
import https from 'node:https';
import type { DeliveryView } from '../../operations/views/delivery-views.ts';
import { listForwardedHeaders } from '../../schema/clients/render-curl.ts';
import { encodeHeaderValue } from '../../schema/header-value.ts';
import { UnreachableError } from '../exit-status.ts';

/** The headers with which a delivery is forwarded, and the names of those that HTTP does not allow. */
interface ForwardedHeaders {
  readonly sent: Readonly<Record<string, string>>;
  readonly omitted: readonly string[];
}

/** Lists the headers that were kept, and those by which hookmill names the delivery. A server may have sent anything. */
export function toForwardedHeaders({
  id,
  webhook,
  headers,
  form,
}: Pick<DeliveryView, 'id' | 'webhook' | 'headers' | 'form'>): ForwardedHeaders {
  const named = [
    ...listForwardedHeaders({ headers, form }),
    ...Object.entries({ 'hookmill-delivery-id': id, 'hookmill-webhook': webhook }),
  ];
  const written = named.map(([name, value]) => [name, encodeHeaderValue(value)] as const);
  return {
    sent: Object.fromEntries(written.filter(isAllowed)),
    omitted: written.filter(header => !isAllowed(header)).map(([name]) => name),
  };
}

/** Whether node writes a header. It refuses, for example, a line end. */
function isAllowed([name, value]: readonly [string, string]): boolean {
  try {
    http.validateHeaderName(name);
    http.validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

/**
 * Posts a delivery's exact body to a URL. Returns the status of the answer, for which it waits as long as it takes:
 * somebody may debug the receiver. Rejects with UnreachableError without one.
 */
export function forward(
  to: string,
  id: string,
  headers: ForwardedHeaders['sent'],
  body: Uint8Array,
): Promise<number> {
  const { request } = to.startsWith('https:') ? https : http;
  return new Promise((resolve, reject) => {
    const sent = request(to, {
      method: 'POST',
      // One for each delivery: a receiver that restarts would have closed a connection that is kept.
      agent: false,
      headers: { ...headers, 'content-length': body.length },
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
