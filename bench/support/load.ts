import { createHmac, randomUUID } from 'node:crypto';
import autocannon from 'autocannon';

export interface Target {
  readonly name: string;
  readonly url: string;
  readonly token?: string | undefined;
  /** Signs each body as GitHub does. */
  readonly secret?: string | undefined;
  /** The statuses that answers may have; only 202 unless given. */
  readonly statuses?: readonly number[];
  /** One more header of the request with this number, counted from 0. */
  readonly header?: (count: number) => readonly [name: string, value: string];
  /** More keys for the body, beside the id that makes it unique. */
  readonly body?: object;
}

export interface LoadOptions {
  readonly seconds: number;
  readonly connections: number;
}

/** Returns a function that makes the headers and the body of a request; each body is unique, and about 1 KB long. */
export function prepareRequests({ token, secret, header, body }: Target) {
  const run = randomUUID();
  let count = 0;
  return () => {
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    const [name, value] = header?.(count) ?? [];
    if (name !== undefined && value !== undefined) headers[name] = value;
    const text = JSON.stringify({ id: `${run}-${count++}`, ...body, data: { text: 'x'.repeat(900) } });
    if (token !== undefined) headers.authorization = `Bearer ${token}`;
    if (secret !== undefined) {
      headers['x-hub-signature-256'] = `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;
    }
    return { headers, body: text };
  };
}

/** Requests per second. */
export function rateOf({ requests, duration }: autocannon.Result): number {
  return requests.total / duration;
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

/** Loads the targets in turn, so that other load affects all equally. The first round only warms up. */
export async function loadInTurn(
  targets: readonly Target[],
  options: LoadOptions & { readonly rounds: number },
): Promise<ReadonlyMap<string, readonly autocannon.Result[]>> {
  const results = new Map<string, autocannon.Result[]>(targets.map(({ name }) => [name, []]));
  for (let round = 0; round <= options.rounds; round++) {
    for (const target of targets) {
      const result = await load(target, options);
      if (round > 0) results.get(target.name)?.push(result);
    }
  }
  return results;
}
