import { expect, inject, test } from 'vitest';
import {
  attemptErrorCharsMax,
  attemptsKeptMax,
  describeInterruption,
} from '../../../../store/delivery-log/run-life.ts';
import type {
  DeliveryLog,
  DeliveryLogReader,
  NewRun,
  PastAttempt,
  Run,
  RunFlow,
} from '../../../../store/ports/delivery-log.ts';
import type { RunTallies } from '../../../../store/ports/tallies.ts';
import { acceptedDelivery, newRun, sampleAtMs } from '../../../support/deliveries.ts';
import { createRandom } from '../../../support/random.ts';
import { type MakePlace, openAt, openKept, openLog } from './place.ts';

const nowMs = sampleAtMs;
const factory = 'default';
const claim = { daemonId: 'daemon one', nowMs, places: { default: 10 } };
const hourMs = 3_600_000;

/** Tests what a store keeps of the past of runs: their attempts, and tallies of their ends. */
export function testRunHistory(makePlace: MakePlace): void {
  testAttempts(makePlace);
  testHolders(makePlace);
  testRunTallies(makePlace);
}

function testAttempts(makePlace: MakePlace): void {
  test('keep their attempts, through back-offs, claims that were none and a retry by hand', async () => {
    const { store, log } = await openKept(makePlace);
    const [run] = await record(log, [undefined]);
    const past = () => readHistory(store.deliveries, run);
    const begin = (atMs: number) => claimOne(log, atMs);
    expect(await past()).toBeUndefined();
    const first = await begin(nowMs);
    expect(await past()).toEqual([{ attempt: 1, startedAtMs: nowMs }]);
    const error = 'x'.repeat(attemptErrorCharsMax + 1);
    await log.postponeRun({ ...first, atMs: nowMs + 5, notBeforeMs: nowMs, attempted: true, error });
    const kept = { attempt: 1, startedAtMs: nowMs, endedAtMs: nowMs + 5, error: error.slice(1) };
    expect(await past()).toEqual([kept]);
    const unattempted = await begin(nowMs + 10);
    expect(await past()).toHaveLength(2);
    await log.postponeRun({ ...unattempted, atMs: nowMs + 11, notBeforeMs: nowMs, attempted: false });
    expect(await past()).toEqual([kept]);
    const second = await begin(nowMs + 20);
    await log.awaitReport({ ...second, untilMs: nowMs + 25 });
    const { id, claims } = second;
    await log.finishRun({ id, claims, state: 'failed', atMs: nowMs + 30, error: 'it\'s "no" good' });
    await log.retryRun({ id: run.id, nowMs });
    const { error: _, ...last } = await begin(nowMs + 40);
    await log.finishRun({ ...last, state: 'succeeded', atMs: nowMs + 50 });
    expect(await past()).toEqual([
      kept,
      { attempt: 2, startedAtMs: nowMs + 20, endedAtMs: nowMs + 30, error: 'it\'s "no" good' },
      { attempt: 1, startedAtMs: nowMs + 40, endedAtMs: nowMs + 50 },
    ]);
  });

  test('have no attempt whose only claim was none', async () => {
    const { store, log } = await openKept(makePlace);
    const [run] = await record(log, [undefined]);
    const claimed = await claimOne(log, nowMs);
    await log.postponeRun({ ...claimed, atMs: nowMs, notBeforeMs: nowMs, attempted: false });
    expect(await readHistory(store.deliveries, run)).toBeUndefined();
  });

  test('keep attempts of runs in lanes, and none of a run that was stopped', async () => {
    const { store, log } = await openKept(makePlace);
    const [run, stopped] = await record(log, [{ runsPerHour: 1 }, { runsPerHour: 1 }]);
    await log.finishRun({ ...(await claimOne(log, nowMs)), state: 'succeeded', atMs: nowMs + 1 });
    expect((await log.claimRuns(claim)).stopped).toMatchObject([{ id: stopped.id }]);
    expect(await readHistory(store.deliveries, run)).toEqual([
      { attempt: 1, startedAtMs: nowMs, endedAtMs: nowMs + 1 },
    ]);
    expect(await readHistory(store.deliveries, stopped)).toBeUndefined();
  });

  test('end the attempt of a daemon that was killed', async () => {
    const place = makePlace();
    const killed = await openLog(openAt(place));
    const [run] = await record(killed, [undefined]);
    await killed.claimRuns({ ...claim, daemonId: 'killed' });
    await killed.close();
    const store = openAt(place);
    const log = await openLog(store);
    await log.requeueRunsOfOthers(claim.daemonId);
    const ended = {
      attempt: 1,
      startedAtMs: nowMs,
      endedAtMs: expect.any(Number),
      error: describeInterruption({ times: 1, alone: 0 }),
    };
    expect(await readHistory(store.deliveries, run)).toEqual([ended]);
    await claimOne(log, nowMs + 7);
    expect(await readHistory(store.deliveries, run)).toEqual([ended, { attempt: 2, startedAtMs: nowMs + 7 }]);
  });

  test('end the attempt of a run that somebody cancels, and begin none to end it', async () => {
    const { store, log } = await openKept(makePlace);
    const [running, waiting, queued] = await record(log, [undefined, undefined, undefined]);
    const { runs } = await log.claimRuns({ ...claim, places: { default: 2 } });
    const [first, second] = runs as [Run, Run];
    await log.postponeRun({
      ...second,
      atMs: nowMs + 1,
      notBeforeMs: nowMs + 99,
      attempted: true,
      error: 'x',
    });
    const cancel = { by: 'ada', atMs: nowMs + 2 };
    for (const { id } of [running, waiting, queued]) await log.cancelRun({ id, cancel });
    const taken = (await log.claimRuns({ ...claim, nowMs: nowMs + 3 })).runs;
    expect(taken).toMatchObject([{ id: waiting.id }]);
    for (const run of [first, ...taken]) await log.finishRun({ ...run, state: 'cancelled', atMs: nowMs + 4 });
    expect(await readHistory(store.deliveries, running)).toEqual([
      { attempt: 1, startedAtMs: nowMs, endedAtMs: nowMs + 4 },
    ]);
    expect(await readHistory(store.deliveries, waiting)).toEqual([
      { attempt: 1, startedAtMs: nowMs, endedAtMs: nowMs + 1, error: 'x' },
    ]);
    expect(await readHistory(store.deliveries, queued)).toBeUndefined();
  });

  test('forget the oldest of too many attempts', async () => {
    const { store, log } = await openKept(makePlace);
    const [run] = await record(log, [undefined]);
    for (let n = 1; n <= attemptsKeptMax + 2; n++)
      await log.postponeRun({ ...(await claimOne(log, n)), atMs: n, notBeforeMs: 0, attempted: true });
    const past = (await readHistory(store.deliveries, run)) ?? [];
    expect(past).toHaveLength(attemptsKeptMax);
    expect([past[0]?.attempt, past.at(-1)?.attempt]).toEqual([3, attemptsKeptMax + 2]);
  });
}

