// Lets a daemon work for hours, and looks for what grows: memory, file descriptors, threads, delays and files. Traffic of
// all kinds arrives at a constant rate: new deliveries, duplicates, wrong secrets, bodies that are large, too large or
// not JSON. Some start runs of a command. Meanwhile, definitions are applied, lists and searches asked for, and live pages
// opened and closed. The log begins with deliveries of which retention removes an hour's worth each hour. In the end,
// the daemon is killed, and each delivery that it answered with 202 must be in the log, with its run. Prints a line each
// minute. Exits with 1 if something accepted is missing, or an answer was not the expected one. Linux only.
// Usage: npm run soak [-- --hours 2 --rate 25 --viewers 20 --apply 60]
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openSqliteReader } from '../store/embedded/delivery-log/read/reader.ts';
import { countFilled, fillLog, fillRuns } from './accept-path/fill-log.ts';
import { printSample, printSlopes, type SoakSample, takeSample } from './soak/samples.ts';
import { writeAutomations, writeDefinitions } from './soak/senders.ts';
import { startTraffic, type Traffic } from './soak/traffic.ts';
import {
  type BenchFactory,
  inTemporaryDirectory,
  openFactory,
  type RunningDaemon,
} from './support/factory.ts';
import { parseNumbers } from './support/options.ts';
import { openViewers } from './support/viewers.ts';

const { hours, rate, viewers, apply } = parseNumbers({ hours: 2, rate: 25, viewers: 20, apply: 60 });
const hourMs = 3_600_000;
/** Every delivery is kept for so long, at least. */
const keptMs = 7 * 24 * hourMs;

interface Old {
  readonly rows: number;
  readonly fromMs: number;
  readonly toMs: number;
}

await inTemporaryDirectory(async directory => {
  const factory = openFactory(directory);
  const token = (await factory.hookmill('tokens', 'create', 'soak', '--permission', 'manage')).trim();
  await writeDefinitions(factory);
  const uids = await factory.apply();
  const old = await fillOld(factory, uids.get('deploys') ?? '');
  const daemon = await factory.serve({ runs: { runner: { kind: 'command', argv: ['/bin/cat'] } } });
  const traffic = startTraffic(daemon.ingressUrl, uids, rate);
  const ending = new AbortController();
  const during = { ended: ending.signal, traffic };
  const tokens = [token];
  let closePages = await openViewers(daemon.managementUrl, tokens, viewers);
  const others = [
    repeat(apply, during, async count => {
      writeAutomations(factory, count);
      await factory.apply();
    }),
    repeat(5, during, () => read(daemon, token)),
    repeat(30, during, async () => {
      closePages();
      closePages = await openViewers(daemon.managementUrl, tokens, viewers);
    }),
  ];
  printSlopes(await sampleRepeatedly(daemon, factory.home, traffic));
  ending.abort();
  await traffic.stop();
  await Promise.all(others);
  closePages();
  await awaitRuns(daemon);
  daemon.kill();
  await delay(500);
  report(factory, old, traffic);
});

/** Fills the log with deliveries of which an hour's worth passes its retention each hour, and a tenth has a run. */
async function fillOld({ home }: BenchFactory, uid: string): Promise<Old> {
  const rows = Math.round(rate * 3_600 * (hours + 1));
  const fromMs = Date.now() - keptMs - hourMs;
  const old = { rows, fromMs, toMs: fromMs + (hours + 1) * hourMs };
  const file = join(home, 'deliveries.db');
  const payload = Buffer.from(JSON.stringify({ kind: 'old', text: 'x'.repeat(900) }));
  await fillLog(file, uid, rows, { newest: { count: rows, payload }, times: old });
  fillRuns(file, { rows, runs: rows / 10 });
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
async function read({ managementUrl }: RunningDaemon, token: string): Promise<void> {
  const get = async (path: string) => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${managementUrl}/api/v1/factories/default${path}`, { headers });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json() as Promise<{ deliveries?: { id: string }[]; runs?: { id: string }[] }>;
  };
  const since = encodeURIComponent(new Date(Date.now() - hourMs).toISOString());
  const { deliveries = [] } = await get('/deliveries?summary=true');
  const { runs = [] } = await get('/runs?summary=true');
  for (const { id } of deliveries.slice(0, 2)) await get(`/deliveries/${id}`);
  for (const { id } of runs.slice(0, 2)) await get(`/runs/${id}`);
  for (const path of ['/webhooks', '/automations', '/health', '/run-tallies', '/why/deploys'])
    await get(path);
  await get(`/deliveries?search=order-4711&since=${since}`);
  await get(`/deliveries?webhook=github&outcome=Duplicate&since=${since}`);
}

/** Waits until no run is queued or executed. */
async function awaitRuns({ managementUrl }: RunningDaemon): Promise<void> {
  for (;;) {
    const metrics = await (await fetch(`${managementUrl}/metrics`)).text();
    const ended = ['queued', 'running'].every(state => metrics.includes(`\nhookmill_runs_${state} 0\n`));
    if (ended) return;
    await delay(500);
  }
}

/** Reads the log of the killed daemon. Sets the exit status to 1 if it lacks something, or an answer was unexpected. */
function report({ home }: BenchFactory, old: Old, { accepted, counts, unexpected }: Traffic): void {
  const log = openSqliteReader(join(home, 'deliveries.db'));
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
  const kept = countFilled(join(home, 'deliveries.db'), keptSinceMs);
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
