import http from 'node:http';
import { Refusal } from '../../schema/refusal.ts';

/** @limit Time in which the ingress must answer a test, in ms: it usually answers in a few, and commands wait for 30 s. */
const answerMs = 10_000;

/** @limit Most bytes of an answer to a test that are read: the ingress answers with less than one KiB. */
const answerBytesMax = 64 * 1024;

export interface PostedDelivery {
  /** Where the ingress listens: `http://`, an address and a port. */
  readonly listensAt: string;
  /** Its host is sent as `Host`: the ingress may derive from it what its sender signed. */
  readonly url: string;
  /** The path of the ingress, with the query. Never log it: it has the token of a `url_token` webhook. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/**
 * Posts a delivery to where the ingress listens on this machine, without the proxy or TLS of its public URL. Fails with
 * `daemon-unreachable`, and repeats nothing of the request.
 */
export function postDelivery({ listensAt, url, target, headers, body }: PostedDelivery) {
  const { hostname, port } = new URL(listensAt);
  return new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
    const refuse = (cause: Error) => {
      const detail = `the ingress at ${listensAt} did not answer (${'code' in cause ? cause.code : cause.name})`;
      reject(new Refusal('daemon-unreachable', { detail }, { cause }));
    };
    const request = http.request(
      {
        ...{ host: toReachable(hostname), port, path: target, method: 'POST', agent: false },
        headers: {
          ...Object.fromEntries(headers),
          Host: new URL(url).host,
          'Content-Length': body.length,
        },
        signal: AbortSignal.timeout(answerMs),
      },
      response => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes <= answerBytesMax) chunks.push(chunk);
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
        );
        response.on('error', refuse);
      },
    );
    request.on('error', refuse);
    request.end(body);
  });
}

/** The address at which this machine reaches a server that listens at all of its addresses. */
function toReachable(hostname: string): string {
  if (hostname === '0.0.0.0') return '127.0.0.1';
  if (hostname === '[::]') return '::1';
  return hostname.replace(/^\[|\]$/g, '');
}