function testHolders(makePlace: MakePlace): void {
  test('say which failed run holds them, and are counted by why they wait', async () => {
    const { store, log } = await openKept(makePlace);
    const toLane = (lane: string) => ({ order: { lane, hold: true } });
    const [hold, other] = [toLane('lane'), toLane('other')];
    const [failed, held, running, behind] = await record(log, [hold, hold, other, other]);
    const { runs } = await log.claimRuns(claim);
    expect(runs.map(({ id }) => id)).toEqual([failed.id, running.id]);
    const heldBy = async ({ id }: NewRun) => (await store.deliveries.findRun(id))?.heldBy;
    expect(await heldBy(held)).toBeUndefined();
    await log.finishRun({ ...(runs[0] as Run), state: 'failed', atMs: nowMs });
    await log.claimRuns(claim);
    await record(log, [undefined, { burst: { lane: 'burst', forMs: hourMs, atMostMs: hourMs } }]);
    expect(await heldBy(held)).toBe(failed.id);
    expect(await heldBy(behind)).toBeUndefined();
    const { now } = await readTallies(store.deliveries);
    expect(now).toEqual({ running: 1, queued: 1, held: 1, waiting: 2 });
    await log.dismissRun(failed.id);
    expect(await heldBy(held)).toBeUndefined();
    expect((await readTallies(store.deliveries)).now).toMatchObject({ queued: 2, held: 0 });
    expect((await readTallies(store.deliveries, 'another')).now).toEqual({
      ...{ running: 0, queued: 0, held: 0, waiting: 0 },
    });
  });
}

