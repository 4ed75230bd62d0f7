// Measures daemons on PostgreSQL, all on this machine in one run: one of them against a Koa handler that inserts one row for
// each request through a pool of 20 connections; two against one, each held to the same share of a CPU; a full log against
// an empty one; how soon an apply is served everywhere; how soon the runs of a killed daemon begin again elsewhere. Cases
// that are compared take turns, so that other load affects all of them equally. The CPU quota needs root.
// The full log is loaded for a while before it is compared: after a checkpoint, PostgreSQL writes each page of an index to
// the WAL in full when it first changes (full_page_writes), and with 50 million rows nearly each delivery changes another.
// Usage: npm run bench:replicas [-- --seconds 4 --rounds 3 --connections 64 --quota 25 --rows 1000000 --warm-up 10
//   --reloads 15 --kills 3]
import { join } from 'node:path';
import type { PostgresServer } from '../test/support/postgres.ts';
import { limitCpu } from './replicas/cpu-quota.ts';
import { measureReload, measureTakeOver } from './replicas/measures.ts';
import { fillLog, makeStage, type Stage } from './replicas/stage.ts';
import { startComparison } from './support/comparison.ts';
import type { RunningDaemon } from './support/factory.ts';
import { compareRates, load, measureRate, type Target } from './support/load.ts';
import { parseOptions } from './support/options.ts';
import { withPostgres } from './support/postgres.ts';
import { median, round } from './support/statistics.ts';
import { measureInTurn } from './support/timing.ts';

const options = parseOptions({
  ...{ seconds: 4, rounds: 3, connections: 64, quota: 25 },
  ...{ rows: 1_000_000, 'warm-up': 10, reloads: 15, kills: 3 },
});

const rows: object[] = [];
await withPostgres((directory, server) => measureAll(server, directory));
console.table(rows);

async function measureAll(server: PostgresServer, directory: string): Promise<void> {
  const empty = await makeStage(server, join(directory, 'empty'));
  const one = await empty.serve('one');
  await compareWithNaive(one.targetOf(empty, 'hookmill'), await server.createDatabase());
  await compareWithFull(one.targetOf(empty, 'empty'), await makeStage(server, join(directory, 'full')));
  const two = await empty.serve('two');
  await compareOneWithTwo(empty, [one, two]);
  await measureReloads(empty, [one, two]);
  for (const daemon of [one, two]) daemon.kill();
  await measureTakeOvers(await makeStage(server, join(directory, 'runs')), directory);
}

function add(name: string, measured: string, aim: string): void {
  rows.push({ '': name, measured, aim });
  console.log(`${name}: ${measured} (aim: ${aim})`);
}

function describeRates([rate = 0, against = 0]: readonly number[]): string {
  return `${(rate / against).toFixed(2)} (${Math.round(rate)} / ${Math.round(against)} per second)`;
}

async function compareWithNaive(target: Target, store: string): Promise<void> {
  const naive = await startComparison('postgres', store);
  for (const connections of [options.connections, 4 * options.connections]) {
    const rates = await compareRates([target, naive], {
      ...options,
      connections,
    });
    const name = `accepted over ${connections} connections, against one insert for each request`;
    add(name, describeRates(rates), 'at least 2');
  }
  naive.kill();
}

async function compareWithFull(empty: Target, full: Stage): Promise<void> {
  await fillLog(full, options.rows);
  const other = await full.serve('one');
  const targets = [other.targetOf(full, 'full'), empty] as const;
  await load(targets[0], { ...options, seconds: options['warm-up'] });
  const rates = await compareRates(targets, options);
  other.kill();
  const name = `accepted with a log of ${round(options.rows / 1_000_000, 2)} million rows, against an empty one`;
  add(name, describeRates(rates), 'at least 0.9');
}

async function compareOneWithTwo(stage: Stage, daemons: readonly RunningDaemon[]): Promise<void> {
  const targets = daemons.map((daemon, index) => daemon.targetOf(stage, `replica ${index + 1}`));
  const measure = async (loaded: readonly Target[]) => {
    const rates = await Promise.all(loaded.map(target => measureRate(target, options)));
    return rates.reduce((sum, rate) => sum + rate, 0);
  };
  const pids = daemons.map(({ pid }) => pid);
  const endQuota = limitCpu(pids, options.quota);
  const cases = { both: () => measure(targets), one: () => measure(targets.slice(0, 1)) };
  const { both, one } = await measureInTurn(cases, options.rounds);
  endQuota();
  const name = `accepted by two replicas, against one; each with ${options.quota} % of a CPU`;
  add(name, describeRates([median(both), median(one)]), 'at least 1.6');
}

async function measureReloads(stage: Stage, daemons: readonly RunningDaemon[]): Promise<void> {
  const times: number[] = [];
  for (let n = 0; n < options.reloads; n++) times.push(await measureReload(stage, daemons, `reload-${n}`));
  const name = 'from the commit of an apply until both replicas serve it';
  add(name, describeTimes(times, 'ms'), 'at most 200 ms');
}

async function measureTakeOvers(stage: Stage, directory: string): Promise<void> {
  stage.factory.writeAutomation('take-over', { webhook_ids: [stage.uid] });
  await stage.factory.apply();
  const times: number[] = [];
  for (let n = 0; n < options.kills; n++) times.push((await measureTakeOver(stage, directory)) / 1_000);
  const name = 'from the kill of a replica until another one begins its run again';
  add(name, describeTimes(times, 's'), 'at most 15 s');
}

function describeTimes(times: readonly number[], unit: string): string {
  return `median ${round(median(times))} ${unit}, longest ${round(Math.max(...times))} ${unit}`;
}
