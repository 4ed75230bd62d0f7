// Measures a daemon over a full log. First its start, and the removal of what is past retention. Then the lists of
// `deliveries list` and `runs list` with a time range, by HTTP: each first page, and whole searches. Then the ingress at a
// constant rate, with and without a search that is repeated, how many deliveries it accepts beside one with an empty log, a
// backup, and a start after kill -9. Numbers may be written as 10k or 50m. A row takes 270 bytes and its payload.
// Usage: npm run bench:queries [-- --rows 10m --old 100k --runs 1m --payloads 100k --bytes 1000 --rate 300 --seconds 8 --rounds 3]
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openDatabaseForReading } from '../store/embedded/delivery-log/sql/database.ts';
import { inTemporaryDirectory, openFactory, requireDisk } from './support/factory.ts';
import { fillLog } from './support/fill-log.ts';
import { compareRates, sendAtRate, type Target } from './support/load.ts';
import { type Api, measureReads, openApi } from './support/management.ts';
import { parseOptions } from './support/options.ts';
import { describeTimes, median, percentile, round } from './support/statistics.ts';
import { measureInTurn, timeMs, until } from './support/timing.ts';

const options = parseOptions({
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
  const webhook = await factory.applyLoad();
  const token = await factory.createToken();
  const keptSinceMs = await fill(factory.log, webhook.uid);
  const daemon = await factory.serve();
  console.log(
    `ready after ${seconds(daemon.readyMs)} s, with ${round(statSync(factory.log).size / 1e9)} GB in the log`,
  );
  const target = daemon.targetOf(webhook, 'full');
  const removing = awaitRetention(factory.log, keptSinceMs);
  console.table([await measureMeanwhile('retention', target, options.rate, removing)]);
  const api = openApi(daemon, token);
  await measureQueries(api);
  await measureIngress(api, target);
  const otherWebhook = await other.applyLoad();
  const empty = (await other.serve()).targetOf(otherWebhook, 'empty');
  const [full = 0, without = 0] = await compareRates([target, empty], { ...options, connections: 64 });
  console.table([{ 'full log /s': round(full, 0), 'empty log /s': round(without, 0) }]);
  const backup = join(directory, 'backup');
  const backingUp = factory.hookmill('store', 'backup', backup);
  // SQLite's log grows while a backup reads: 15 KB for a delivery.
  console.table([await measureMeanwhile('backup', target, options.rate / 3, backingUp)]);
  console.log(`the backup has ${round(statSync(backup).size / 1e9)} GB`);
  daemon.kill();
  console.log(`after kill -9, ready after ${seconds((await factory.serve()).readyMs)} s`);
});

function seconds(ms: number): number {
  return round(ms / 1_000, 2);
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
  const filling = { ...options, newest: { count: options.payloads, payload }, times: { fromMs, toMs } };
  const filledMs = await timeMs(() => fillLog(file, uid, filling));
  console.log(`filled in ${round(filledMs / 1_000, 0)} s`);
  return toMs - keptMs;
}

/** Waits until the daemon has removed all deliveries that arrived before a time. */
async function awaitRetention(file: string, keptSinceMs: number): Promise<void> {
  const database = openDatabaseForReading(file);
  const oldest = database.prepareColumn<[], number>('SELECT at_ms FROM deliveries ORDER BY seq LIMIT 1');
  await until(100, () => (oldest.get() ?? 0) >= keptSinceMs);
  database.close();
}

/** Measures the answers of the ingress until `work` is done and for five seconds more, and how long `work` took. */
async function measureMeanwhile(name: string, target: Target, perSecond: number, work: Promise<unknown>) {
  const took = timeMs(() => work);
  const times = await sendAtRate(
    target,
    perSecond,
    64,
    took.then(() => delay(5_000)),
  );
  return {
    name,
    s: round((await took) / 1_000),
    ...describeTimes(times),
    'worst ms': round(Math.max(...times)),
  };
}

/** Reads a list to its end. Returns how long that took, in how many pages, and how many rows were looked at. */
async function readAll(api: Api, path: string): Promise<string> {
  const startMs = performance.now();
  const found = { pages: 0, searched: 0 };
  for (let cursor = ''; ; ) {
    const { next, searched } = await api(`${path}&limit=200${cursor}`);
    found.pages++;
    found.searched += searched;
    if (next === null) return `${Math.round(performance.now() - startMs)} ms, ${JSON.stringify(found)}`;
    cursor = `&cursor=${next}`;
  }
}

async function measureQueries(api: Api): Promise<void> {
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
  console.table(await measureReads(api, 'query', queries, 20));
  const whole = {
    [`a text in ${searchedPayloads} payloads`]: `/deliveries?search=${needle}&${searched}`,
    'a text in an hour': `/deliveries?search=${needle}&${hour}`,
    'failed runs of all time': `/runs?state=failed&since=${ago(200)}`,
  };
  for (const [name, path] of Object.entries(whole))
    console.log(`${name}, to the end: ${await readAll(api, path)}`);
}

async function measureIngress(api: Api, target: Target): Promise<void> {
  const load = () => sendAtRate(target, options.rate, 64, delay(options.seconds * 1_000));
  const loadWhileSearching = async () => {
    const loading = load();
    let isLoading = true;
    void loading.finally(() => {
      isLoading = false;
    });
    while (isLoading) await api(`/deliveries?search=${needle}&limit=200`);
    return loading;
  };
  const { alone, searched } = await measureInTurn(
    { alone: load, searched: loadWhileSearching },
    options.rounds,
  );
  console.table([
    { ingress: 'alone', ...describeTimes(...alone) },
    { ingress: 'while a search is repeated', ...describeTimes(...searched) },
  ]);
  const ratios = alone.map((times, turn) => percentile(searched[turn] ?? [], 0.99) / percentile(times, 0.99));
  console.log(
    `p99 ratio ${round(median(ratios), 2)}, ${options.rate}/s, medians of ${options.rounds} rounds`,
  );
}
