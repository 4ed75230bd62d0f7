/*
 * Runs the delivery log's batches, the run queue and one to three daemons on a virtual clock, with injected faults, and
 * checks after each step what must be true (`model.ts`). Everything follows from a seed:
 *
 *   SEED=4711 npx vitest run test/system/simulation                       one seed; if it fails, it is shrunk
 *   SEED=1006 DEFECT="lost wake" npx vitest run test/system/simulation      with a planted defect (`product.ts`)
 *   SEEDS=5000-6000 npx vitest run test/system/simulation                 other seeds
 *
 * A failure prints the smallest plan that fails in the same way, what happened last, and the command that repeats it.
 * What is simulated, and what is not: "Simulation" in docs/decisions/tests.md.
 */
import fc from 'fast-check';
import { describe, expect, inject, test } from 'vitest';
import { type Defect, defects, loadProduct, type Product } from './product.ts';
import {
  type Automation,
  type Plan,
  type PlannedEvent,
  type ReceiverAnswer,
  type Result,
  simulate,
} from './world.ts';

// What can happen, and how often. Numbers and lists shrink to few and small ones.

/** Many things happen at the same moments, where races are, and then nothing, so that it shows who was forgotten. */
const atMs = fc
  .tuple(fc.integer({ min: 0, max: 3 }), fc.constantFrom(0, 20, 100, 250))
  .map(([burst, ms]) => burst * 4_500 + ms);
const daemon = fc.integer({ min: 0, max: 2 });
const eventNumber = fc.integer({ min: 0, max: 24 });
/** Runs of one runner wait for its place more often than for any lane. */
const automation = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Automation>('second') },
  {
    weight: 6,
    arbitrary: fc.constantFrom<Automation>('free', 'free', 'limited', 'ordered', 'held', 'burst'),
  },
  { weight: 4, arbitrary: fc.constantFrom<Automation>('acts', 'asks') },
);
const result = fc.constantFrom<Result>(
  ...(['succeeded', 'retry', 'failed', 'unattempted', 'reports', 'reports twice'] as const),
  ...(['reports failure', 'is silent'] as const),
);
const results = fc.array(result, { maxLength: 4 });

const deliver = fc.record({
  ...{ kind: fc.constant('deliver' as const), atMs, event: eventNumber, automation, results },
  attemptMs: fc.constantFrom(0, 5, 20, 100, 1_000, 4_000),
});
const ask = fc.record({
  kind: fc.constantFrom('cancel' as const, 'retry' as const, 'dismiss' as const, 'approve' as const),
  atMs,
  event: eventNumber,
});
const pause = fc.record({
  ...{ kind: fc.constant('pause' as const), atMs, automation },
  ms: fc.option(fc.integer({ min: 0, max: 10_000 }), { nil: undefined }),
});
const resume = fc.record({ kind: fc.constant('resume' as const), atMs, automation });
const prune = fc.record({
  ...{ kind: fc.constant('prune' as const), atMs },
  olderThanMs: fc.integer({ min: 0, max: 5_000 }),
});
const commit = fc.record({
  ...{ kind: fc.constant('commit' as const), atMs, daemon, commits: fc.integer({ min: 1, max: 4 }) },
  fault: fc.record({
    kind: fc.constantFrom(
      'fails' as const,
      'locked' as const,
      'unanswered' as const,
      'repeated' as const,
      'late' as const,
    ),
    ms: fc.integer({ min: 0, max: 8_000 }),
  }),
});
const kill = fc.record({
  ...{ kind: fc.constant('kill' as const), atMs, daemon },
  steps: fc.integer({ min: 1, max: 60 }),
  downMs: fc.integer({ min: 0, max: 3_000 }),
});
const hold = fc.record({
  kind: fc.constant('hold' as const),
  atMs,
  daemon,
  ms: fc.integer({ min: 0, max: 15_000 }),
});
const clock = fc.record({
  kind: fc.constant('clock' as const),
  atMs,
  daemon,
  ms: fc.integer({ min: -20_000, max: 20_000 }),
});
const failing = fc.record({
  kind: fc.constantFrom('cancelsFail' as const, 'keepingFails' as const, 'leavesOut' as const),
  ...{ atMs, daemon, times: fc.integer({ min: 1, max: 60 }) },
});
const receiverFails = fc.record({
  ...{ kind: fc.constant('receiverFails' as const), atMs },
  answers: fc.array(fc.constantFrom<ReceiverAnswer>(500, 'refused', 'lost'), { minLength: 1, maxLength: 6 }),
});
const end = fc.record({
  kind: fc.constantFrom('endLease' as const, 'restart' as const, 'fillDisk' as const),
  ...{ atMs, daemon },
});

const event: fc.Arbitrary<PlannedEvent> = fc.oneof(
  { weight: 24, arbitrary: deliver },
  { weight: 4, arbitrary: ask },
  { weight: 2, arbitrary: commit },
  { weight: 2, arbitrary: failing },
  ...[pause, resume, prune, receiverFails, kill, hold, clock, end].map(arbitrary => ({
    weight: 1,
    arbitrary,
  })),
);

