import { expect, test } from 'vitest';
import {
  deliveriesPerRunMax,
  deliveryBytesPerRunMax,
  flowDecisionsMax,
} from '../../../../store/delivery-log/run-flow.ts';
import type {
  DeliveryLog,
  NewRun,
  Run,
  RunFlow,
  RunnerPlaces,
} from '../../../../store/ports/delivery-log.ts';
import { acceptedDelivery, newRun, sampleAtMs } from '../../../support/deliveries.ts';
import { type MakePlace, openAt, openKept, openLog } from './place.ts';

const nowMs = sampleAtMs;
const claim = { daemonId: 'daemon one', nowMs, places: { default: 10 } };
const hourMs = 3_600_000;
const dayMs = 86_400_000;

export function testRunFlow(makePlace: MakePlace): void {
  testRunners(makePlace);
  testLimits(makePlace);
  testOrder(makePlace);
  testBoth(makePlace);
  testFuse(makePlace);
  testBursts(makePlace);
}

function testRunners(makePlace: MakePlace): void {
  test('start runs where their runner has places, and name the runners of others', async () => {
    const { store, log } = await openKept(makePlace);
    const order = { lane: 'order', hold: false };
    const inOrder = { runner: 'deploy', order };
    const [a, b, c] = await record(log, [{ runner: 'deploy' }, inOrder, inOrder, { runner: 'triage' }]);
    const free = newRun();
    await log.recordAccepted(acceptedDelivery({ identity: 'free', runs: [free] }));
    expect(await log.claimRuns({ ...claim, places: { default: 0, deploy: 1 } })).toMatchObject({
      runs: [{ id: a.id, runner: 'deploy' }],
      otherRunners: ['triage'],
    });
    // What no place is left for is not waited for.
    expect(await log.claimRuns({ ...claim, places: { default: 0, deploy: 0 } })).toEqual({
      runs: [],
      otherRunners: ['triage'],
    });
    const { runs } = await log.claimRuns({ ...claim, places: { default: 9, deploy: 9, triage: 0 } });
    expect(new Set(runs.map(({ id }) => id))).toEqual(new Set([b.id, free.id]));
    const found = runs.find(({ id }) => id === b.id);
    expect(found).toMatchObject({ runner: 'deploy', lane: 'order' });
    expect(runs.find(({ id }) => id === free.id)).toMatchObject({ runner: 'default' });
    expect(await store.deliveries.findRun(c.id)).toMatchObject({ waitsFor: 'order', runner: 'deploy' });
    await end(log, found);
    expect(await log.claimRuns({ ...claim, places: { deploy: 9 } })).toMatchObject({
      runs: [{ id: c.id }],
      otherRunners: ['triage'],
    });
  });

  test('tell when the next run is due of the runners with places', async () => {
    const { log } = await openKept(makePlace);
    const flows = [{ runner: 'deploy' }, {}];
    for (const [index, flow] of flows.entries()) await recordOne(log, flow, nowMs + 1_000 * (index + 1));
    const dueOf = async (places: RunnerPlaces) => (await log.claimRuns({ ...claim, places })).nextDueMs;
    expect(await dueOf({ default: 1, deploy: 1 })).toBe(nowMs + 1_000);
    expect(await dueOf({ default: 1, deploy: 0 })).toBe(nowMs + 2_000);
    expect(await dueOf({ default: 0, deploy: 0 })).toBeUndefined();
  });
}

