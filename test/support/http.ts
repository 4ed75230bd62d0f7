import { once } from 'node:events';
import { type Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { findScheme } from '../../signatures/schemes.ts';
import { eventually } from './eventually.ts';

/** A request. The default method is POST. */
export interface Sent {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Several pieces are sent with chunked encoding. */
  readonly body?: string | Uint8Array | readonly (string | Uint8Array)[];
  /** The address that the request comes from. */
  readonly localAddress?: string;
  /** Replaces the URL's path; sent exactly as it is. */
  readonly target?: string;
  /** Provides the connection. By default, each request has its own. */
  readonly agent?: Agent;
  /** Sends only the head: the answer must come without the rest. */
  readonly headOnly?: true;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Only if the delivery was accepted, or is a duplicate. */
  readonly deliveryId: string | undefined;
}

/** Sends a request and returns the answer. */
export async function send(url: string, sent: Sent = {}): Promise<Answer> {
  const { method = 'POST', headers = {}, body = '', localAddress, target, agent = false, headOnly } = sent;
  const { hostname, port, pathname, search } = new URL(url);
  const path = target ?? pathname + search;
  const outgoing = request({ hostname, port, path, method, localAddress, agent, headers });
  if (headOnly) outgoing.flushHeaders();
  else if (typeof body === 'string' || body instanceof Uint8Array) {
    // Sends bytes: with a string, node would also send the headers in UTF-8.
    outgoing.end(Buffer.from(body));
  } else {
    for (const piece of body) outgoing.write(piece);
    outgoing.end();
  }
  const [incoming] = await once(outgoing, 'response');
  const text = Buffer.concat(await incoming.toArray()).toString();
  if (headOnly) outgoing.destroy();
  const deliveryId = text.startsWith('{"delivery_id":') ? JSON.parse(text).delivery_id : undefined;
  return { status: incoming.statusCode, headers: incoming.headers, body: text, deliveryId };
}

/**
 * Gets a text on a connection that ends with the answer. `fetch` leaves its connection open, for which a daemon that stops
 * would wait half a second.
 */
export async function read(url: string): Promise<string> {
  return (await send(url, { method: 'GET' })).body;
}

/** The status with which a delivery under this scheme is accepted. */
export function successStatusOf(scheme: unknown): number {
  return (typeof scheme === 'string' && findScheme(scheme)?.success?.status) || 202;
}

/** A connection on which a test sends each byte itself. */
export interface RawConnection {
  readonly socket: Socket;
  write(bytes: string | Uint8Array): void;
  /** Waits until what was received matches the pattern, and returns all of it as Latin-1. */
  receives(pattern: RegExp): Promise<string>;
  /** Resolves with everything received, once the connection is closed, even by an error. */
  readonly closed: Promise<string>;
}

export async function connectTo(url: string, localAddress?: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, localAddress });
  let received = '';
  socket.setEncoding('latin1').on('data', text => {
    received += text;
  });
  const closed = new Promise<string>(resolve => {
    socket.on('error', () => resolve(received)).on('close', () => resolve(received));
  });
  await once(socket, 'connect');
  onTestFinished(() => {
    socket.destroy();
  });
  return {
    socket,
    write: bytes => {
      socket.write(bytes);
    },
    receives: async pattern => {
      await eventually(() => pattern.test(received));
      return received;
    },
    closed,
  };
}

/** The head of a POST as text, its last empty line included. */
export function head(url: string, lines: readonly string[]): string {
  const { pathname, host } = new URL(url);
  return [`POST ${pathname} HTTP/1.1`, `Host: ${host}`, ...lines, '', ''].join('\r\n');
}
