// Measures daemons on PostgreSQL, all on this machine in one run: one of them against a Koa handler that inserts one row for
// each request through a pool of 20 connections; two against one, each held to the same share of a CPU; a full log against
// an empty one; how soon an apply is served everywhere; how soon the runs of a killed daemon begin again elsewhere. Cases
// that are compared take turns, so that other load affects all of them equally. The CPU quota needs root.
// The full log is loaded for a while before it is compared: after a checkpoint, PostgreSQL writes each page of an index to
// the WAL in full when it first changes (full_page_writes), and with 50 million rows nearly each delivery changes another.
// Usage: npm run bench:replicas [-- --seconds 4 --rounds 3 --connections 64 --quota 25 --rows 1000000 --warm-up 10
//   --reloads 15 --kills 3]
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '../test/support/postgres.ts';
import { limitCpu } from './replicas/cpu-quota.ts';
import { measureReload } from './replicas/reload.ts';
import { fillLog, makeStage, type Stage, serverSettings } from './replicas/stage.ts';
import { measureTakeOver } from './replicas/take-over.ts';
import { inTemporaryDirectory, type RunningDaemon, startServer } from './support/factory.ts';
import { load, loadInTurn, rateOf, type Target } from './support/load.ts';
import { parseNumbers } from './support/options.ts';
import { median, round } from './support/statistics.ts';

const options = parseNumbers({
  ...{ seconds: 4, rounds: 3, connections: 64, quota: 25 },
  ...{ rows: 1_000_000, 'warm-up': 10, reloads: 15, kills: 3 },
});

interface Row {
  readonly '': string;
  readonly measured: string;
  readonly aim: string;
}

await inTemporaryDirectory(async directory => {
  // The server's files are removed with everything else.
  process.env.TMPDIR = directory;
  const server = await startPostgres(serverSettings);
  try {
    console.table(await measureAll(server, directory));
  } finally {
    await server.stop('immediate');
  }
});

async function measureAll(server: PostgresServer, directory: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const add: Add = (name, measured, aim) => {
    rows.push({ '': name, measured, aim });
    console.log(`${name}: ${measured} (aim: ${aim})`);
  };
  const empty = await makeStage(server, join(directory, 'empty'));
  const one = await empty.serve('one');
  await compareWithNaive(empty, one, await server.createDatabase(), add);
  await compareWithFull(empty, one, await makeStage(server, join(directory, 'full')), add);
  const two = await empty.serve('two');
  await compareOneWithTwo(empty, [one, two], add);
  await measureReloads(empty, [one, two], add);
  for (const daemon of [one, two]) daemon.kill();
  await measureTakeOvers(await makeStage(server, join(directory, 'runs')), directory, add);
  return rows;
}

type Add = (name: string, measured: string, aim: string) => void;

function targetOf(name: string, stage: Stage, daemon: RunningDaemon): Target {
  return { name, url: stage.urlOn(daemon), token: stage.token };
}

/** The median rate of each target. */
async function measureRates(
  targets: readonly Target[],
  connections: number = options.connections,
): Promise<number[]> {
  const results = await loadInTurn(targets, { ...options, connections });
  return [...results.values()].map(rounds => median(rounds.map(rateOf)));
}

function describeRates(rates: readonly number[]): string {
  const [rate = 0, against = 0] = rates;
  return `${(rate / against).toFixed(2)} (${Math.round(rate)} / ${Math.round(against)} per second)`;
}

async function compareWithNaive(stage: Stage, daemon: RunningDaemon, store: string, add: Add): Promise<void> {
  const script = join(import.meta.dirname, 'comparison-servers.ts');
  const environment = { COMPARISON_STORE: store, COMPARISON_SECRET: stage.token };
  const { urls, kill } = await startServer([script, 'postgres'], { environment });
  const naive = { name: 'naive', url: urls[0] ?? '', secret: stage.token };
  for (const connections of [options.connections, 4 * options.connections]) {
    const rates = await measureRates([targetOf('hookmill', stage, daemon), naive], connections);
    const name = `accepted over ${connections} connections, against one insert for each request`;
    add(name, describeRates(rates), 'at least 2');
  }
  kill();
}

async function compareWithFull(empty: Stage, daemon: RunningDaemon, full: Stage, add: Add): Promise<void> {
  await fillLog(full, options.rows);
  const other = await full.serve('one');
  const targets = [targetOf('full', full, other), targetOf('empty', empty, daemon)] as const;
  await load(targets[0], { ...options, seconds: options['warm-up'] });
  const rates = await measureRates(targets);
  other.kill();
  const millions = round(options.rows / 1_000_000, 2);
  add(
    `accepted with a log of ${millions} million rows, against an empty one`,
    describeRates(rates),
    'at least 0.9',
  );
}

async function compareOneWithTwo(stage: Stage, daemons: readonly RunningDaemon[], add: Add): Promise<void> {
  const targets = daemons.map((daemon, index) => targetOf(`replica ${index + 1}`, stage, daemon));
  const measure = async (loaded: readonly Target[]) => {
    const results = await Promise.all(loaded.map(target => load(target, options)));
    return results.reduce((sum, result) => sum + rateOf(result), 0);
  };
  const rates: { readonly both: number[]; readonly one: number[] } = { both: [], one: [] };
  const endQuota = limitCpu(
    daemons.map(({ pid }) => pid),
    options.quota,
  );
  for (let turn = 0; turn <= options.rounds; turn++) {
    const [both, one] = [await measure(targets), await measure(targets.slice(0, 1))];
    // The first round warms up.
    if (turn === 0) continue;
    rates.both.push(both);
    rates.one.push(one);
  }
  endQuota();
  const name = `accepted by two replicas, against one; each with ${options.quota} % of a CPU`;
  add(name, describeRates([median(rates.both), median(rates.one)]), 'at least 1.6');
}

async function measureReloads(stage: Stage, daemons: readonly RunningDaemon[], add: Add): Promise<void> {
  const times: number[] = [];
  for (let n = 0; n < options.reloads; n++) times.push(await measureReload(stage, daemons, `reload-${n}`));
  add(
    'from the commit of an apply until both replicas serve it',
    describeTimes(times, 'ms'),
    'at most 200 ms',
  );
}

async function measureTakeOvers(stage: Stage, directory: string, add: Add): Promise<void> {
  const triggers = [{ provider: 'webhook', event: 'received', filter: { webhook_ids: [stage.uid] } }];
  stage.factory.write('automations/take-over.yaml', JSON.stringify({ prompt: 'Take over.', triggers }));
  await stage.factory.apply();
  const times: number[] = [];
  for (let n = 0; n < options.kills; n++) times.push((await measureTakeOver(stage, directory)) / 1_000);
  add(
    'from the kill of a replica until another one begins its run again',
    describeTimes(times, 's'),
    'at most 15 s',
  );
}

function describeTimes(times: readonly number[], unit: string): string {
  return `median ${round(median(times))} ${unit}, longest ${round(Math.max(...times))} ${unit}`;
}