function testRunTallies(makePlace: MakePlace): void {
  test.for(inject('isLong') ? [1, 2, 3] : [1])(
    'are tallied as they end, whatever is done with them (seed %i)',
    async seed => {
      const { store, log } = await openKept(makePlace);
      const random = createRandom(seed);
      const model = createModel();
      const runs: NewRun[] = [];
      let atMs = nowMs;
      const expectModel = async () => {
        const { tallies, lastRuns, durations } = await readTallies(store.deliveries);
        expect({ tallies, lastRuns, durations }).toEqual(model.tallies());
      };
      for (let step = 0; step < 150; step++) {
        atMs += Math.floor(random() * hourMs * 0.3);
        const kind = random();
        if (kind < 0.3) {
          const more = [newRun('a'), newRun('b')].slice(0, 1 + Math.floor(random() * 2));
          await log.recordAccepted(acceptedDelivery({ atMs, runs: more }));
          for (const { id, automation } of more) model.record(id, automation, atMs);
          runs.push(...more);
        } else if (kind < 0.7) await work(log, { random, atMs, model });
        else if (kind < 0.8 && runs.length > 0) {
          const { id } = runs[Math.floor(random() * runs.length)] as NewRun;
          if (kind < 0.75) await log.retryRun({ id, nowMs: atMs });
          else if ((await log.cancelRun({ id, cancel: { by: 'ada', atMs } })) === 'cancelled')
            model.end(id, 'cancelled', atMs);
        } else if (kind < 0.85) await log.recordHealth({ nowMs: atMs, judged: [] });
        else if (kind < 0.9) await log.prune({ keepNewest: 1_000, keepSinceMs: atMs + hourMs });
      }
      expect(model.ends()).toBeGreaterThan(30);
      await expectModel();
      await log.recordHealth({ nowMs: atMs, judged: [] });
      await expectModel();
    },
  );

  test('have tallies that are removed by age, and are made again in a copy', async () => {
    const [from, to] = [makePlace(), makePlace()];
    const store = openAt(from);
    const log = await openLog(store);
    const today = Date.now();
    const ended = [today - 3 * hourMs, today];
    for (const atMs of ended) {
      await log.recordAccepted(acceptedDelivery({ atMs, runs: [newRun('a')] }));
      await log.finishRun({ ...(await claimOne(log, atMs)), state: 'succeeded', atMs: atMs + 100 });
      await log.recordHealth({ nowMs: atMs, judged: [] });
    }
    await log.recordAccepted(acceptedDelivery({ atMs: today, runs: [newRun('a')] }));
    const before = await readTallies(store.deliveries);
    expect(before.tallies).toHaveLength(2);
    await log.close();
    const source = await store.openTransfer();
    const target = await openAt(to).openTransfer();
    const json = '{"automations":[]}';
    await target.deliveries.write(await source.deliveries.read(factory, 0), [{ digest: 'digest one', json }]);
    await target.runs.write(await source.runs.read(factory, 0), []);
    await Promise.all([source.close(), target.close()]);
    const copy = openAt(to);
    expect(await readTallies(copy.deliveries)).toEqual(before);
    const copied = await openLog(copy);
    const keepTalliesSinceHour = Math.floor(today / hourMs) - 1;
    await copied.prune({ keepNewest: 50, keepSinceMs: 0, keepTalliesSinceHour });
    const after = await readTallies(copy.deliveries);
    expect([after.tallies, after.durations]).toEqual([before.tallies.slice(1), before.durations.slice(1)]);
  });
}

interface Work {
  readonly random: () => number;
  readonly atMs: number;
  readonly model: Model;
}