function testLimits(makePlace: MakePlace): void {
  const limit = (runs: number, lane = 'lane') => ({ limit: { lane, runs } });

  test('start no more runs of a lane than its limit, and the next ones as others end', async () => {
    const { store, log } = await openKept(makePlace);
    const [a, b, c, other, d] = await record(log, [
      limit(2),
      limit(2),
      limit(2),
      limit(2, 'other'),
      limit(2),
    ]);
    const [first, second] = await claimIds(log, [a, b, other]);
    expect(await store.deliveries.findRun(c.id)).toMatchObject({ state: 'queued', waitsFor: 'limit' });
    expect(await store.deliveries.countUnfinishedRuns()).toEqual({
      queued: 2,
      waiting: 2,
      running: 3,
      holding: 0,
    });
    await claimIds(log, []);
    await log.finishRun({ ...first, state: 'failed', atMs: nowMs });
    await claimIds(log, [c]);
    await log.finishRun({ ...second, state: 'succeeded', atMs: nowMs });
    await claimIds(log, [d]);
    expect(await store.deliveries.findRun(d.id)).not.toHaveProperty('waitsFor');
  });

  test('give the place of a run that waits for its next attempt to another one', async () => {
    const { log } = await openKept(makePlace);
    const [a, b] = await record(log, [limit(1), limit(1)]);
    const [running] = await claimIds(log, [a]);
    await log.postponeRun({ ...running, atMs: nowMs, notBeforeMs: nowMs, attempted: true });
    const [next] = await claimIds(log, [a]);
    await log.postponeRun({ ...next, atMs: nowMs, notBeforeMs: nowMs + 5, attempted: true });
    const [last] = await claimIds(log, [b]);
    await claimIds(log, [], nowMs + 5);
    await log.finishRun({ ...last, state: 'succeeded', atMs: nowMs });
    await claimIds(log, [a], nowMs + 5);
  });

  test('hold for each run as its own definition says, and for replays', async () => {
    const { log } = await openKept(makePlace);
    const [a, b] = await record(log, [limit(1), limit(2)]);
    const [{ deliveryId }] = await claimIds(log, [a, b]);
    const [replayed, free] = [{ ...newRun(), flow: limit(2) }, newRun()];
    const appliedState = { digest: 'digest two', json: '{}' };
    await log.replay({ deliveryId, runs: [replayed, free], appliedState, nowMs });
    await claimIds(log, [free]);
  });

  test('hold after a daemon died: its runs are queued again and have their places', async () => {
    const place = makePlace();
    const dead = await openLog(openAt(place));
    const [a, b, c] = await record(dead, [limit(1), limit(1), limit(1)]);
    await claimIds(dead, [a]);
    await dead.close();
    const log = await openLog(openAt(place));
    await log.requeueRunsOfOthers('two');
    const { runs } = await log.claimRuns({ ...claim, daemonId: 'two' });
    expect(runs).toMatchObject([{ id: a.id, attempts: 2 }]);
    await end(log, runs[0]);
    await end(log, (await claimIds(log, [b]))[0]);
    await claimIds(log, [c]);
  });

  test('wait no longer after the clock was set back', async () => {
    const { log } = await openKept(makePlace);
    const [a, b] = await record(log, [limit(1), limit(1)]);
    const [running] = await claimIds(log, [a]);
    const earlierMs = nowMs - 3_600_000;
    expect(await log.correctDueTimes({ nowMs: earlierMs, backMs: 3_600_000 })).toBe(1);
    await end(log, running);
    await claimIds(log, [b], earlierMs);
  });

  test('cost a claim a bounded number of decisions, however many runs wait', async () => {
    const { log } = await openKept(makePlace);
    const runs = await record(
      log,
      Array.from({ length: 2 * flowDecisionsMax + 10 }, () => limit(1)),
    );
    const { runs: claimed, nextDueMs } = await log.claimRuns(claim);
    expect(claimed).toMatchObject([{ id: runs[0]?.id }]);
    // Some are not parked yet: they are due, so that the queue claims again at once.
    expect(nextDueMs).toBe(nowMs);
    await claimUntilNothingIsDue(log);
    await end(log, claimed[0]);
    expect(await log.claimRuns(claim)).toMatchObject({ runs: [{ id: runs[1]?.id }] });
    await claimUntilNothingIsDue(log);
  });
}

