// Measures deliveries accepted per second on one webhook: with one automation, with 2,000 that have several kinds of
// filter, and with 2,000 on another webhook. No filter matches, because a match starts a run, which is other work.
// The goal is at least 0.5 of the rate with one automation. Then measures the time from a 202 to the start of its run
// in an idle daemon, and the time of matching only, for an ordinary payload and for the worst ones of 256 KB.
// Usage: npm run bench:automations [-- --seconds 3 --rounds 3 --connections 64]
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { execa } from 'execa';
import { compileFilterIndex } from '../schema/filters/filter-index.ts';
import type { PayloadFilter } from '../schema/filters/payload-filter.ts';
import { openSqliteReader } from '../store/embedded/delivery-log/read/reader.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
  },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const connections = Number(values.connections);
const many = 2_000;

interface Case {
  readonly name: string;
  readonly automations: number;
  readonly elsewhere?: true;
  readonly filter: (index: number) => PayloadFilter;
}

const cases: readonly Case[] = [
  { name: 'one automation', automations: 1, filter: () => ({ type: ['other'] }) },
  { name: 'distinct values of one field', automations: many, filter: i => ({ type: [`type-${i}`] }) },
  { name: 'distinct fields', automations: many, filter: i => ({ data: { [`field-${i}`]: ['x'] } }) },
  { name: 'identical filters', automations: many, filter: () => ({ type: ['other'] }) },
  {
    name: 'no `in`: a field must exist',
    automations: many,
    filter: i => ({ data: { [`field-${i}`]: { exists: true } } }),
  },
  {
    name: 'no `in`: excluded values',
    automations: many,
    filter: i => ({ n: { not_in: [i] }, type: { not_in: ['deploy.finished'] } }),
  },
  {
    name: 'on another webhook',
    automations: many,
    elsewhere: true,
    filter: i => ({ type: { not_in: [`type-${i}`] } }),
  },
];

const directory = mkdtempSync(join(tmpdir(), 'hookmill-bench-'));
const bin = join(import.meta.dirname, '../cli/bin.js');
const children: ChildProcess[] = [];
try {
  await benchIngress();
  await benchStart();
} finally {
  for (const child of children) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
}
benchMatching();

async function benchIngress(): Promise<void> {
  const targets = [];
  for (const one of cases) targets.push({ ...one, ...(await serve(one)) });
  const rates = new Map<string, number[]>();
  for (let round = 0; round <= rounds; round++) {
    for (const target of targets) {
      const rate = await load(target);
      // The first round only warms up.
      if (round > 0) rates.set(target.name, [...(rates.get(target.name) ?? []), rate]);
    }
  }
  const rateOf = (name: string) => median(rates.get(name) ?? []);
  const [{ name: first = '' } = {}] = cases;
  console.table(
    cases.map(({ name, automations }) => ({
      '': name,
      automations,
      'accepts/s': Math.round(rateOf(name)),
      'of the rate with one': (rateOf(name) / rateOf(first)).toFixed(2),
    })),
  );
}

/** Sends one delivery at a time, and waits until its run has ended. */
async function benchStart(): Promise<void> {
  const { url, token, home } = await serve({
    name: 'start',
    automations: 1,
    filter: () => ({ type: ['start'] }),
  });
  const log = openSqliteReader(join(home, '.hookmill/deliveries.db'));
  const waitsMs: number[] = [];
  for (let index = 0; index < 50; index++) {
    const body = JSON.stringify({ index, type: 'start' });
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body,
    });
    const answeredMs = Date.now();
    const { delivery_id: id } = (await response.json()) as { delivery_id: string };
    const finished = () => log.listRunsOfDelivery(id).find(run => run.finishedAtMs !== undefined);
    while (!finished()) await sleep(10);
    // A run of the directory runner starts when its prompt is on disk.
    const { mtimeMs } = statSync(join(home, '.hookmill/runs', finished()?.id ?? '', 'prompt.md'));
    waitsMs.push(Math.round(mtimeMs - answeredMs));
  }
  log.close();
  console.log(
    `from a 202 to the start of its run: median ${median(waitsMs)} ms, at most ${Math.max(...waitsMs)} ms`,
  );
}

