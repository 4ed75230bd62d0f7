// Measures a daemon over a full log. First its start, and the removal of what is past retention. Then the lists of
// `deliveries list` and `runs list` with a time range, by HTTP: each first page, and whole searches. Then the ingress at a
// constant rate, with and without a search that is repeated, how many deliveries it accepts beside one with an empty log, a
// backup, and a start after kill -9. Numbers may be written as 10k or 50m. A row takes 270 bytes and its payload.
// Usage: npm run bench:queries [-- --rows 10m --old 100k --runs 1m --payloads 100k --bytes 1000 --rate 300 --seconds 8 --rounds 3]
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fillLog, fillRuns } from './accept-path/fill-log.ts';
import { sendAtRate } from './accept-path/open-loop.ts';
import { awaitRetention, backUp, compareRates, measureMeanwhile, measureStart } from './queries/upkeep.ts';
import { type BenchFactory, inTemporaryDirectory, openFactory, requireDisk } from './support/factory.ts';
import { parseNumbers } from './support/options.ts';
import { median, percentile, round } from './support/statistics.ts';

const options = parseNumbers({
  ...{ rows: 10_000_000, old: 100_000, runs: 1_000_000 },
  ...{ payloads: 100_000, bytes: 1_000 },
  ...{ rate: 300, seconds: 8, rounds: 3 },
});
const hourMs = 3_600_000;
/** Every delivery is kept for so long. The log also has `--old` deliveries from the time before. */
const keptHours = 24 * 7;
const searchedPayloads = Math.min(options.payloads, 100_000);
const needle = 'order-4711';

await inTemporaryDirectory(async directory => {
  // The log, a backup of it, and what must stay free.
  requireDisk(directory, options.rows * 300 + 1.7 * options.payloads * options.bytes + 15e9);
  const [factory, other] = [openFactory(join(directory, 'full')), openFactory(join(directory, 'empty'))];
  const [uid = '', otherUid] = [await prepare(factory), await prepare(other)];
  const token = await factory.hookmill('tokens', 'create', 'bench', '--permission', 'manage');
  const file = join(factory.home, 'deliveries.db');
  const keptSinceMs = await fill(file, uid);
  const { daemon, seconds } = await measureStart(factory);
  console.log(`ready after ${seconds} s, with ${round(statSync(file).size / 1e9)} GB in the log`);
  const target = { name: 'full', url: `${daemon.ingressUrl}/webhooks/w/${uid}`, token: 'bench-token' };
  const steady = { target, rate: options.rate };
  console.table([await measureMeanwhile('retention', steady, awaitRetention(file, keptSinceMs))]);
  const read = client(daemon.managementUrl, token);
  await measureQueries(read);
  await measureIngress(read, target);
  const { ingressUrl } = await other.serve();
  const empty = { ...target, name: 'empty', url: `${ingressUrl}/webhooks/w/${otherUid}` };
  console.table([await compareRates(target, empty, { ...options, connections: 64 })]);
  const backup = backUp(factory);
  // SQLite's log grows while a backup reads: 15 KB for a delivery.
  console.table([await measureMeanwhile('backup', { target, rate: options.rate / 3 }, backup)]);
  console.log(`the backup has ${round((await backup).bytes / 1e9)} GB`);
  daemon.kill();
  console.log(`after kill -9, ready after ${(await measureStart(factory)).seconds} s`);
});

async function prepare(factory: BenchFactory): Promise<string | undefined> {
  await factory.hookmillWith('bench-token', 'secrets', 'set', 'LOAD_TOKEN');
  factory.write('webhooks/load.yaml', 'secretName: LOAD_TOKEN\n');
  return (await factory.apply()).get('load');
}

/** Fills the log, and returns since when retention keeps everything. */
async function fill(file: string, uid: string): Promise<number> {
  const keptMs = keptHours * hourMs;
  const toMs = Date.now();
  const fromMs = toMs - (keptMs * options.rows) / (options.rows - options.old);
  const start = JSON.stringify({ type: 'build', text: '' });
  const payload = Buffer.from(
    start.replace('""', `"${'x'.repeat(Math.max(0, options.bytes - start.length))}"`),
  );
  const startMs = performance.now();
  await fillLog(file, uid, options.rows, {
    newest: { count: options.payloads, payload },
    times: { fromMs, toMs },
  });
  fillRuns(file, options);
  console.log(`filled in ${round((performance.now() - startMs) / 1_000, 0)} s`);
  return toMs - keptMs;
}

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
  const searched = `since=${ago((keptHours * searchedPayloads) / options.rows)}`;
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
    [`a text in ${searchedPayloads} payloads`]: `/deliveries?search=${needle}&${searched}`,
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
