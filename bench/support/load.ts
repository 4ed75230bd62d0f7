import autocannon from 'autocannon';

export interface Target {
  readonly name: string;
  readonly url: string;
  readonly token?: string | undefined;
  /** The status that each answer must have; 202 unless given. */
  readonly status?: number;
  /** More keys for the body, which has an id that makes it unique. */
  readonly body?: object;
}

/** Posts bodies of about 1 KB for as long as asked. Fails if one is answered otherwise than expected. */
export async function load(
  target: Target,
  { seconds, connections }: { readonly seconds: number; readonly connections: number },
): Promise<autocannon.Result> {
  const { name, url, token, status = 202, body } = target;
  const result = await autocannon({
    url,
    method: 'POST',
    connections,
    duration: seconds,
    idReplacement: true,
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ id: '[<id>]', ...body, data: { text: 'x'.repeat(900) } }),
  });
  const expected = result.statusCodeStats?.[String(status) as '202']?.count ?? 0;
  if (result.errors > 0 || expected !== result.requests.total) {
    throw new Error(`${name}: ${JSON.stringify(result.statusCodeStats)}, ${result.errors} errors`);
  }
  return result;
}

/** Loads the targets in turn, round by round, so that a noisy machine troubles all alike; the first round warms up. */
export async function loadInTurn(
  targets: readonly Target[],
  options: { readonly seconds: number; readonly connections: number; readonly rounds: number },
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