/** Claims runs, and ends or postpones what was claimed. What somebody cancels ends so. */
async function work(log: DeliveryLog, { random, atMs, model }: Work): Promise<void> {
  const { runs } = await log.claimRuns({ ...claim, nowMs: atMs, places: { default: 3 } });
  for (const run of runs) {
    const endMs = atMs + Math.floor(random() ** 4 * 100_000);
    const choice = random();
    if (run.cancel || choice < 0.6) {
      const state = run.cancel ? 'cancelled' : choice < 0.4 ? 'succeeded' : 'failed';
      expect(await log.finishRun({ ...run, state, atMs: endMs })).toBe(true);
      model.end(run.id, state, endMs);
    } else {
      const attempted = choice < 0.8;
      expect(await log.postponeRun({ ...run, atMs: endMs, notBeforeMs: endMs, attempted })).toBe(true);
    }
  }
}

type End = RunTallies['lastRuns'][number] & { readonly tookMs: number };
type Model = ReturnType<typeof createModel>;

/** The tallies, added up from all ends when they are wanted. */
function createModel() {
  const created = new Map<string, { readonly automation: string; readonly atMs: number }>();
  const ends: End[] = [];
  const toHour = (atMs: number) => Math.floor(atMs / hourMs);
  return {
    record: (id: string, automation: string, atMs: number) => void created.set(id, { automation, atMs }),
    end: (id: string, state: End['state'], atMs: number) => {
      const { automation, atMs: createdMs } = created.get(id) ?? { automation: '?', atMs: 0 };
      ends.push({ automation, id, state, atMs, tookMs: atMs - createdMs });
    },
    ends: () => ends.length,
    tallies: () => {
      const byHour = Object.groupBy(ends, ({ automation, atMs }) => `${automation} ${toHour(atMs)}`);
      const tallies = Object.entries(byHour).map(([key, ended = []]) => {
        const [automation, hour] = key.split(' ');
        const count = (wanted: string) => ended.filter(({ state }) => state === wanted).length;
        const counts = {
          succeeded: count('succeeded'),
          failed: count('failed'),
          cancelled: count('cancelled'),
        };
        return { automation, hour: Number(hour), ...counts };
      });
      const last = ['a', 'b'].flatMap(wanted => {
        const own = ends.filter(({ automation }) => automation === wanted);
        const latest = Math.max(...own.map(({ atMs }) => atMs));
        return own.findLast(({ atMs }) => atMs === latest) ?? [];
      });
      const timed = ends.filter(({ state }) => state !== 'cancelled');
      const toBucket = ({ tookMs }: End) => Math.floor(Math.log2(Math.max(1, tookMs)) * 8);
      const byBucket = Object.groupBy(timed, end => `${toHour(end.atMs)} ${toBucket(end)}`);
      const durations = Object.entries(byBucket).map(([key, { length: runs } = []]) => {
        const [hour, bucket] = key.split(' ').map(Number) as [number, number];
        return { hour, bucket, runs };
      });
      return {
        tallies: tallies.sort((a, b) => compare(a.automation, b.automation) || a.hour - b.hour),
        lastRuns: last.map(({ tookMs: _, ...run }) => run),
        durations: durations.sort((a, b) => a.hour - b.hour || a.bucket - b.bucket),
      };
    },
  };
}

function compare(a = '', b = ''): number {
  return a < b ? -1 : Number(a > b);
}

/** Records a run with each flow, each of an own delivery. */
async function record<const Flows extends readonly (RunFlow | undefined)[]>(
  log: DeliveryLog,
  flows: Flows,
): Promise<{ -readonly [I in keyof Flows]: NewRun }> {
  const runs = flows.map(flow => ({ ...newRun(), ...(flow && { flow }) }));
  for (const run of runs) await log.recordAccepted(acceptedDelivery({ runs: [run] }));
  return runs as { -readonly [I in keyof Flows]: NewRun };
}

async function claimOne(log: DeliveryLog, atMs: number): Promise<Run> {
  const { runs } = await log.claimRuns({ ...claim, nowMs: Math.max(nowMs, atMs), places: { default: 1 } });
  if (!runs[0]) throw new Error('no run was due');
  return runs[0];
}

async function readHistory(
  reader: DeliveryLogReader,
  { id }: NewRun,
): Promise<readonly PastAttempt[] | undefined> {
  return (await reader.findRun(id))?.history;
}

function readTallies(reader: DeliveryLogReader, of = factory): Promise<RunTallies> {
  return reader.readRunTallies({
    ...{ factory: of, automations: ['a', 'b', 'none'], sinceHour: 0, durationsSinceHour: 0 },
  });
}