function testOrder(makePlace: MakePlace): void {
  const order = (lane = 'lane', hold = false) => ({ order: { lane, hold } });

  test('start runs of an order one after the other, as they were recorded', async () => {
    const { store, log } = await openKept(makePlace);
    // Due earlier than the one before it.
    const [a] = await record(log, [order()]);
    const [b] = await record(log, [order()], { atMs: nowMs - 5 });
    const [other] = await record(log, [order('other')]);
    const [first] = await claimIds(log, [a, other]);
    expect(await store.deliveries.findRun(b.id)).toMatchObject({ state: 'queued', waitsFor: 'order' });
    await log.postponeRun({ ...first, atMs: nowMs, notBeforeMs: nowMs + 5, attempted: true });
    const [c] = await record(log, [order()]);
    await claimIds(log, []);
    const [again] = await claimIds(log, [a], nowMs + 5);
    await log.finishRun({ ...again, state: 'failed', atMs: nowMs });
    await end(log, (await claimIds(log, [b]))[0]);
    await claimIds(log, [c]);
  });

  test('cancel the earlier ones of an order whose newest run is the only one to start', async () => {
    const { store, log } = await openKept(makePlace);
    const latest = (cancelRunning: boolean) => ({
      order: { lane: 'lane', hold: false, latest: { cancelRunning } },
    });
    const [other] = await record(log, [
      { order: { lane: 'other', hold: false, latest: { cancelRunning: true } } },
    ]);
    const [a, b] = await record(log, [latest(false), latest(false)]);
    expect(await store.deliveries.findRun(a.id)).toMatchObject({
      state: 'cancelled',
      cancel: {
        by: 'hookmill',
        atMs: nowMs,
        reason: `${b.id} is newer, and only the latest run of its order starts`,
      },
    });
    const [, running] = await claimIds(log, [other, b]);
    const [c] = await record(log, [latest(false)]);
    const [d] = await record(log, [latest(false)]);
    expect(await store.deliveries.findRun(c.id)).toMatchObject({ state: 'cancelled' });
    expect(await log.claimRuns(claim)).toEqual({ runs: [] });
    expect(await store.deliveries.findRun(d.id)).toMatchObject({ state: 'queued', waitsFor: 'order' });
    // One whose claim was an attempt has something to end, so a daemon ends it.
    await log.postponeRun({ ...running, atMs: nowMs, notBeforeMs: nowMs + 5, attempted: true });
    const [e] = await record(log, [latest(false)]);
    expect(await store.deliveries.findRun(b.id)).toMatchObject({ cancel: { by: 'hookmill' } });
    const { runs: taken } = await log.claimRuns(claim);
    expect(taken.map(({ id }) => id)).toEqual([b.id]);
    await log.finishRun({ ...taken[0], ...{ id: b.id, claims: 2, state: 'cancelled', atMs: nowMs } });
    await claimIds(log, [e]);
    const deliveryId = (await store.deliveries.findRun(d.id))?.deliveryId ?? '';
    const replayed = { ...newRun(), flow: latest(true) };
    await log.replay({ deliveryId, runs: [replayed], appliedState: { digest: 'd', json: '{}' }, nowMs });
    expect(await log.claimRuns(claim)).toEqual({ runs: [], toCancel: [e.id] });
    expect(await store.deliveries.findRun(other.id)).not.toHaveProperty('cancel');
  });

  test('hold those behind a failed run until it is dismissed, or succeeds after a retry', async () => {
    const { store, log } = await openKept(makePlace);
    const [a, b, c] = await record(log, [order('lane', true), order('lane', true), order('lane', true)]);
    const [first] = await claimIds(log, [a]);
    expect(await log.dismissRun(a.id)).toBe(false);
    await log.finishRun({ ...first, state: 'failed', atMs: nowMs });
    await claimIds(log, []);
    expect(await store.deliveries.findRun(a.id)).toMatchObject({ state: 'failed', holds: true });
    const { factory, automation } = first;
    expect(await store.deliveries.findHoldingRun({ factory, automation })).toMatchObject({ id: a.id });
    expect(await store.deliveries.findHoldingRun({ factory, automation: 'other' })).toBeUndefined();
    expect(await store.deliveries.countUnfinishedRuns()).toMatchObject({ queued: 2, holding: 1 });
    expect(await log.dismissRun(a.id)).toBe(true);
    expect(await store.deliveries.findHoldingRun({ factory, automation })).toBeUndefined();
    expect(await store.deliveries.countUnfinishedRuns()).toMatchObject({ holding: 0 });
    const dismissed = await store.deliveries.findRun(a.id);
    expect(dismissed).toMatchObject({ state: 'failed', dismissed: true });
    expect(dismissed).not.toHaveProperty('holds');
    const [second] = await claimIds(log, [b]);
    await log.finishRun({ ...second, state: 'failed', atMs: nowMs });
    const [d] = await record(log, [order('lane', true)]);
    await claimIds(log, []);
    await log.retryRun({ id: b.id, nowMs });
    await end(log, (await claimIds(log, [b]))[0]);
    const [third] = await claimIds(log, [c]);
    // A retry of the first one waits for those that have started since, and is before the others.
    await log.retryRun({ id: a.id, nowMs });
    expect(await store.deliveries.findRun(a.id)).not.toHaveProperty('dismissed');
    await claimIds(log, []);
    await end(log, third);
    await end(log, (await claimIds(log, [a]))[0]);
    await claimIds(log, [d]);
  });

  test('start a retried run before those behind it', async () => {
    const { log } = await openKept(makePlace);
    const [a, b, c] = await record(log, [order(), order(), order()]);
    const [first] = await claimIds(log, [a]);
    await log.finishRun({ ...first, state: 'failed', atMs: nowMs });
    const [second] = await claimIds(log, [b]);
    await log.retryRun({ id: a.id, nowMs: nowMs + 1 });
    await claimIds(log, [], nowMs + 1);
    await end(log, second);
    await end(log, (await claimIds(log, [a], nowMs + 1))[0]);
    await claimIds(log, [c], nowMs + 1);
  });

  test('hold those behind a failed run however old it is: retention keeps it until it is dismissed or succeeds', async () => {
    const { store, log } = await openKept(makePlace);
    const old = { atMs: nowMs - (nowMs % dayMs) - 5 * dayMs };
    const burst = { burst: { lane: 'burst', forMs: 30, atMostMs: 100 } };
    const { run: a } = await recordBurst(log, { ...order('lane', true), ...burst }, [-5 * dayMs, -5 * dayMs]);
    const [retried] = await record(log, [order('retried', true)], old);
    const [other] = await record(log, [order('other')], old);
    const [b] = await record(log, [order('lane', true)]);
    const prune = () => log.prune({ keepNewest: 1, keepSinceMs: nowMs - (nowMs % dayMs) });
    for (const run of await claimIds(log, [retried, other, a]))
      await log.finishRun({ ...run, state: 'failed', atMs: nowMs });
    await claimIds(log, []);
    // The one that holds no others is removed.
    expect(await prune()).toMatchObject({ deliveries: 1 });
    expect(await store.deliveries.findRun(other.id)).toBeUndefined();
    expect(await store.deliveries.findRun(a.id)).toMatchObject({ holds: true, deliveryCount: 2 });
    expect(await store.deliveries.listRunDeliveries(a.id)).toHaveLength(2);
    expect(await store.deliveries.countUnfinishedRuns()).toMatchObject({ holding: 2 });
    await claimIds(log, []);
    await log.retryRun({ id: retried.id, nowMs });
    await end(log, (await claimIds(log, [retried]))[0]);
    await log.dismissRun(a.id);
    expect(await prune()).toMatchObject({ deliveries: 3 });
    for (const { id } of [a, retried]) expect(await store.deliveries.findRun(id)).toBeUndefined();
    await claimIds(log, [b]);
  });

  test('keep the order of a lane after a daemon died', async () => {
    const place = makePlace();
    const dead = await openLog(openAt(place));
    const [a, b] = await record(dead, [order(), order()]);
    await claimIds(dead, [a]);
    await dead.close();
    const log = await openLog(openAt(place));
    await log.requeueRunsOfOthers('two');
    const { runs } = await log.claimRuns({ ...claim, daemonId: 'two' });
    expect(runs.map(({ id }) => id)).toEqual([a.id]);
    await end(log, runs[0]);
    await claimIds(log, [b]);
  });
}

