import { expect, test } from 'vitest';
import { tallyRowsMax } from '../../../../store/delivery-log/tally-rows.ts';
import type { DeliveryLog, UnidentifiedDelivery } from '../../../../store/ports/delivery-log.ts';
import type { Store } from '../../../../store/ports/store.ts';
import type { Tally } from '../../../../store/ports/tallies.ts';
import { acceptedDelivery, rejectedDelivery, sampleAtMs } from '../../../support/deliveries.ts';
import { eventually } from '../../../support/eventually.ts';
import { type MakePlace, openAt, openKept, openLog } from './place.ts';

const hourMs = 3_600_000;
const hour = Math.floor(sampleAtMs / hourMs);
const startMs = hour * hourMs;
const { factory, uid, webhook } = acceptedDelivery();
const other = 'wh_00000000000000000000other';

export function testTallies(makePlace: MakePlace): void {
  test('count deliveries by webhook, hour and outcome, once each', async () => {
    const { store, log } = await openKept(makePlace);
    expect(await tallyAll(store, log)).toBe(0);
    await log.recordAccepted(acceptedDelivery({ atMs: startMs + 1_000, identity: 'same' }));
    await log.recordAccepted(acceptedDelivery({ atMs: startMs + 5_000, identity: 'same' }));
    await reject(store, log, { atMs: startMs + 6_000 });
    await tallyAll(store, log);
    await reject(store, log, { atMs: startMs + 7_000, outcome: 'Rejected (invalid JSON)' });
    await reject(store, log, { atMs: startMs + 8_000, outcome: 'Rejected (too large)' });
    await reject(store, log, { atMs: startMs + 8_500, outcome: 'Handshake' });
    await tallyAll(store, log);
    await log.recordAccepted(acceptedDelivery({ atMs: startMs + 9_000 }));
    await log.recordAccepted(acceptedDelivery({ atMs: startMs + hourMs }));
    await log.recordAccepted(acceptedDelivery({ atMs: startMs, uid: other, webhook: 'other' }));
    await tallyAll(store, log);
    expect(await tallyAll(store, log)).toBe(0);
    const tallies = await readTallies(store);
    expect(tallies).toEqual([
      tally({
        ...{ accepted: 2, duplicates: 1, rejectedAuth: 1, rejectedJson: 1, rejectedLarge: 1, handshakes: 1 },
        ...{ firstGoodMs: startMs + 1_000, lastGoodMs: startMs + 9_000, longestGapMs: 4_000 },
        ...{ rejectedInRow: 0, lastRejectedMs: startMs + 8_000 },
      }),
      tally({ hour: hour + 1, accepted: 1, firstGoodMs: startMs + hourMs, lastGoodMs: startMs + hourMs }),
      tally({ uid: other, webhook: 'other', accepted: 1, firstGoodMs: startMs, lastGoodMs: startMs }),
    ]);
    expect((await store.deliveries.readHistory({ factory, uid: other, sinceHour: hour })).tallies).toEqual(
      tallies.slice(2),
    );
    expect(await readTallies(store, hour + 1)).toEqual(tallies.slice(1, 2));
    expect(await readTallies(store, hour, 'another')).toEqual([]);
  });

  test('count the first delivery of a store that was empty', async () => {
    const { store, log } = await openKept(makePlace);
    expect(await tallyAll(store, log)).toBe(0);
    await log.recordAccepted(acceptedDelivery({ atMs: Date.now() }));
    expect(await tallyAll(store, log)).toBe(1);
  });

  test('count the rejections after the last good delivery', async () => {
    const { store, log } = await openKept(makePlace);
    await reject(store, log, { atMs: startMs });
    await log.recordAccepted(acceptedDelivery({ atMs: startMs + 1 }));
    await reject(store, log, { atMs: startMs + 2 });
    await tallyAll(store, log);
    await reject(store, log, { atMs: startMs + 3 });
    await reject(store, log, { atMs: startMs + 4 });
    await tallyAll(store, log);
    expect(await readTallies(store)).toMatchObject([{ rejectedAuth: 4, rejectedInRow: 3 }]);
    await log.recordAccepted(acceptedDelivery({ atMs: startMs + 5 }));
    await tallyAll(store, log);
    expect(await readTallies(store)).toMatchObject([{ rejectedAuth: 4, rejectedInRow: 0 }]);
  });

  test('take rows in steps, also of several factories, and a step only once', async () => {
    const { store, log } = await openKept(makePlace);
    const rows = tallyRowsMax + 20;
    const recorded = Array.from({ length: rows }, (_, index) => {
      const of = index % 2 === 0 ? {} : { factory: 'second', uid: other, webhook: 'other' };
      return log.recordAccepted(acceptedDelivery({ atMs: startMs + index, ...of }));
    });
    await Promise.all(recorded);
    const first = await store.deliveries.readNextTallies();
    expect(first.isEnd).toBe(false);
    expect(count(first.tallies)).toBe(tallyRowsMax);
    // As two daemons would, or one that was killed before it heard that its step was written.
    expect(await Promise.all([log.recordTallies(first), log.recordTallies(first)])).toContain(false);
    const next = await store.deliveries.readNextTallies();
    expect([next.isEnd, count(next.tallies)]).toEqual([true, 20]);
    await log.recordTallies(next);
    expect(count(await readTallies(store))).toBe(rows / 2);
    expect(count(await readTallies(store, hour, 'second'))).toBe(rows / 2);
  });

  test('make webhooks due that are new, may fail, or may be healthy again', async () => {
    const { store, log } = await openKept(makePlace);
    const nowMs = startMs + 10_000;
    const due = async () => (await store.deliveries.listDueHealth(nowMs, 10)).map(row => row.uid);
    const judge = (state: string) =>
      log.recordHealth({ nowMs, judged: [{ uid, state, sinceMs: 5, fromMs: 7, dueMs: nowMs + 1 }] });
    await log.recordAccepted(acceptedDelivery({ atMs: startMs }));
    await tallyAll(store, log);
    expect(await store.deliveries.listDueHealth(nowMs, 10)).toEqual([
      { factory, uid, webhook, state: 'never seen', sinceMs: null, fromMs: 0 },
    ]);
    expect(await store.deliveries.listDueHealth(nowMs, 0)).toEqual([]);
    await judge('healthy');
    expect(await due()).toEqual([]);
    await log.recordAccepted(acceptedDelivery({ atMs: startMs + 1 }));
    await tallyAll(store, log);
    expect(await due()).toEqual([]);
    await reject(store, log, { atMs: startMs + 2 });
    await tallyAll(store, log);
    expect(await due()).toEqual([uid]);
    await judge('failing');
    expect(await due()).toEqual([]);
    await log.recordAccepted(acceptedDelivery({ atMs: startMs + 3, webhook: 'renamed' }));
    await tallyAll(store, log);
    expect(await store.deliveries.listDueHealth(nowMs, 10)).toEqual([
      { factory, uid, webhook: 'renamed', state: 'failing', sinceMs: 5, fromMs: 7 },
    ]);
    expect(await store.deliveries.countHealth()).toEqual({
      counts: [{ factory, state: 'failing', webhooks: 1 }],
      unhealthy: [{ factory, uid, webhook: 'renamed', state: 'failing', sinceMs: 5, fromMs: 7 }],
    });
    expect(await store.deliveries.countHealth(factory)).toEqual(await store.deliveries.countHealth());
    expect(await store.deliveries.countHealth('other')).toEqual({ counts: [], unhealthy: [] });
    await log.recordHealth({
      nowMs,
      judged: [{ uid, state: 'failing', sinceMs: 5, fromMs: 7, dueMs: null }],
    });
    expect(await store.deliveries.countHealth()).toEqual({ counts: [], unhealthy: [] });
  });

  test('say whether there may be webhooks to judge', async () => {
    const { store, log } = await openKept(makePlace);
    const nowMs = startMs + 10_000;
    const look = (dueMs?: number) => {
      const judged = { uid, state: 'healthy', sinceMs: null, fromMs: 0 };
      return log.recordHealth({ nowMs, judged: dueMs === undefined ? [] : [{ ...judged, dueMs }] });
    };
    await log.recordAccepted(acceptedDelivery({ atMs: startMs }));
    expect(await look()).toBe(true);
    await tallyAll(store, log);
    expect(await look()).toBe(true);
    expect(await look(nowMs + 1)).toBe(false);
    expect(await look(nowMs)).toBe(true);
    expect(await look(nowMs + 1)).toBe(false);
    await log.recordAccepted(acceptedDelivery({ atMs: startMs }));
    expect(await look()).toBe(true);
  });

  test('know since when a daemon has looked at webhooks without a longer break', async () => {
    const { store, log } = await openKept(makePlace);
    const look = async (nowMs: number) => {
      await log.recordHealth({ nowMs, judged: [] });
      return (await store.deliveries.readHistory({ factory, sinceHour: 0 })).listeningSinceMs;
    };
    expect(await look(startMs)).toBe(startMs);
    expect(await look(startMs + 60_000)).toBe(startMs);
    expect(await look(startMs + 1_000_000)).toBe(startMs + 1_000_000);
    expect(await look(startMs + 1_060_000)).toBe(startMs + 1_000_000);
  });

  test('are removed by age', async () => {
    const store = openAt(makePlace());
    const log = await openLog(store);
    await log.recordAccepted(acceptedDelivery({ atMs: startMs }));
    await log.recordAccepted(acceptedDelivery({ atMs: startMs + hourMs }));
    await tallyAll(store, log);
    await log.prune({ keepNewest: 50, keepSinceMs: 0 });
    expect(await readTallies(store)).toHaveLength(2);
    await log.prune({ keepNewest: 50, keepSinceMs: 0, keepTalliesSinceHour: hour + 1 });
    expect(await readTallies(store)).toMatchObject([{ hour: hour + 1 }]);
  });
}

