import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onFileFinished } from '../file-end.ts';

/** A request to the API of a double, and the status of its answer. */
export interface ApiRequest {
  readonly method: string;
  /** As it was sent, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Undefined until it was answered. */
  answered?: number;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Written as JSON, in which a bigint has all its digits. A Buffer is written as it is. */
  readonly body?: unknown;
}

/** A clock that the test can move. Otherwise it goes on as time does. */
interface SenderClock {
  now(): number;
  set(timeMs: number): void;
  advance(durationMs: number): void;
}

/** How a provider is down: nothing listens, each answer is an error page, or no answer comes. */
type Outage = 'refused' | 'error' | 'silent';

/** What the doubles of all providers have. */
export interface SenderDouble {
  /** The API's address, such as `http://127.0.0.1:12345/api/v4`. */
  readonly url: string;
  readonly clock: SenderClock;
  readonly requests: readonly ApiRequest[];
  /**
   * What requests and answers had that the provider's description does not allow. The test file fails at its end if any
   * are left: a test that expects some takes them out.
   */
  readonly violations: string[];
  /** Answers the next requests with this, by default with a 500. */
  failNext(answer?: ApiAnswer, times?: number): void;
  /** Takes the API down, or up again. Deliveries to hooks go on. */
  setDown(outage: Outage | undefined): Promise<void>;
  /** Waits for the deliveries that the provider makes after it answered. */
  settled(): Promise<void>;
}

export interface SenderServer extends Omit<SenderDouble, 'url'> {
  readonly origin: string;
  /** Does something after the request was answered, as the provider does. `settled` waits for it. */
  afterwards(work: () => Promise<unknown>): void;
}

type Handle = (request: ApiRequest) => ApiAnswer | Promise<ApiAnswer>;

/** Starts the HTTP server of a double, for a test file. */
export async function startSenderServer(handle: Handle): Promise<SenderServer> {
  const requests: ApiRequest[] = [];
  const violations: string[] = [];
  const planned: ApiAnswer[] = [];
  const pending = new Set<Promise<unknown>>();
  let outage: Outage | undefined;
  const answer = async (request: ApiRequest): Promise<ApiAnswer> => {
    if (outage === 'error') return errorPage;
    try {
      return planned.shift() ?? (await handle(request));
    } catch (error) {
      violations.push(`The double failed: ${error instanceof Error ? error.stack : error}`);
      return errorPage;
    }
  };
  const serve = async (incoming: IncomingMessage, response: ServerResponse) => {
    const request = await readRequest(incoming);
    requests.push(request);
    if (outage === 'silent') return;
    const given = await answer(request);
    request.answered = given.status;
    write(response, given);
  };
  const server = createServer((request, response) => void serve(request, response));
  const listen = async (port: number) => void (await once(server.listen(port, '127.0.0.1'), 'listening'));
  const close = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const settled = async () => {
    while (pending.size > 0) await Promise.all(pending);
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  onFileFinished(async () => {
    await close();
    await settled();
    if (violations.length > 0) throw new Error(`The provider would not accept:\n${violations.join('\n')}`);
  });
  return {
    ...{ origin: `http://127.0.0.1:${port}`, clock: createClock(), requests, violations, settled },
    failNext: (given = { status: 500, body: { message: 'Server Error' } }, times = 1) => {
      planned.push(...Array.from({ length: times }, () => given));
    },
    setDown: async next => {
      outage = next;
      if (next === 'refused') await close();
      else if (!server.listening) await listen(port);
    },
    afterwards: work => {
      const working = new Promise(setImmediate).then(work).catch(error => {
        violations.push(`The double failed: ${error instanceof Error ? error.stack : error}`);
      });
      pending.add(working);
      void working.finally(() => pending.delete(working));
    },
  };
}

const errorPage: ApiAnswer = {
  ...{ status: 502, headers: { 'content-type': 'text/html' } },
  body: Buffer.from('<html><body><h1>502 Bad Gateway</h1></body></html>'),
};

async function readRequest(request: IncomingMessage): Promise<ApiRequest> {
  const { method = '', headers, url = '' } = request;
  const [path = '', ...query] = url.split('?');
  return { method, path, query: new URLSearchParams(query.join('?')), headers, body: await buffer(request) };
}

function write(response: ServerResponse, { status, headers, body }: ApiAnswer): void {
  const isText = body === undefined || Buffer.isBuffer(body);
  response.writeHead(status, { ...(isText ? {} : { 'content-type': 'application/json' }), ...headers });
  response.end(isText ? body : writeJson(body));
}

/** JSON in which a bigint is a number with all its digits. */
export function writeJson(value: unknown): string {
  const mark = 'a bigint: ';
  const text = JSON.stringify(value, (_key, part) => (typeof part === 'bigint' ? `${mark}${part}` : part));
  return text.replaceAll(new RegExp(`"${mark}(\\d+)"`, 'g'), '$1');
}

function createClock(): SenderClock {
  let ahead = 0;
  return {
    now: () => Date.now() + ahead,
    set: timeMs => {
      ahead = timeMs - Date.now();
    },
    advance: durationMs => {
      ahead += durationMs;
    },
  };
}

/** The JSON of a body. Text that is not JSON is left as text, which no description allows. */
export function parseApiBody({ body, headers }: ApiRequest): unknown {
  if (body.length === 0) return undefined;
  const text = body.toString();
  if (!headers['content-type']?.startsWith('application/json')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
