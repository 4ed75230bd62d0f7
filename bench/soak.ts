// Lets a daemon work for hours, and looks for what grows: memory, file descriptors, threads, delays and files. Traffic of
// all kinds arrives at a constant rate: new deliveries, duplicates, wrong secrets, bodies that are large, too large or
// not JSON. Some start runs of a command. Meanwhile, definitions are applied, lists and searches asked for, and live pages
// opened and closed. The log begins with deliveries of which retention removes an hour's worth each hour. In the end,
// the daemon is killed, and each delivery that it answered with 202 must be in the log, with its run. Prints a line each
// minute. Exits with 1 if something accepted is missing, or an answer was not the expected one. Linux only.
// Usage: npm run soak [-- --hours 2 --rate 25 --viewers 20 --apply 60]
import { setTimeout as delay } from 'node:timers/promises';
import { openSqliteReader } from '../store/embedded/delivery-log/read/reader.ts';
import { printSample, printSlopes, type SoakSample, takeSample } from './soak/samples.ts';
import { writeAutomations, writeDefinitions } from './soak/senders.ts';
import { startTraffic, type Traffic } from './soak/traffic.ts';
import { readMetrics } from './support/daemon-figures.ts';
import {
  type BenchFactory,
  inTemporaryDirectory,
  openFactory,
  type RunningDaemon,
} from './support/factory.ts';
import { countFilled, fillLog } from './support/fill-log.ts';
import { type Api, openApi, openViewers } from './support/management.ts';
import { parseOptions } from './support/options.ts';
import { until } from './support/timing.ts';

const { hours, rate, viewers, apply } = parseOptions({ hours: 2, rate: 25, viewers: 20, apply: 60 });
const hourMs = 3_600_000;
/** Every delivery is kept for so long, at least. */
const keptMs = 7 * 24 * hourMs;

type Old = Awaited<ReturnType<typeof fillOld>>;

await inTemporaryDirectory(async directory => {
  const factory = openFactory(directory);
  const token = await factory.createToken();
  await writeDefinitions(factory);
  const uids = await factory.apply();
  const old = await fillOld(factory, uids.get('deploys') ?? '');
  const daemon = await factory.serve({ runs: { runner: { kind: 'command', argv: ['/bin/cat'] } } });
  const findUrl = (sender = '') => daemon.urlOf(uids.get(sender) ?? `wh_${'0'.repeat(24)}`);
  const traffic = startTraffic(findUrl, rate);
  const ending = new AbortController();
  const during = { ended: ending.signal, traffic };
  const api = openApi(daemon, token);
  const openPages = () => openViewers(daemon, [token], viewers);
  let closePages = await openPages();
  const others = [
    repeat(apply, during, async count => {
      writeAutomations(factory, count);
      await factory.apply();
    }),
    repeat(5, during, () => readLists(api)),
    repeat(30, during, async () => {
      closePages();
      closePages = await openPages();
    }),
  ];
  printSlopes(await sampleRepeatedly(daemon, factory.home, traffic));
  ending.abort();
  await traffic.stop();
  await Promise.all(others);
  closePages();
  await until(500, async () => {
    const metrics = await readMetrics(`${daemon.managementUrl}/metrics`);
    return metrics.get('hookmill_runs_queued') === 0 && metrics.get('hookmill_runs_running') === 0;
  });
  daemon.kill();
  await delay(500);
  report(factory, old, traffic);
});

/** Fills the log with deliveries of which an hour's worth passes its retention each hour, and a tenth has a run. */
async function fillOld({ log }: BenchFactory, uid: string) {
  const rows = Math.round(rate * 3_600 * (hours + 1));
  const fromMs = Date.now() - keptMs - hourMs;
  const old = { rows, fromMs, toMs: fromMs + (hours + 1) * hourMs };
  const payload = Buffer.from(JSON.stringify({ kind: 'old', text: 'x'.repeat(900) }));
  await fillLog(log, uid, { rows, runs: rows / 10, newest: { count: rows, payload }, times: old });
  return old;
}

async function sampleRepeatedly(daemon: RunningDaemon, home: string, traffic: Traffic) {
  const samples: SoakSample[] = [];
  const startMs = performance.now();
  for (let minute = 1; minute <= hours * 60; minute++) {
    await delay(startMs + minute * 60_000 - performance.now());
    const sample = await takeSample(daemon, { home, hours: minute / 60, answers: traffic.takeTimes() });
    samples.push(sample);
    printSample(sample);
  }
  return samples;
}

/** Calls `work` again and again until the end, with a pause before each call. What fails is reported in the end. */
async function repeat(
  seconds: number,
  { ended, traffic }: { ended: AbortSignal; traffic: Traffic },
  work: (count: number) => Promise<void>,
): Promise<void> {
  for (let count = 1; ; count++) {
    await delay(seconds * 1_000, undefined, { signal: ended }).catch(() => undefined);
    if (ended.aborted) return;
    await work(count).catch((error: Error) => void traffic.unexpected.push(error.message));
  }
}

/** Asks for what pages of the dashboard and commands ask for: lists, searches, single rows and their explanations. */
async function readLists(api: Api): Promise<void> {
  const since = encodeURIComponent(new Date(Date.now() - hourMs).toISOString());
  const { deliveries } = await api('/deliveries?summary=true');
  const { runs } = await api('/runs?summary=true');
  for (const { id } of deliveries.slice(0, 2)) await api(`/deliveries/${id}`);
  for (const { id } of runs.slice(0, 2)) await api(`/runs/${id}`);
  for (const path of ['/webhooks', '/automations', '/health', '/run-tallies', '/why/deploys'])
    await api(path);
  await api(`/deliveries?search=order-4711&since=${since}`);
  await api(`/deliveries?webhook=github&outcome=Duplicate&since=${since}`);
}

/** Reads the log of the killed daemon. Sets the exit status to 1 if it lacks something, or an answer was unexpected. */
function report(factory: BenchFactory, old: Old, { accepted, counts, unexpected }: Traffic): void {
  const log = openSqliteReader(factory.log);
  const missing: string[] = [];
  for (const [id, hasRun] of accepted) {
    const runs = log.listRunsOfDelivery(id).map(({ state }) => state);
    const expected = hasRun ? 'succeeded' : '';
    if (log.findDelivery(id)?.outcome !== 'Accepted') missing.push(id);
    else if (String(runs) !== expected) missing.push(`${id}: its runs are [${runs}], not [${expected}]`);
  }
  const stepMs = (old.toMs - old.fromMs) / old.rows;
  const keptSinceMs = Date.now() - keptMs;
  const mustBeKept = Math.floor((old.toMs - keptSinceMs) / stepMs);
  const kept = countFilled(factory.log, keptSinceMs);
  if (kept.since < mustBeKept)
    missing.push(`${mustBeKept - kept.since} old deliveries that retention must keep`);
  console.log('answers:', counts);
  console.log(`${old.rows - kept.all} of ${old.rows} old deliveries were removed`);
  console.log(
    `${accepted.size} deliveries were accepted; ${missing.length} of them, or their runs, are missing`,
  );
  log.close();
  for (const problem of [...missing, ...unexpected].slice(0, 20)) console.error(problem);
  if (missing.length > 0) console.error('An accepted delivery is missing in the log, or its run.');
  if (unexpected.length > 0) console.error(`${unexpected.length} answers were not as expected.`);
  if (missing.length + unexpected.length > 0) process.exitCode = 1;
}
