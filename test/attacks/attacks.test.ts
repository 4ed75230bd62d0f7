// Attacks the daemon in the ways that are open to a stranger, to a holder of a read token and to a committer, while an
// honest sender delivers to other webhooks from another address. Prints for each attack how long honest deliveries
// waited before and during it, how much the memory grew, and what the attacker was answered. The same deliveries go to
// a bare server: what they wait there is the load of the machine. The share is how much of the time in which the daemon's
// main thread could have worked it had a processor; on a machine that does nothing else, it is nearly 1. Ends with 1 if
// an attack succeeded. Each attack has a daemon and a home of its own, with the default limits. Linux only. With the port
// `management`, the attacks on the ingress go to the sign-in of the management port instead.
// Usage: npm run bench:attacks [-- --seconds 8 --only "live views" --port ingress]
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Attack, attacks } from './attacks/attacks.ts';
import { type HonestDelivery, startHonestSender } from './attacks/honest-sender.ts';
import { aimAtManagement, openStage, type PreparedHome, prepareHome, type Stage } from './attacks/stage.ts';
import { inTemporaryDirectory, startServer } from './support/factory.ts';
import { percentile, round } from './support/statistics.ts';

/** How much longer an honest delivery may take during an attack, in ms of a daemon that has a processor to itself. */
const extraWaitMs = 250;
/** How much the daemon's memory may grow during an attack, in MB. */
const growthMb = 150;
const usualSeconds = 4;
const sampleMs = 100;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    only: { type: 'string', default: '' },
    port: { type: 'string', default: 'ingress' },
  },
});

await inTemporaryDirectory(async directory => {
  const prepared = await prepareHome(join(directory, 'prepared'));
  const bare = await startServer([join(import.meta.dirname, 'comparison-servers.ts'), 'http']);
  const rows: Row[] = [];
  for (const [index, attack] of attacks.entries()) {
    if (!attack.name.includes(values.only)) continue;
    const row = await measure(attack, prepared, join(directory, String(index)), bare.urls);
    console.log(JSON.stringify(row));
    rows.push(row);
  }
  console.table(rows);
  console.log(
    `p99 and worst in ms; an attack may add ${extraWaitMs} ms / share to p99 (before, or of the bare server), and ${growthMb} MB`,
  );
  if (rows.some(({ verdict }) => verdict !== 'held')) process.exitCode = 1;
});

interface Row {
  readonly attack: string;
  readonly 'p99 before': number;
  readonly 'p99 during': number;
  readonly 'worst during': number;
  readonly 'p99 bare': number;
  readonly share: number;
  readonly 'MB grown': number;
  readonly requests: number;
  readonly answers: string;
  readonly verdict: string;
}

async function measure(
  attack: Attack,
  prepared: PreparedHome,
  directory: string,
  bareUrls: readonly string[],
): Promise<Row> {
  const more = await attack.prepare?.(`${directory}.git`);
  const settings = { ...attack.settings, ...more };
  const stage = await openStage(prepared, directory, settings, Number(values.seconds));
  const honest = startHonestSender(stage.honestUrls, stage.honestToken);
  const bare = startHonestSender(bareUrls, stage.honestToken);
  await delay(1_000);
  const usualFromMs = performance.now();
  await delay(usualSeconds * 1_000);
  const usual = honest.since(usualFromMs);
  const memory = watchMemory(stage);
  const schedule = watchSchedule(stage);
  const attackedFromMs = performance.now();
  const { reports, harm } = await attack.run(values.port === 'management' ? aimAtManagement(stage) : stage);
  await Promise.all([honest.stop(), bare.stop()]);
  const grownMb = memory.stop();
  const share = schedule.stop();
  stage.kill();
  const during = honest.since(attackedFromMs);
  const statuses = addUp(reports.map(report => report.statuses));
  const row = {
    attack: attack.name,
    'p99 before': p99(usual),
    'p99 during': p99(during),
    'worst during': Math.round(Math.max(...during.map(({ ms }) => ms))),
    'p99 bare': p99(bare.since(attackedFromMs)),
    share: round(share, 2),
    'MB grown': Math.round(grownMb),
    requests: reports.reduce((sum, { requests }) => sum + requests, 0),
    answers: Object.entries(statuses)
      .map(([status, count]) => `${count} × ${status}`)
      .join(', '),
  };
  const refused = during.filter(({ answer }) => answer !== '202');
  const complaints = [
    (row['p99 during'] - Math.max(row['p99 before'], row['p99 bare'])) * share > extraWaitMs &&
      'honest deliveries waited',
    refused.length > 0 && `${refused.length} honest deliveries failed (${refused[0]?.answer})`,
    grownMb > growthMb && 'memory grew',
    Object.keys(statuses).some(status => status >= '500') && 'answered 5xx',
    harm,
  ];
  return { ...row, verdict: complaints.filter(Boolean).join('; ') || 'held' };
}

function p99(deliveries: readonly HonestDelivery[]): number {
  return Math.round(
    percentile(
      deliveries.map(({ ms }) => ms),
      0.99,
    ),
  );
}

/** Watches how far the daemon's memory grows beyond what it is now. */
function watchMemory({ pid }: Stage) {
  const before = readMemoryMb(pid);
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, readMemoryMb(pid));
  }, sampleMs);
  return {
    stop: () => {
      clearInterval(timer);
      return most - before;
    },
  };
}

/** Measures how much of the time in which the daemon's main thread could have run it did run. */
function watchSchedule({ pid }: Stage) {
  const file = `/proc/${pid}/task/${pid}/schedstat`;
  const read = () => (existsSync(file) ? readFileSync(file, 'utf8').split(' ').map(Number) : []);
  const [ranBefore = 0, waitedBefore = 0] = read();
  return {
    stop: () => {
      const [ran = 0, waited = 0] = read();
      const total = ran - ranBefore + waited - waitedBefore;
      return total > 0 ? (ran - ranBefore) / total : 1;
    },
  };
}

/** The memory that a process uses; 0 after its end. */
function readMemoryMb(pid: number): number {
  const file = `/proc/${pid}/status`;
  const [, kilobytes] = (existsSync(file) && /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(file, 'utf8'))) || [];
  return Number(kilobytes ?? 0) / 1_024;
}

function addUp(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const [status, count] of all.flatMap(Object.entries)) sum[status] = (sum[status] ?? 0) + count;
  return sum;
}
