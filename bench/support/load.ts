import { createHmac, randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import autocannon from 'autocannon';
import { median } from './statistics.ts';
import { measureInTurn, pace } from './timing.ts';

export interface Target {
  readonly name: string;
  readonly url: string;
  /** Answers with the metrics of the server, among them the processor time that it has used. */
  readonly metricsUrl?: string;
  readonly token?: string | undefined;
  /** Signs each body as GitHub does. */
  readonly secret?: string | undefined;
  /** The statuses that answers may have; only 202 unless given. */
  readonly statuses?: readonly number[];
  /** More headers of the request with this number, counted from 0. */
  readonly headers?: (count: number) => Readonly<Record<string, string>>;
  /** More keys for the body, beside the id that makes it unique. */
  readonly body?: object;
}

export interface LoadOptions {
  readonly seconds: number;
  readonly connections: number;
}

export interface PreparedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns a function that makes the headers and the body of a request; each body is unique, and about 1 KB long. */
export function prepareRequests({ token, secret, headers: more, body }: Target): () => PreparedRequest {
  const run = randomUUID();
  let count = 0;
  return () => {
    const headers: Record<string, string> = { 'content-type': 'application/json', ...more?.(count) };
    const text = JSON.stringify({ id: `${run}-${count++}`, ...body, data: { text: 'x'.repeat(900) } });
    if (token !== undefined) headers.authorization = `Bearer ${token}`;
    if (secret !== undefined) {
      headers['x-hub-signature-256'] = `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;
    }
    return { headers, body: text };
  };
}

/** Posts to the target for the given time. Fails if an answer is not an expected one. */
export async function load(
  target: Target,
  { seconds, connections }: LoadOptions,
): Promise<autocannon.Result> {
  const { name, url, statuses = [202] } = target;
  const next = prepareRequests(target);
  const result = await autocannon({
    url,
    method: 'POST',
    connections,
    duration: seconds,
    // It ends with the first sample after that time.
    sampleInt: 100,
    requests: [{ setupRequest: request => ({ ...request, ...next() }) }],
  });
  const counts = result.statusCodeStats as Readonly<Record<string, { readonly count?: number }>>;
  const expected = statuses.reduce((sum, status) => sum + (counts[status]?.count ?? 0), 0);
  if (result.errors > 0 || expected !== result.requests.total) {
    throw new Error(`${name}: ${JSON.stringify(counts)}, ${result.errors} errors`);
  }
  return result;
}

/** Posts to the target for the given time, and returns how many requests it answered per second. */
export async function measureRate(target: Target, options: LoadOptions): Promise<number> {
  const { requests, duration } = await load(target, options);
  return requests.total / duration;
}

/** Loads the targets in turn, and returns the median rate of each. */
export async function compareRates(
  targets: readonly Target[],
  { rounds, ...options }: LoadOptions & { readonly rounds: number },
): Promise<readonly number[]> {
  const cases = targets.map(target => [target.name, () => measureRate(target, options)] as const);
  const rates = await measureInTurn(Object.fromEntries(cases), rounds);
  return targets.map(({ name }) => median(rates[name] ?? []));
}

/**
 * Posts at a constant rate until `end` resolves, whether or not earlier requests were answered, and returns how long each
 * answer took, in ms. (autocannon sends all requests of a second at its beginning, each connection as fast as it can.)
 */
export async function sendAtRate(
  target: Target,
  perSecond: number,
  connections: number,
  end: Promise<unknown>,
): Promise<readonly number[]> {
  const { name, url } = target;
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const next = prepareRequests(target);
  const send = async () => {
    const { status, ms } = await post(url, next(), agent);
    if (status !== 202) throw new Error(`${name}: ${status}`);
    return ms;
  };
  const answers: Promise<number>[] = [];
  await pace(perSecond, end, () => answers.push(send()));
  const times = await Promise.all(answers);
  agent.destroy();
  return times;
}

/** Posts a body, and says how long the answer took. By default, the connection ends with it. */
export function post(
  url: string,
  { headers, body }: PreparedRequest,
  agent: Agent | false = false,
): Promise<{ status: number | undefined; text: string; ms: number }> {
  return new Promise((resolve, reject) => {
    const startMs = performance.now();
    const sent = request(url, { method: 'POST', agent, headers }, answer => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      answer.on('end', () => resolve({ status: answer.statusCode, text, ms: performance.now() - startMs }));
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