/** What only happens in the simulations that draw it: so some know one kind of trouble, and no other hides it. */
const kinds: readonly PlannedEvent['kind'][] = [
  ...([
    'cancel',
    'retry',
    'dismiss',
    'approve',
    'pause',
    'resume',
    'prune',
    'commit',
    'kill',
    'hold',
  ] as const),
  ...(['clock', 'endLease', 'restart', 'fillDisk', 'cancelsFail', 'keepingFails', 'leavesOut'] as const),
  'receiverFails',
];
const events = fc
  .tuple(fc.array(event, { maxLength: 60, size: 'max' }), fc.subarray([...kinds]))
  .map(([drawn, possible]) =>
    drawn.filter(({ kind }) => kind === 'deliver' || kind === 'approve' || possible.includes(kind)),
  );

const plans: fc.Arbitrary<Plan> = fc.record({
  seed: fc.noShrink(fc.integer({ min: 0, max: 2 ** 31 })),
  store: fc.constantFrom('embedded' as const, 'postgres' as const),
  commitMs: fc.constantFrom(0, 20, 100),
  daemons: fc.integer({ min: 2, max: 3 }),
  staysBroken: fc.constantFrom('disk' as const, 'cancels' as const, 'nothing' as const),
  events,
});

/** How fast-check draws the plan of a seed: with every value as likely as another. */
const one = { numRuns: 1, unbiased: true };

/** Lines of what happened that a report ends with. */
const linesShown = 40;

/** Simulates a seed. Returns why it fails, undefined if it does not. */
async function findFailure(seed: number, product: Product): Promise<unknown> {
  const [plan] = fc.sample(plans, { seed, ...one });
  return simulate(plan as Plan, product).then(
    () => undefined,
    (error: unknown) => error ?? new Error('it failed'),
  );
}

/** Shrinks the plan of a seed that fails, and tells everything that helps to understand it. */
async function report(seed: number, product: Product, defect?: Defect): Promise<string> {
  const property = fc.asyncProperty(plans, async plan => void (await simulate(plan, product)));
  const { counterexample, errorInstance } = await fc.check(property, { seed, ...one });
  if (!counterexample) return 'it fails only sometimes: the simulation depends on something outside of it';
  const [{ events, ...plan }] = counterexample;
  const lines: string[] = [];
  await simulate(counterexample[0], product, line => lines.push(line)).catch(() => undefined);
  return [
    `${errorInstance}`,
    `Repeat it: SEED=${seed}${defect ? ` DEFECT="${defect}"` : ''} npx vitest run test/system/simulation`,
    `The plan, shrunk: ${JSON.stringify(plan)}`,
    ...events.map(event => `  ${JSON.stringify(event)}`),
    'What happened last:',
    ...lines.slice(-linesShown).map(line => `  ${line}`),
  ].join('\n');
}

function seedsToTry(): { readonly first: number; readonly last: number } {
  const { SEED, SEEDS = SEED } = process.env;
  const [first, last = first] = SEEDS?.split('-').map(Number) ?? [1, inject('isLong') ? 10_000 : 100];
  return { first: first ?? 1, last: last ?? 1 };
}

const { first, last } = seedsToTry();
const planted = process.env.DEFECT as Defect | undefined;

/** Seeds of one test, so that no test needs minutes. */
const seedsTogether = 1_000;
const begins = Array.from(
  { length: Math.ceil((last - first + 1) / seedsTogether) },
  (_, part) => first + part * seedsTogether,
);

test.for(begins)('nothing is lost, done twice or forgotten with the seeds from %i on', async begin => {
  const product = await loadProduct(planted);
  for (let seed = begin; seed <= Math.min(last, begin + seedsTogether - 1); seed++)
    if (await findFailure(seed, product)) expect.fail(await report(seed, product, planted));
});

/** The first seed that finds each planted defect. A change of what is simulated moves them: `npm run test:long` begins with 1. */
const foundWith: Readonly<Record<Defect, number>> = {
  'lost wake': 118,
  'double scan': 8,
  'forgotten text': 345,
  'unfenced result': 372,
  'spinning cancel': 1_753,
  'mixed claims': 2_396,
  'untold end': 1,
  'lost artifacts': 20,
  'artifacts of another attempt': 1,
};
/** Seeds that are tried from there on. */
const seedsMore = 20;
/** Seeds that are tried from the first one on in a long run. */
const seedsMax = 4_000;

describe.skipIf(process.env.SEED ?? process.env.SEEDS)('finds a planted defect', () => {
  test.for(Object.keys(defects) as Defect[])('%s', async defect => {
    const product = await loadProduct(defect);
    const [from, to] = inject('isLong') ? [1, seedsMax] : [foundWith[defect], foundWith[defect] + seedsMore];
    let failure: unknown;
    let seed = from - 1;
    while (failure === undefined && seed < to) failure = await findFailure(++seed, product);
    expect(failure, `no seed from ${from} to ${to} finds it`).toMatchObject({ name: 'Violation' });
    expect(await findFailure(seed, await loadProduct()), 'it is found in sound code too').toBeUndefined();
    if (inject('isLong')) console.log(`${defect}: seed ${seed}`);
  });
});
