import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** Starts an HTTP server on loopback, by default for the test. Returns its origin, such as `http://127.0.0.1:12345`. */
export async function startLoopbackServer(
  answer: RequestListener,
  onEnd: (end: () => void) => void = onTestFinished,
): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface ReceivedRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Starts a receiver on loopback that keeps what it is sent, and answers as the test says. */
export async function startReceiver(answer: RequestListener) {
  const requests: ReceivedRequest[] = [];
  const origin = await startLoopbackServer(async (request, response) => {
    const { method, url, headers } = request;
    requests.push({ method, url, headers, body: await buffer(request) });
    answer(request, response);
  });
  return { requests, url: `${origin}/runs` };
}

/**
 * Starts a server that passes requests on to another one, and alters its answers, in JSON and as bytes: what somebody else's server may
 * send to the command line. Ends with the test. Returns its URL.
 */
export function startAlteringServer(
  url: string,
  // biome-ignore lint/suspicious/noExplicitAny: an altered answer may have any shape
  alter: (answer: any, path: string) => unknown,
  alterBody: (body: Buffer) => string | Uint8Array = body => body,
): Promise<string> {
  return startLoopbackServer(({ url: path = '', method, headers }, response) => {
    const passed = request(url + path, { method, headers }, async answer => {
      const body = await buffer(answer);
      const isJson = answer.headers['content-type']?.includes('json');
      const altered = isJson ? JSON.stringify(alter(JSON.parse(`${body}`), path)) : alterBody(body);
      response
        .writeHead(answer.statusCode ?? 0, isJson ? { 'content-type': 'application/json' } : {})
        .end(altered);
    });
    passed.end();
  });
}
