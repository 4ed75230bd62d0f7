// Measures the queries of `deliveries list` and `runs list` with a time range over a full log, by HTTP: each first page, and
// whole searches. Then compares the times of the ingress at a constant rate while a search is repeated, and while none is.
// Usage: npm run bench:queries [-- --rows 10000000 --runs 1000000 --payloads 100000 --rate 300 --seconds 8 --rounds 3]
import { join } from 'node:path';
import { fillLog, fillRuns } from './accept-path/fill-log.ts';
import { sendAtRate } from './accept-path/open-loop.ts';
import { inTemporaryDirectory, openFactory } from './support/factory.ts';
import { parseNumbers } from './support/options.ts';
import { median, percentile, round } from './support/statistics.ts';

const options = parseNumbers({
  ...{ rows: 10_000_000, runs: 1_000_000, payloads: 100_000 },
  ...{ rate: 300, seconds: 8, rounds: 3 },
});
const hourMs = 3_600_000;
const needle = 'order-4711';

await inTemporaryDirectory(async directory => {
  const factory = openFactory(directory);
  const token = await factory.hookmill('tokens', 'create', 'bench', '--permission', 'manage');
  await factory.hookmillWith('bench-token', 'secrets', 'set', 'LOAD_TOKEN');
  factory.write('webhooks/load.yaml', 'secretName: LOAD_TOKEN\n');
  const uid = (await factory.apply()).get('load') ?? '';
  const payload = Buffer.from(JSON.stringify({ type: 'build', text: 'x'.repeat(1_000) }));
  const file = join(factory.home, 'deliveries.db');
  fillLog(file, uid, options.rows, { newest: { count: options.payloads, payload } });
  fillRuns(file, options);
  const daemon = await factory.serve();
  const target = { name: 'load', url: `${daemon.ingressUrl}/webhooks/w/${uid}`, token: 'bench-token' };
  const read = client(daemon.managementUrl, token);
  await measureQueries(read);
  await measureIngress(read, target);
});

type Read = (path: string) => Promise<{ next: string | null; searched: number }>;

function client(managementUrl: string, token: string): Read {
  const headers = { authorization: `Bearer ${token.trim()}` };
  return async path => {
    const answer = await fetch(`${managementUrl}/api/v1/factories/default${path}`, { headers });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Awaited<ReturnType<Read>>;
  };
}

/** Reads a list to its end, and returns how many rows were looked at. */
async function readAll(read: Read, path: string): Promise<{ pages: number; searched: number }> {
  let searched = 0;
  let pages = 0;
  for (let cursor = ''; ; ) {
    const page = await read(`${path}&limit=200${cursor}`);
    searched += page.searched;
    pages++;
    if (page.next === null) return { pages, searched };
    cursor = `&cursor=${page.next}`;
  }
}

async function measureQueries(read: Read): Promise<void> {
  const ago = (hours: number) => encodeURIComponent(new Date(Date.now() - hours * hourMs).toISOString());
  const hour = `since=${ago(73)}&until=${ago(72)}`;
  const searched = `since=${ago((24 * 6 * options.payloads) / options.rows)}`;
  const queries = {
    'deliveries of the last 2 h': `/deliveries?since=${ago(2)}`,
    'of an hour three days ago': `/deliveries?${hour}`,
    'of a webhook': `/deliveries?webhook=load&${hour}`,
    'of an outcome that none has': `/deliveries?outcome=Duplicate&${hour}`,
    'of an automation': `/deliveries?automation=triage&${hour}`,
    'with a failed run': `/deliveries?state=failed&${hour}`,
    'of an event type that none has': `/deliveries?event=push&${hour}`,
    'with a text that none has': `/deliveries?search=${needle}&${hour}`,
    'oldest first': `/deliveries?after=start&${hour}`,
    'to follow from now on': '/deliveries?after=now',
    'runs of the last 2 h': `/runs?since=${ago(2)}`,
    'failed runs of an hour': `/runs?state=failed&${hour}`,
    'runs of an automation in an hour': `/runs?automation=triage&${hour}`,
    'runs with a text that none has': `/runs?search=${needle}&${hour}`,
  };
  const rows = [];
  for (const [name, path] of Object.entries(queries)) {
    const times: number[] = [];
    for (let count = 0; count < 20; count++) {
      const startMs = performance.now();
      await read(path);
      times.push(performance.now() - startMs);
    }
    rows.push({ query: name, 'median ms': round(median(times)), 'worst ms': round(Math.max(...times)) });
  }
  console.table(rows);
  const whole = {
    [`a text in ${options.payloads} payloads`]: `/deliveries?search=${needle}&${searched}`,
    'a text in an hour': `/deliveries?search=${needle}&${hour}`,
    'failed runs of all time': `/runs?state=failed&since=${ago(200)}`,
  };
  for (const [name, path] of Object.entries(whole)) {
    const startMs = performance.now();
    const found = await readAll(read, path);
    console.log(
      `${name}, to the end: ${Math.round(performance.now() - startMs)} ms, ${JSON.stringify(found)}`,
    );
  }
}

async function measureIngress(
  read: Read,
  target: { name: string; url: string; token: string },
): Promise<void> {
  const alone: number[][] = [];
  const searched: number[][] = [];
  const load = () => sendAtRate(target, options.rate, { seconds: options.seconds, connections: 64 });
  for (let turn = 0; turn < options.rounds; turn++) {
    alone.push([...(await load())]);
    let isLoading = true;
    const searching = (async () => {
      while (isLoading) await read(`/deliveries?search=${needle}&limit=200`);
    })();
    searched.push([...(await load())]);
    isLoading = false;
    await searching;
  }
  const p = (samples: number[][], part: number) => median(samples.map(times => percentile(times, part)));
  const row = (name: string, samples: number[][]) => ({
    ingress: name,
    'p50 ms': round(p(samples, 0.5), 2),
    'p99 ms': round(p(samples, 0.99), 2),
  });
  console.table([row('alone', alone), row('while a search is repeated', searched)]);
  const ratios = alone.map((times, turn) => percentile(searched[turn] ?? [], 0.99) / percentile(times, 0.99));
  console.log(
    `p99 ratio ${round(median(ratios), 2)}, ${options.rate}/s, medians of ${options.rounds} rounds`,
  );
}