function testBoth(makePlace: MakePlace): void {
  const both = (lane: string) => ({ order: { lane, hold: false }, limit: { lane: 'all', runs: 2 } });

  test('pass a free place on to a run that may start, over those that wait for their order', async () => {
    const { log } = await openKept(makePlace);
    const [a, b, a2, a3, b2, c] = await record(log, [
      both('a'),
      both('b'),
      both('a'),
      both('a'),
      both('b'),
      both('c'),
    ]);
    const [first, second] = await claimIds(log, [a, b]);
    await end(log, second);
    const [third] = await claimIds(log, [b2]);
    await end(log, third);
    const [fourth] = await claimIds(log, [c]);
    await end(log, first);
    await end(log, (await claimIds(log, [a2]))[0]);
    await end(log, (await claimIds(log, [a3]))[0]);
    await end(log, fourth);
    await claimIds(log, []);
  });

  test('never exceed a limit or break an order, whatever ends when, and start every run', async () => {
    const { log } = await openKept(makePlace);
    const lanes = Array.from({ length: 60 }, (_, index) => `${(index * 7) % 9}`);
    const runs = await record(log, lanes.map(both));
    const laneOf = new Map(runs.map(({ id }, index) => [id, lanes[index]]));
    const started: string[] = [];
    let running: Run[] = [];
    while (started.length < runs.length) {
      const { runs: claimed } = await log.claimRuns({ ...claim, places: { default: 3 } });
      running.push(...claimed);
      started.push(...claimed.map(({ id }) => id));
      expect(running.length).toBe(2);
      expect(new Set(running.map(({ id }) => laneOf.get(id))).size).toBe(running.length);
      const [ended] = running.splice(started.length % running.length, 1);
      await end(log, ended);
      if (started.length === runs.length - 1) running = await endAll(log, running, started);
    }
    for (const lane of new Set(lanes)) {
      const inLane = (ids: readonly string[]) => ids.filter(id => laneOf.get(id) === lane);
      expect(inLane(started)).toEqual(inLane(runs.map(({ id }) => id)));
    }
  });
}

