import autocannon from 'autocannon';

export interface Target {
  readonly name: string;
  readonly url: string;
  readonly token?: string | undefined;
  /** The status that each answer must have; 202 unless given. */
  readonly status?: number;
  /** More keys for the body, beside the id that makes it unique. */
  readonly body?: object;
}

/** Posts bodies of about 1 KB for the given time. Fails if an answer is not the expected one. */
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

/** Loads the targets in turn, so that other load affects all equally. The first round only warms up. */
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
