import { expect, test } from 'vitest';
import { acceptedDelivery, newRun, rejectedDelivery } from '../../../support/deliveries.ts';
import { listIds, type MakePlace, openAt, openKept, openLog } from './place.ts';

export function testDeliveryQueries(makePlace: MakePlace): void {
  test('answer for a log that was never written, and later for what was written', async () => {
    const place = makePlace();
    const reading = openAt(place).deliveries;
    const filter = { factory: 'default', limit: 9 };
    expect(await openAt(place).deliveries.listDeliveries(filter)).toEqual([]);
    expect(await openAt(place).deliveries.listRuns(filter)).toEqual([]);
    expect(await openAt(place).deliveries.findDelivery('dlv_1')).toBeUndefined();
    const log = await openLog(openAt(place));
    const { id } = await log.recordAccepted(acceptedDelivery());
    expect(listIds(await reading.listDeliveries(filter))).toEqual([id]);
    const later = await log.recordAccepted(acceptedDelivery());
    expect(listIds(await reading.listDeliveries(filter))).toEqual([later.id, id]);
  });

  test('list newest first by commit, whatever the clock said, filtered', async () => {
    const store = openAt(makePlace());
    const log = await openLog(store);
    const uid = 'wh_00000000000000000000other';
    await log.recordAccepted(acceptedDelivery({ id: 'a', atMs: 3_000 }));
    await log.recordAccepted(acceptedDelivery({ id: 'b', atMs: 1_000, webhook: 'git', uid }));
    await log.recordAccepted(acceptedDelivery({ id: 'c', atMs: 2_000, factory: 'other' }));
    log.recordUnidentified(rejectedDelivery({ id: 'd', atMs: 500 }));
    await log.close();
    const list = async (filter: object) =>
      listIds(await store.deliveries.listDeliveries({ factory: 'default', limit: 9, ...filter }));
    expect(await list({})).toEqual(['d', 'b', 'a']);
    expect(await list({ limit: 2 })).toEqual(['d', 'b']);
    expect(await list({ webhook: 'pay' })).toEqual(['d', 'a']);
    expect(await list({ uid })).toEqual(['b']);
    expect(await list({ webhook: 'pay', uid })).toEqual(['d', 'b', 'a']);
    expect(await list({ webhook: 'git', uid: 'wh_000000000000000000000none' })).toEqual(['b']);
    expect(await list({ webhook: 'pay', outcome: 'Accepted' })).toEqual(['a']);
    expect(await list({ outcome: 'Duplicate' })).toEqual([]);
    expect(await list({ factory: 'other' })).toEqual(['c']);
  });

  test('list deliveries with one of several outcomes in the order of commits, page after page', async () => {
    const store = openAt(makePlace());
    const log = await openLog(store);
    const given = { uid: 'wh_000000000000000000000one', identity: 'same' };
    await log.recordAccepted(acceptedDelivery({ ...given, id: 'accepted' }));
    log.recordUnidentified(rejectedDelivery({ id: 'auth' }));
    await log.recordAccepted(acceptedDelivery({ ...given, id: 'again' }));
    log.recordUnidentified(rejectedDelivery({ id: 'large', outcome: 'Rejected (too large)' }));
    log.recordUnidentified(rejectedDelivery({ id: 'handshake', outcome: 'Handshake' }));
    log.recordUnidentified(rejectedDelivery({ id: 'elsewhere', factory: 'other' }));
    log.recordUnidentified(rejectedDelivery({ id: 'git', webhook: 'git' }));
    await log.close();
    const outcome = ['Duplicate', 'Rejected (auth)', 'Rejected (too large)'] as const;
    const filter = { factory: 'default', limit: 9, outcome };
    const list = async (more: object) =>
      listIds(await store.deliveries.listDeliveries({ ...filter, ...more }));
    const shown = await list({});
    // A rejection is committed after the acceptance that it waits beside.
    expect(shown.toSorted()).toEqual(['again', 'auth', 'git', 'large']);
    const [first = '', second = ''] = shown;
    expect(await list({ limit: 2 })).toEqual([first, second]);
    expect(await list({ before: second })).toEqual(shown.slice(2));
    expect((await list({ webhook: 'pay' })).toSorted()).toEqual(['again', 'auth', 'large']);
    expect(await list({ outcome: [] })).toEqual([]);
    const oldestFirst = await store.deliveries.searchDeliveries({ ...filter, after: '' });
    expect(listIds(oldestFirst.rows)).toEqual(shown.toReversed());
  });

  test("name the provider's events that a webhook has accepted, and no other webhook's", async () => {
    const { store, log } = await openKept(makePlace);
    const { uid } = acceptedDelivery();
    const list = (of: string, ...ids: string[]) => store.deliveries.listAcceptedEvents(of, ids);
    await log.recordAccepted(acceptedDelivery({ identity: 'event-1', identitySource: 'scheme' }));
    await log.recordAccepted(acceptedDelivery({ identity: 'event-2', identitySource: 'deliveryIdHeader' }));
    await log.recordAccepted(acceptedDelivery({ identity: 'event-3', identitySource: 'scheme' }));
    expect((await list(uid, 'event-3', 'event-2', 'event-1', 'event-0')).sort()).toEqual([
      'event-1',
      'event-3',
    ]);
    expect(await list(uid)).toEqual([]);
    expect(await list('wh_00000000000000000000other', 'event-1')).toEqual([]);
  });

  test('give page after page, each row once, while more are written', async () => {
    const { store, log } = await openKept(makePlace);
    const ids = Array.from({ length: 7 }, (_, index) => `dlv_${index}`);
    for (const id of ids) {
      await log.recordAccepted(acceptedDelivery({ id, runs: [{ ...newRun(), id: `of ${id}` }] }));
    }
    const deliveries: string[] = [];
    const runs: string[] = [];
    for (let page = 0; page < 4; page++) {
      const [delivery, run] = [deliveries.at(-1), runs.at(-1)];
      const filter = { factory: 'default', limit: 3 };
      const before = (id: string | undefined) => (id === undefined ? filter : { ...filter, before: id });
      deliveries.push(...listIds(await store.deliveries.listDeliveries(before(delivery))));
      runs.push(...listIds(await store.deliveries.listRuns(before(run))));
      await log.recordAccepted(acceptedDelivery());
    }
    expect(deliveries).toEqual(ids.toReversed());
    expect(runs).toEqual(ids.toReversed().map(id => `of ${id}`));
    const unknown = { factory: 'default', limit: 3, before: 'unknown' };
    expect(await store.deliveries.listDeliveries(unknown)).toEqual([]);
    expect(await store.deliveries.listRuns(unknown)).toEqual([]);
  });

  test('list webhooks, outcomes and states of runs together in the order of commits, page after page', async () => {
    const store = openAt(makePlace());
    const log = await openLog(store);
    const webhooks = ['a', 'b', 'c'].map(webhook => ({
      webhook,
      uid: `wh_00000000000000000000000${webhook}`,
    }));
    const ids: string[] = [];
    for (let i = 0; i < 12; i++) {
      const given = { ...webhooks[i % 3], id: `dlv_${i}` };
      ids.unshift(given.id);
      if (i % 4 === 3) log.recordUnidentified(rejectedDelivery(given));
      else await log.recordAccepted(acceptedDelivery({ ...given, runs: [{ ...newRun(), id: `run_${i}` }] }));
      if (i % 2 === 0) await log.claimRuns({ daemonId: 'd', nowMs: Date.now(), places: { default: 1 } });
    }
    await log.close();
    const filter = { factory: 'default', limit: 5 };
    const page = async (before: string) =>
      listIds(await store.deliveries.listDeliveries({ ...filter, before }));
    expect(listIds(await store.deliveries.listDeliveries(filter))).toEqual(ids.slice(0, 5));
    expect(await page('dlv_7')).toEqual(ids.slice(5, 10));
    expect(await page('dlv_2')).toEqual(ids.slice(10));
    const runs = listIds(await store.deliveries.listRuns(filter));
    expect(runs).toEqual(['run_10', 'run_9', 'run_8', 'run_6', 'run_5']);
    const earlier = listIds(await store.deliveries.listRuns({ ...filter, before: 'run_5' }));
    expect(earlier).toEqual(['run_4', 'run_2', 'run_1', 'run_0']);
  });

  test('list the runs of one automation, of one state, of one delivery', async () => {
    const { store, log } = await openKept(makePlace);
    const { id } = await log.recordAccepted(acceptedDelivery({ runs: [newRun('a'), newRun('b')] }));
    await log.recordAccepted(acceptedDelivery({ runs: [newRun('a')] }));
    const { deliveries } = store;
    expect(await deliveries.listRuns({ factory: 'default', limit: 9, automation: 'a' })).toHaveLength(2);
    expect(await deliveries.listRuns({ factory: 'default', limit: 9, state: 'running' })).toEqual([]);
    expect(await deliveries.listRuns({ factory: 'other', limit: 9 })).toEqual([]);
    const runs = await deliveries.listRunsOfDelivery(id);
    expect(runs.map(run => run.automation)).toEqual(['a', 'b']);
    expect(await deliveries.listRunsOfDelivery('dlv_none')).toEqual([]);
    expect(await deliveries.findRun('run_none')).toBeUndefined();
  });

  test('summarize deliveries: their runs by state, the beginning of each body, and what else titles them', async () => {
    const store = openAt(makePlace());
    const log = await openLog(store);
    const payload = Buffer.from('{"state":"failed"}');
    const runs = [newRun('a'), newRun('b')];
    const { id } = await log.recordAccepted(acceptedDelivery({ payload, runs }));
    const other = await log.recordAccepted(acceptedDelivery({ payload }));
    const headers = { 'x-event': 'push' };
    const form = { payloadField: 'payload' };
    const original = { identity: 'same', authenticatedBy: 'github', headers, form, payload };
    const first = await log.recordAccepted(acceptedDelivery(original));
    const again = acceptedDelivery(original);
    await log.recordAccepted(again);
    const rejected = rejectedDelivery({ reason: 'wrong token' });
    log.recordUnidentified(rejected);
    await log.claimRuns({ daemonId: 'one', nowMs: Number.MAX_SAFE_INTEGER, places: { default: 1 } });
    await log.close();
    const found = await store.deliveries.summarizeDeliveries(
      [id, rejected.id, other.id, first.id, again.id, 'dlv_none'],
      9,
    );
    const beginning = Uint8Array.from(payload.subarray(0, 9));
    const accepted = { outcome: 'Accepted', authenticatedBy: 'token', headers: {} };
    const shown = found.map(summary => ({
      ...summary,
      ...(summary.beginning && { beginning: Uint8Array.from(summary.beginning) }),
    }));
    expect(shown.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(
      [
        { ...accepted, id, runs: { queued: 1, running: 1 }, beginning },
        { ...accepted, id: other.id, runs: {}, beginning },
        {
          ...{ id: first.id, outcome: 'Accepted', authenticatedBy: 'github', headers, form },
          ...{ runs: {}, beginning },
        },
        {
          ...{ id: again.id, outcome: 'Duplicate', authenticatedBy: 'github', duplicateOf: first.id },
          runs: {},
        },
        { id: rejected.id, outcome: 'Rejected (auth)', reason: 'wrong token', runs: {} },
      ].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    );
  });

  test('count what a UID accepted since a time, and return when it last did', async () => {
    const store = openAt(makePlace());
    const log = await openLog(store);
    const uid = 'wh_000000000000000000000one';
    for (const atMs of [1_000, 4_000, 3_000]) await log.recordAccepted(acceptedDelivery({ uid, atMs }));
    await log.recordAccepted(acceptedDelivery({ uid: 'wh_000000000000000000000two', atMs: 9_000 }));
    log.recordUnidentified(rejectedDelivery({ uid, atMs: 8_000 }));
    await log.close();
    const { deliveries } = store;
    expect(await deliveries.countAccepted(uid, 3_000)).toEqual({ lastAtMs: 4_000, accepted: 2 });
    expect(await deliveries.countAccepted(uid, 4_001)).toEqual({ lastAtMs: 4_000, accepted: 0 });
    expect(await deliveries.countAccepted('wh_00000000000000000000none', 0)).toEqual({ accepted: 0 });
  });

  test('count the deliveries of a UID in each hour by outcome, and find the latest', async () => {
    const store = openAt(makePlace());
    const log = await openLog(store);
    const uid = 'wh_000000000000000000000one';
    const hourMs = 3_600_000;
    for (const hours of [0.5, 1, 1.99, 3, 3.5]) {
      await log.recordAccepted(acceptedDelivery({ uid, atMs: hours * hourMs }));
    }
    // In the same ms as the one before, but recorded later.
    const latest = rejectedDelivery({ uid, atMs: 3.5 * hourMs });
    log.recordUnidentified(latest);
    await log.close();
    const activity = await store.deliveries.countByHour(uid, hourMs);
    expect(activity.latest).toEqual({ id: latest.id, atMs: latest.atMs, outcome: 'Rejected (auth)' });
    const counts = activity.counts.map(({ outcome, hour, deliveries }) => [outcome, hour, deliveries]);
    expect(counts.sort()).toEqual([
      ['Accepted', 0, 2],
      ['Accepted', 2, 2],
      ['Rejected (auth)', 2, 1],
    ]);
    const quiet = await store.deliveries.countByHour('wh_00000000000000000000none', 0);
    expect(quiet).toEqual({ counts: [] });
  });

  test('fail one by one: the next is answered', async () => {
    const store = openAt(makePlace());
    await openLog(store);
    const wrong = store.deliveries.listDeliveries({ factory: 'default', limit: 'all' as never });
    await expect(wrong).rejects.toMatchObject({ code: 'failed' });
    expect(await store.deliveries.listRuns({ factory: 'default', limit: 9 })).toEqual([]);
  });
}