/** Ends what is running, and starts what is left. */
async function endAll(log: DeliveryLog, running: readonly Run[], started: string[]): Promise<Run[]> {
  for (const run of running) await end(log, run);
  const { runs } = await log.claimRuns(claim);
  started.push(...runs.map(({ id }) => id));
  return [...runs];
}

function testFuse(makePlace: MakePlace): void {
  const fuse = { runsPerHour: 2 };

  test('stop runs beyond the runs per hour, until an hour has passed or an operator retries them', async () => {
    const { store, log } = await openKept(makePlace);
    const [a, b, c] = await record(log, [fuse, fuse, fuse]);
    const [d] = await record(log, [fuse], { atMs: nowMs + hourMs });
    const { runs, stopped } = await log.claimRuns(claim);
    expect(runs).toMatchObject([{ id: a.id }, { id: b.id }]);
    expect(stopped).toMatchObject([{ id: c.id, state: 'failed', stopped: true, attempts: 0 }]);
    expect(stopped?.[0]?.error).toContain('runsPerHour');
    expect(await store.deliveries.findRun(c.id)).toEqual(stopped?.[0]);
    // A second attempt is no second start.
    await log.postponeRun({ ...(runs[0] as Run), atMs: nowMs, notBeforeMs: nowMs, attempted: true });
    await claimIds(log, [a]);
    await claimIds(log, [d], nowMs + hourMs);
    await log.retryRun({ id: c.id, nowMs: nowMs + hourMs });
    const [again] = await claimIds(log, [c], nowMs + hourMs);
    expect(again).not.toHaveProperty('stopped');
  });

  test('count each automation apart, and let the others of a lane go on', async () => {
    const { log } = await openKept(makePlace);
    const flow = { runsPerHour: 1, limit: { lane: 'lane', runs: 1 }, order: { lane: 'order', hold: false } };
    const [a, b] = await record(log, [flow, flow]);
    const [c] = await record(log, [{ ...flow }], { automation: 'notify' });
    const [first] = await claimIds(log, [a]);
    await end(log, first);
    const { runs, stopped } = await log.claimRuns(claim);
    expect([stopped, runs]).toMatchObject([[{ id: b.id }], [{ id: c.id }]]);
  });
}

