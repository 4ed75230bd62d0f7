// Measures deliveries accepted per second on one webhook: with one automation, with 2,000 that have several kinds of
// filter, and with 2,000 on another webhook. No filter matches, because a match starts a run, which is other work.
// The goal is at least 0.5 of the rate with one automation. Then measures the time from a 202 to the start of its run
// in an idle daemon, and the time of matching only, for an ordinary payload and for the worst ones of 256 KB.
// Usage: npm run bench:automations [-- --seconds 3 --rounds 3 --connections 64]
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PayloadFilter } from '../schema/filters/clause.ts';
import { compileFilterIndex } from '../schema/filters/filter-index.ts';
import { openSqliteReader } from '../store/embedded/delivery-log/read/reader.ts';
import { inTemporaryDirectory, openFactory } from './support/factory.ts';
import { loadInTurn, rateOf } from './support/load.ts';
import { parseNumbers } from './support/options.ts';
import { median } from './support/statistics.ts';

const options = parseNumbers({ seconds: 3, rounds: 3, connections: 64 });
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
    name: 'no `in`: a field must be there',
    automations: many,
    filter: i => ({ data: { [`field-${i}`]: { exists: true } } }),
  },
  {
    name: 'no `in`: values that may not be',
    automations: many,
    filter: i => ({ n: { not_in: [i] }, type: { not_in: ['deploy.finished'] } }),
  },
  {
    name: '`like`: patterns of one field',
    automations: many,
    filter: i => ({ type: { like: [`type-${i}.*`] } }),
  },
  {
    name: '`compare`: ranges of one field',
    automations: many,
    filter: i => ({ n: { compare: { at_least: i } } }),
  },
  {
    name: 'on another webhook',
    automations: many,
    elsewhere: true,
    filter: i => ({ type: { not_in: [`type-${i}`] } }),
  },
];

await inTemporaryDirectory(async directory => {
  await benchIngress(directory);
  await benchStart(directory);
});
benchMatching();

async function benchIngress(directory: string): Promise<void> {
  const targets = [];
  const body = { type: 'deploy.finished', n: -1 };
  for (const one of cases) targets.push({ name: one.name, body, ...(await serve(directory, one)) });
  const results = await loadInTurn(targets, options);
  const medianRateOf = (name: string) => median((results.get(name) ?? []).map(rateOf));
  const [{ name: first = '' } = {}] = cases;
  console.table(
    cases.map(({ name, automations }) => ({
      '': name,
      automations,
      'accepts/s': Math.round(medianRateOf(name)),
      'of one': (medianRateOf(name) / medianRateOf(first)).toFixed(2),
    })),
  );
}

/** Sends one delivery at a time, each after the run of the previous one has ended. */
async function benchStart(directory: string): Promise<void> {
  const { url, token, home } = await serve(directory, {
    name: 'start',
    automations: 1,
    filter: () => ({ type: ['start'] }),
  });
  const log = openSqliteReader(join(home, 'deliveries.db'));
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
    // A run of the directory runner has begun when its files are on disk.
    const { mtimeMs } = statSync(join(home, 'runs', finished()?.id ?? '', 'prompt.md'));
    waitsMs.push(Math.round(mtimeMs - answeredMs));
  }
  log.close();
  console.log(
    `from a 202 to the start of its run: ${median(waitsMs)} ms, at most ${Math.max(...waitsMs)} ms`,
  );
}

/** Starts a daemon with its own home for one case. */
async function serve(directory: string, { name, automations, elsewhere, filter }: Case) {
  const factory = openFactory(join(directory, name.replaceAll(/\W+/g, '-')));
  for (const webhook of ['load', 'other']) factory.write(`webhooks/${webhook}.yaml`, 'secretName: LOAD\n');
  const token = await factory.hookmill('secrets', 'generate', 'LOAD');
  const uids = await factory.apply();
  const webhook_ids = [uids.get(elsewhere ? 'other' : 'load')];
  for (let index = 0; index < automations; index++) {
    const trigger = {
      ...{ provider: 'webhook', event: 'received' },
      filter: { webhook_ids, payload: filter(index) },
    };
    factory.write(`automations/a-${index}.yaml`, JSON.stringify({ prompt: 'Act.', triggers: [trigger] }));
  }
  await factory.apply();
  const { ingressUrl } = await factory.serve();
  return { url: `${ingressUrl}/webhooks/w/${uids.get('load')}`, token, home: factory.home };
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
      name: '2,000 filters, 65,000 values that each asks for',
      filters: Array.from({ length: many }, (_, i) => ({ tags: ['x'], n: { not_in: [-1 - i, -1] } })),
      payload: { n: -1, tags: Array(65_000).fill('x') },
    },
  ];
  const text = 'a'.repeat(262_000);
  const globs = [
    ['64 stars', `${'a*'.repeat(64)}b`],
    ['64 stars, and b in the middle', `${'a*'.repeat(32)}b${'*a'.repeat(32)}`],
    ['a short piece that nearly matches everywhere', '*aaab*'],
    ['a long piece that nearly matches everywhere', `*${'a'.repeat(124)}b${'a'.repeat(123)}*`],
  ];
  const rows = [
    ...globs.map(([name, glob = '']) => ({
      name: `\`like\` on 256 KB: ${name}`,
      filters: [{ a: { like: [glob] } }],
      payload: { a: text } as unknown,
    })),
    {
      name: '`like` on 256 KB: 2,000 patterns',
      filters: Array.from({ length: many }, (_, i) => ({ a: { like: [`*x-${i}*`] } })),
      payload: { a: text },
    },
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
      'µs a payload': usOf(filters, payload).toFixed(1),
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