/** Tallies everything in the log, and returns how many deliveries that were. */
async function tallyAll(store: Store, log: DeliveryLog): Promise<number> {
  let deliveries = 0;
  for (;;) {
    const step = await store.deliveries.readNextTallies();
    expect(await log.recordTallies(step)).toBe(true);
    deliveries += count(step.tallies);
    if (step.isEnd) return deliveries;
  }
}

/** Records a rejection, and waits until its row is written. Nobody is told if its commit fails: then this fails. */
async function reject(store: Store, log: DeliveryLog, given: Partial<UnidentifiedDelivery>): Promise<void> {
  const row = rejectedDelivery(given);
  log.recordUnidentified(row);
  await eventually(() => {
    if (log.stats().droppedRejections > 0) throw new Error(`not recorded: ${log.describeTrouble()}`);
    return store.deliveries.findDelivery(row.id);
  });
}

async function readTallies(store: Store, sinceHour = hour, of = factory): Promise<readonly Tally[]> {
  return (await store.deliveries.readHistory({ factory: of, sinceHour })).tallies;
}

function count(tallies: readonly Tally[]): number {
  return tallies.reduce((sum, { accepted, rejectedAuth }) => sum + accepted + rejectedAuth, 0);
}

function tally(given: Partial<Tally>): Tally {
  return {
    ...{ factory, uid, webhook, hour, accepted: 0, duplicates: 0, rejectedAuth: 0, rejectedJson: 0 },
    ...{ rejectedLarge: 0, handshakes: 0, firstGoodMs: null, lastGoodMs: null, longestGapMs: 0 },
    ...{ rejectedInRow: 0, lastRejectedMs: null },
    ...given,
  };
}