function testBursts(makePlace: MakePlace): void {
  const burst = (lane = 'burst') => ({ burst: { lane, forMs: 30, atMostMs: 100 } });

  test('gather the deliveries of a burst in one run, which is due when no more come', async () => {
    const { store, log } = await openKept(makePlace);
    const reader = store.deliveries;
    const { run, deliveries } = await recordBurst(log, burst(), [0, 10, 39]);
    const [other] = await record(log, [burst('other')]);
    expect(await log.claimRuns({ ...claim, nowMs: nowMs + 29 })).toEqual({ runs: [], nextDueMs: nowMs + 30 });
    const newest = deliveries.at(-1)?.id;
    const expected = { id: run.id, deliveryId: newest, deliveryCount: 3, createdAtMs: nowMs };
    expect(await reader.findRun(run.id)).toMatchObject({ ...expected, waitsFor: 'deliveries' });
    for (const { id } of deliveries) expect(await reader.listRunsOfDelivery(id)).toMatchObject([expected]);
    const facts = deliveries.map(({ id, atMs, size }) => ({ id, atMs, size }));
    expect(await reader.listRunDeliveries(run.id)).toEqual(facts);
    expect(await log.listRunDeliveries(run.id)).toEqual(facts);
    const summaries = await reader.summarizeDeliveries([`${deliveries[0]?.id}`], 0);
    expect(summaries).toMatchObject([{ runs: { queued: 1 } }]);
    const found = await reader.listDeliveries({ factory: 'default', automation: 'triage', limit: 9 });
    expect(found).toHaveLength(4);
    await claimIds(log, [other], nowMs + 68);
    const [claimed] = await claimIds(log, [run], nowMs + 69);
    expect(claimed).toMatchObject({ deliveryId: newest, deliveryCount: 3, snapshot: 'digest 2' });
    expect(claimed).not.toHaveProperty('waitsFor');
  });

  test('wait at most so long for the end of a burst', async () => {
    const { log } = await openKept(makePlace);
    const { run } = await recordBurst(log, burst(), [0, 25, 50, 75, 99]);
    await claimIds(log, [], nowMs + 99);
    await claimIds(log, [run], nowMs + 100);
  });

  test('start another run once the one before has started, also if that is attempted again', async () => {
    const { log } = await openKept(makePlace);
    const { run } = await recordBurst(log, burst(), [0, 1]);
    const [claimed] = await claimIds(log, [run], nowMs + 31);
    await log.postponeRun({ ...claimed, atMs: nowMs, notBeforeMs: nowMs + 40, attempted: false });
    const { run: next } = await recordBurst(log, burst(), [32, 33]);
    await claimIds(log, [run], nowMs + 40);
    expect(await claimIds(log, [next], nowMs + 63)).toMatchObject([{ deliveryCount: 2 }]);
  });

  test('go on gathering while they wait for other runs', async () => {
    const { log } = await openKept(makePlace);
    const flow = { ...burst(), order: { lane: 'order', hold: false }, limit: { lane: 'limit', runs: 1 } };
    const [{ order, limit }] = [flow];
    const [before] = await record(log, [{ order, limit }]);
    const { run } = await recordBurst(log, flow, [0]);
    const [running] = await claimIds(log, [before], nowMs + 30);
    const joined = acceptedDelivery({ atMs: nowMs + 31, runs: [{ ...newRun(), flow }] });
    await log.recordAccepted(joined);
    await end(log, running);
    await claimIds(log, [], nowMs + 60);
    expect(await claimIds(log, [run], nowMs + 61)).toMatchObject([
      { deliveryCount: 2, deliveryId: joined.id },
    ]);
  });

  test('take up a bounded number of deliveries and bytes', async () => {
    const { store, log } = await openKept(makePlace);
    const many = await Promise.all(
      Array.from({ length: deliveriesPerRunMax + 1 }, () => recordOne(log, burst(), nowMs)),
    );
    const [full] = (await log.claimRuns(claim)).runs;
    expect(full).toMatchObject({ deliveryCount: deliveriesPerRunMax });
    const ids = (await store.deliveries.listRunDeliveries(`${full?.id}`)).map(({ id }) => id);
    expect(new Set(ids).size).toBe(deliveriesPerRunMax);
    expect(many.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));

    const large = Buffer.alloc(deliveryBytesPerRunMax / 4);
    for (let count = 0; count < 5; count++) await recordOne(log, burst('large'), nowMs, large);
    expect((await log.claimRuns(claim)).runs).toMatchObject([{ deliveryCount: 4 }]);
    expect((await log.claimRuns({ ...claim, nowMs: nowMs + 30 })).runs).toMatchObject([
      { deliveryCount: 1 },
      { deliveryCount: 1 },
    ]);
  });

  test('take up no duplicate, and no replay', async () => {
    const { log } = await openKept(makePlace);
    const { run, deliveries } = await recordBurst(log, burst(), [0]);
    const [{ identity, id: deliveryId }] = deliveries as [(typeof deliveries)[0]];
    await log.recordAccepted(acceptedDelivery({ identity, runs: [{ ...newRun(), flow: burst() }] }));
    const replayed = { ...newRun(), flow: burst() };
    const appliedState = { digest: 'digest two', json: '{}' };
    await log.replay({ deliveryId, runs: [replayed], appliedState, nowMs });
    expect((await claimIds(log, [replayed]))[0]).not.toHaveProperty('deliveryCount');
    expect(await claimIds(log, [run], nowMs + 30)).toMatchObject([{ deliveryCount: 1 }]);
  });

  test('are not removed before their run ends, and the run with its newest delivery', async () => {
    const { store, log } = await openKept(makePlace);
    const today = nowMs - (nowMs % dayMs);
    const flow = { burst: { lane: 'burst', forMs: 30, atMostMs: 9 * dayMs } };
    const days = [-5 * dayMs, -5 * dayMs + 1, -4 * dayMs, dayMs].map(ageMs => today + ageMs - nowMs);
    const { run, deliveries } = await recordBurst(log, flow, days);
    const rule = { keepNewest: 1, keepSinceMs: today };
    await log.prune(rule);
    expect(await store.deliveries.listRunDeliveries(run.id)).toHaveLength(4);
    await end(log, (await claimIds(log, [run], today + 2 * dayMs))[0]);
    await log.prune(rule);
    expect(await store.deliveries.listRunDeliveries(run.id)).toMatchObject([{ id: deliveries[3]?.id }]);
    expect(await store.deliveries.findRun(run.id)).toMatchObject({ state: 'succeeded', deliveryCount: 4 });
    await recordOne(log, {}, today + 3 * dayMs);
    await log.prune({ keepNewest: 1, keepSinceMs: today + 2 * dayMs });
    expect(await store.deliveries.findRun(run.id)).toBeUndefined();
  });
}

