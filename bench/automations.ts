// Measures deliveries accepted per second on one webhook: with one automation, with 2,000 that have several kinds of
// filter, and with 2,000 on another webhook. No filter matches, because a match starts a run, which is other work.
// The goal is at least 0.5 of the rate with one automation. Then measures the time from a 202 to the start of its run
// in an idle daemon, and the time of matching only, for an ordinary payload and for the worst ones of 256 KB.
// Usage: npm run bench:automations [-- --seconds 3 --rounds 3 --connections 64]
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { PayloadFilter } from '../schema/filters/clause.ts';
import { compileFilterIndex } from '../schema/filters/filter-index.ts';
import { openSqliteReader } from '../store/embedded/delivery-log/read/reader.ts';
import { inTemporaryDirectory, openFactory } from './support/factory.ts';
import { compareRates, post, prepareRequests } from './support/load.ts';
import { parseOptions } from './support/options.ts';
import { median } from './support/statistics.ts';
import { until } from './support/timing.ts';

const options = parseOptions({ seconds: 3, rounds: 3, connections: 64 });
const many = 2_000;

interface Case {
  readonly name: string;
  readonly automations?: number;
  readonly elsewhere?: true;
  readonly filter: (index: number) => PayloadFilter;
}

const cases: readonly Case[] = [
  { name: 'one automation', automations: 1, filter: () => ({ type: ['other'] }) },
  { name: 'distinct values of one field', filter: i => ({ type: [`type-${i}`] }) },
  { name: 'distinct fields', filter: i => ({ data: { [`field-${i}`]: ['x'] } }) },
  { name: 'identical filters', filter: () => ({ type: ['other'] }) },
  { name: 'no `in`: a field must be there', filter: i => ({ data: { [`field-${i}`]: { exists: true } } }) },
  {
    name: 'no `in`: values that may not be',
    filter: i => ({ n: { not_in: [i] }, type: { not_in: ['deploy.finished'] } }),
  },
  { name: '`$like`: patterns of one field', filter: i => ({ type: { $like: [`type-${i}.*`] } }) },
  { name: '`$compare`: ranges of one field', filter: i => ({ n: { $compare: { at_least: i } } }) },
  { name: 'on another webhook', elsewhere: true, filter: i => ({ type: { not_in: [`type-${i}`] } }) },
];

await inTemporaryDirectory(async directory => {
  await benchIngress(directory);
  await benchStart(directory);
});
benchMatching();

async function benchIngress(directory: string): Promise<void> {
  const targets = [];
  for (const one of cases) targets.push((await serve(directory, one)).target);
  const rates = await compareRates(targets, options);
  const [rateOfOne = 0] = rates;
  console.table(
    cases.map(({ name, automations = many }, index) => ({
      '': name,
      automations,
      'accepts/s': Math.round(rates[index] ?? 0),
      'of one': ((rates[index] ?? 0) / rateOfOne).toFixed(2),
    })),
  );
}

/** Sends one delivery at a time, each after the run of the previous one has ended. */
async function benchStart(directory: string): Promise<void> {
  const starting: Case = { name: 'start', automations: 1, filter: () => ({ type: ['deploy.finished'] }) };
  const { target, factory } = await serve(directory, starting);
  const log = openSqliteReader(factory.log);
  const next = prepareRequests(target);
  const waitsMs: number[] = [];
  for (let count = 0; count < 50; count++) {
    const { text } = await post(target.url, next());
    const answeredMs = Date.now();
    const { delivery_id } = JSON.parse(text) as { delivery_id: string };
    const run = await until(10, () =>
      log.listRunsOfDelivery(delivery_id).find(({ finishedAtMs }) => finishedAtMs !== undefined),
    );
    // A run of the directory runner has begun when its files are on disk.
    const { mtimeMs } = statSync(join(factory.home, 'runs', run.id, 'prompt.md'));
    waitsMs.push(Math.round(mtimeMs - answeredMs));
  }
  log.close();
  console.log(
    `from a 202 to the start of its run: ${median(waitsMs)} ms, at most ${Math.max(...waitsMs)} ms`,
  );
}

/** Starts a daemon with its own home for one case. */
async function serve(directory: string, { name, automations = many, elsewhere, filter }: Case) {
  const factory = openFactory(join(directory, name.replaceAll(/\W+/g, '-')));
  const webhook = await factory.applyLoad();
  factory.write('webhooks/other.yaml', 'secretName: LOAD\n');
  const webhook_ids = [(await factory.apply()).get(elsewhere ? 'other' : 'load')];
  for (let index = 0; index < automations; index++)
    factory.writeAutomation(`a-${index}`, { webhook_ids, payload: filter(index) });
  await factory.apply();
  const { targetOf } = await factory.serve();
  const target = { ...targetOf(webhook, name), body: { type: 'deploy.finished', n: -1 } };
  return { target, factory };
}

function benchMatching(): void {
  const make = (count: number, filter: Case['filter']) => Array.from({ length: count }, (_, i) => filter(i));
  const ordinary = { id: 'x', type: 'deploy.finished', n: -1, data: { text: 'x'.repeat(900) } };
  const text = { a: 'a'.repeat(262_000) };
  const like = (glob: string) => [{ a: { $like: [glob] } }];
  const clauses = Object.fromEntries(Array.from({ length: 199 }, (_, i) => [`k${i}`, { not_in: [1] }]));
  const rows: readonly (readonly [name: string, filters: readonly PayloadFilter[], payload: unknown])[] = [
    ['`$like` on 256 KB: 64 stars', like(`${'a*'.repeat(64)}b`), text],
    ['`$like` on 256 KB: 64 stars, and b in the middle', like(`${'a*'.repeat(32)}b${'*a'.repeat(32)}`), text],
    ['`$like` on 256 KB: a short piece that nearly matches everywhere', like('*aaab*'), text],
    [
      '`$like` on 256 KB: a long piece that nearly matches everywhere',
      like(`*${'a'.repeat(124)}b${'a'.repeat(123)}*`),
      text,
    ],
    ['`$like` on 256 KB: 2,000 patterns', make(many, i => ({ a: { $like: [`*x-${i}*`] } })), text],
    ...cases
      .filter(({ elsewhere }) => !elsewhere)
      .map(({ name, automations = many, filter }) => [name, make(automations, filter), ordinary] as const),
    ['199 keys, 87,000 numbers', [{ a: clauses }], { a: Array(87_000).fill(1) }],
    ['199 keys, 28,000 objects that fail', [{ a: clauses }], { a: Array(28_000).fill({ k198: 1 }) }],
    [
      '2,000 filters, 65,000 values that each asks for',
      make(many, i => ({ tags: ['x'], n: { not_in: [-1 - i, -1] } })),
      { n: -1, tags: Array(65_000).fill('x') },
    ],
  ];
  console.table(
    rows.map(([matching, filters, payload]) => ({
      matching,
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