/** Starts a daemon with its own home. */
async function serve({
  name,
  automations,
  elsewhere,
  filter,
}: Case): Promise<{ url: string; token: string; home: string }> {
  const home = join(directory, name.replaceAll(/\W+/g, '-'));
  const hookmill = (...words: string[]) => execa(process.execPath, [bin, '-C', home, ...words]);
  mkdirSync(join(home, 'webhooks'), { recursive: true });
  mkdirSync(join(home, 'automations'));
  for (const webhook of ['load', 'other'])
    writeFileSync(join(home, `webhooks/${webhook}.yaml`), 'secretName: LOAD\n');
  const { stdout: token } = await hookmill('secrets', 'generate', 'LOAD');
  const { stdout } = await hookmill('apply', '-o', 'json');
  const [load, other]: { uid: string }[] = JSON.parse(stdout).changes;
  const uid = load?.uid ?? '';
  for (let index = 0; index < automations; index++) {
    const trigger = { webhook_ids: [elsewhere ? other?.uid : uid], payload: filter(index) };
    const triggers = [{ provider: 'webhook', event: 'received', filter: trigger }];
    writeFileSync(join(home, `automations/a-${index}.yaml`), JSON.stringify({ prompt: 'Act.', triggers }));
  }
  await hookmill('apply');
  const limits = { deliveriesPerMinute: 1_000_000_000 };
  writeFileSync(
    join(home, 'daemon.yaml'),
    JSON.stringify({ port: 0, managementPort: 0, logLevel: 'warn', limits }),
  );
  const child = spawn(process.execPath, [bin, '-C', home, 'serve', '--config', join(home, 'daemon.yaml')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const ingress = /http:\/\/[^\s)]+/.exec(line)?.[0];
  if (!ingress) throw new Error(`not a ready line: ${line}`);
  return { url: `${ingress}/webhooks/w/${uid}`, token, home };
}

async function load({ name, url, token }: { name: string; url: string; token: string }): Promise<number> {
  const result = await autocannon({
    url,
    method: 'POST',
    connections,
    duration: seconds,
    idReplacement: true,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ id: '[<id>]', type: 'deploy.finished', n: -1, data: { text: 'x'.repeat(900) } }),
  });
  const accepted = result.statusCodeStats?.['202']?.count ?? 0;
  if (result.errors > 0 || accepted !== result.requests.total) {
    throw new Error(`${name}: ${JSON.stringify(result.statusCodeStats)}, ${result.errors} errors`);
  }
  return result.requests.average;
}

function benchMatching(): void {
  const ordinary = { id: 'x', type: 'deploy.finished', n: -1, data: { text: 'x'.repeat(900) } };
  const clauses = Object.fromEntries(Array.from({ length: 199 }, (_, i) => [`k${i}`, { not_in: [1] }]));
  const hostile = [
    {
      name: '199 keys, 87,000 numbers',
      filters: [{ a: { ...clauses } }],
      payload: { a: Array(87_000).fill(1) },
    },
    {
      name: '199 keys, 28,000 objects that fail',
      filters: [{ a: { ...clauses } }],
      payload: { a: Array(28_000).fill({ k198: 1 }) },
    },
    {
      name: '2,000 filters, 65,000 values that all of them want',
      filters: Array.from({ length: many }, (_, i) => ({ tags: ['x'], n: { not_in: [-1 - i, -1] } })),
      payload: { n: -1, tags: Array(65_000).fill('x') },
    },
  ];
  const rows = [
    ...cases
      .filter(({ elsewhere }) => !elsewhere)
      .map(({ name, automations, filter }) => ({
        name,
        filters: Array.from({ length: automations }, (_, index) => filter(index)),
        payload: ordinary as unknown,
      })),
    ...hostile,
  ];
  console.table(
    rows.map(({ name, filters, payload }) => ({
      matching: name,
      'µs per payload': usOf(filters, payload).toFixed(1),
    })),
  );
}

function usOf(filters: readonly PayloadFilter[], payload: unknown): number {
  const match = compileFilterIndex(filters.map((filter, index) => ({ name: `a-${index}`, filter })));
  const times = Array.from({ length: 200 }, () => {
    const start = performance.now();
    match(payload);
    return (performance.now() - start) * 1_000;
  });
  return median(times);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