interface Recording {
  readonly atMs?: number;
  readonly automation?: string;
}

type Ids<Flows> = { -readonly [K in keyof Flows]: NewRun };

/** Records a delivery for each run. */
async function record<const Flows extends readonly RunFlow[]>(
  log: DeliveryLog,
  flows: Flows,
  { atMs = nowMs, automation = 'triage' }: Recording = {},
): Promise<Ids<Flows>> {
  const runs = flows.map(flow => ({ ...newRun(automation), flow }));
  await Promise.all(runs.map(run => log.recordAccepted(acceptedDelivery({ atMs, runs: [run] }))));
  return runs as unknown as Ids<Flows>;
}

/** Records a delivery at each of these times, in ms from now, and returns the run that takes them up. */
async function recordBurst(log: DeliveryLog, flow: RunFlow, timesMs: readonly number[]) {
  const run = { ...newRun(), flow };
  const deliveries = timesMs.map((afterMs, index) =>
    acceptedDelivery({
      atMs: nowMs + afterMs,
      appliedState: { digest: `digest ${index}`, json: '{}' },
      runs: [index === 0 ? run : { ...newRun(), flow }],
    }),
  );
  for (const delivery of deliveries) await log.recordAccepted(delivery);
  return { run, deliveries };
}

async function recordOne(log: DeliveryLog, flow: RunFlow, atMs: number, payload?: Buffer) {
  const delivery = acceptedDelivery({ atMs, ...(payload && { payload }), runs: [{ ...newRun(), flow }] });
  await log.recordAccepted(delivery);
  return delivery;
}

/** Claims, and requires that exactly these runs are claimed. */
async function claimIds<Wanted extends readonly Pick<NewRun, 'id'>[]>(
  log: DeliveryLog,
  wanted: readonly [...Wanted],
  atMs = nowMs,
): Promise<{ [K in keyof Wanted]: Run }> {
  const { runs } = await log.claimRuns({ ...claim, nowMs: atMs });
  expect(runs.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id));
  return runs as unknown as { [K in keyof Wanted]: Run };
}

async function claimUntilNothingIsDue(log: DeliveryLog): Promise<void> {
  for (let times = 0; times < 5; times++) {
    const { runs, nextDueMs } = await log.claimRuns(claim);
    expect(runs).toEqual([]);
    if (nextDueMs === undefined) return;
  }
  throw new Error('runs are still due');
}

async function end(log: DeliveryLog, run: Run | undefined): Promise<void> {
  if (!run) throw new Error('no run to end');
  expect(await log.finishRun({ ...run, state: 'succeeded', atMs: nowMs })).toBe(true);
}
