// Attacks the daemon in the ways that are open to a stranger, to a holder of a read token and to a committer, while an
// honest sender delivers to other webhooks from another address. Prints for each attack how long honest deliveries
// waited before and during it, how much the memory grew, and what the attacker was answered. The same deliveries go to
// a bare server: what they wait there is the load of the machine. The share is how much of the time in which the daemon's
// main thread could have worked it had a processor; on a machine that does nothing else, it is nearly 1. Each attack has
// a daemon and a home of its own, with the default limits. Aimed at the management port, the attacks on the ingress go to
// its sign-in instead.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer } from '../../../bench/support/factory.ts';
import { percentile, round } from '../../../bench/support/statistics.ts';
import { type Attack, attacks } from './attacks.ts';
import { type HonestDelivery, startHonestSender } from './honest-sender.ts';
import { aimAtManagement, openStage, type PreparedHome, prepareHome, type Stage } from './stage.ts';

/** How much longer an honest delivery may take during an attack, in ms of a daemon that has a processor to itself. */
const extraWaitMs = 250;
/** How much the daemon's memory may grow during an attack, in MB. */
const growthMb = 150;
const usualSeconds = 4;
const attackSeconds = 8;
const sampleMs = 100;

type Port = 'ingress' | 'management';

const directory = mkdtempSync(join(tmpdir(), 'attacks-'));
const rows: Row[] = [];
let prepared: PreparedHome;
let bare: Awaited<ReturnType<typeof startServer>>;

beforeAll(async () => {
  prepared = await prepareHome(join(directory, 'prepared'));
  bare = await startServer([join(import.meta.dirname, '../../../bench/comparison-servers.ts'), 'http']);
});

afterAll(() => {
  bare.kill();
  rmSync(directory, { recursive: true, force: true });
  // p99 and worst in ms.
  console.table(rows);
});

describe.for(['ingress', 'management'] as const)(
  'honest deliveries do not wait for, at the port %s,',
  port => {
    test.for(attacks.map(attack => [attack.name, attack] as const))('%s', async ([, attack]) => {
      const { row, harm } = await measure(attack, port);
      rows.push(row);
      expect(harm).toEqual([]);
    });
  },
);

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
}

/** Does one attack. Returns its figures, and what harm it did. */
async function measure(attack: Attack, port: Port): Promise<{ row: Row; harm: string[] }> {
  const home = join(directory, String(rows.length));
  const more = await attack.prepare?.(`${home}.git`);
  const stage = await openStage(prepared, home, { ...attack.settings, ...more }, attackSeconds);
  const honest = startHonestSender(stage.honestUrls, stage.honestToken);
  const compared = startHonestSender(bare.urls, stage.honestToken);
  await delay(1_000);
  const usualFromMs = performance.now();
  await delay(usualSeconds * 1_000);
  const usual = honest.since(usualFromMs);
  const memory = watchMemory(stage);
  const schedule = watchSchedule(stage);
  const attackedFromMs = performance.now();
  const { reports, harm } = await attack.run(port === 'management' ? aimAtManagement(stage) : stage);
  await Promise.all([honest.stop(), compared.stop()]);
  const grownMb = memory.stop();
  const share = schedule.stop();
  stage.kill();
  const during = honest.since(attackedFromMs);
  const statuses = addUp(reports.map(report => report.statuses));
  const row = {
    attack: `${attack.name} (${port})`,
    'p99 before': p99(usual),
    'p99 during': p99(during),
    'worst during': Math.round(Math.max(...during.map(({ ms }) => ms))),
    'p99 bare': p99(compared.since(attackedFromMs)),
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
  return { row, harm: complaints.filter(complaint => typeof complaint === 'string') };
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
