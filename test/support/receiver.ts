import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { startLoopbackServer } from './loopback-server.ts';

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
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    requests.push({ method, url, headers, body: Buffer.concat(chunks) });
    answer(request, response);
  });
  return { requests, url: `${origin}/runs` };
}
