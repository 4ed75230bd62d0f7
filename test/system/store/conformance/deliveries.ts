import { randomBytes } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { identitySources } from '../../../../schema/delivery.ts';
import type { AcceptedDelivery, LoggedDelivery } from '../../../../store/ports/delivery-log.ts';
import { acceptedDelivery, newRun, rejectedDelivery, sampleAtMs } from '../../../support/deliveries.ts';
import { listDeliveryIds, type MakePlace, openAt, openKept, openLog } from './place.ts';

export function testDeliveries(makePlace: MakePlace): void {
  test('are kept with all that is known of them', async () => {
    const place = makePlace();
    const log = await openLog(openAt(place));
    const delivery = acceptedDelivery();
    expect(await log.recordAccepted(delivery)).toEqual({ id: delivery.id });
    const { payload, appliedState, runs, ...metadata } = delivery;
    expect(await openAt(place).deliveries.findDelivery(delivery.id)).toEqual({
      ...metadata,
      outcome: 'Accepted',
      snapshot: appliedState?.digest,
    });
  });

  test('keep that the previous value of their secret verified them, whatever their outcome and their runs', async () => {
    const { store, log } = await openKept(makePlace);
    const verifiedWith = 'previous';
    const current = acceptedDelivery({ runs: [newRun()] });
    const previous = acceptedDelivery({ verifiedWith, runs: [newRun()], identity: 'evt_p' });
    const again = acceptedDelivery({ verifiedWith, identity: 'evt_p' });
    const flow = { order: { lane: 'lane', hold: false } };
    const ordered = acceptedDelivery({ verifiedWith, runs: [{ ...newRun(), flow }] });
    const invalid = rejectedDelivery({ outcome: 'Rejected (invalid JSON)', verifiedWith });
    log.recordUnidentified(invalid);
    await Promise.all([current, previous, ordered].map(delivery => log.recordAccepted(delivery)));
    expect(await log.recordAccepted(again)).toMatchObject({ duplicateOf: previous.id });
    await log.recordAccepted(acceptedDelivery());
    const rows = await store.deliveries.listDeliveries({ factory: 'default', limit: 9 });
    const marked = rows.filter(row => row.verifiedWith === 'previous').map(({ id }) => id);
    expect(marked.sort()).toEqual([previous, again, ordered, invalid].map(({ id }) => id).sort());
    expect(await store.deliveries.findDelivery(current.id)).not.toHaveProperty('verifiedWith');
    const runs = await store.deliveries.listRuns({ factory: 'default', limit: 9 });
    expect(runs.map(({ deliveryId }) => deliveryId).sort()).toEqual(
      [current, previous, ordered].map(({ id }) => id).sort(),
    );
  });

  test('are duplicates of the same body only for the time that they say', async () => {
    const { store, log } = await openKept(makePlace);
    const send = (afterMs: number, given: Partial<AcceptedDelivery> = {}) =>
      acceptedDelivery({
        identity: 'body-sha256:1',
        sameForMs: 60_000,
        atMs: sampleAtMs + afterMs,
        ...given,
      });
    const [first, retry, late] = [send(0), send(59_999), send(60_000, { runs: [newRun()] })];
    await log.recordAccepted(first);
    expect(await log.recordAccepted(retry)).toMatchObject({ duplicateOf: first.id });
    expect(await log.recordAccepted(late)).toEqual({ id: late.id });
    const burst = [send(119_998), send(119_999)];
    const recorded = await Promise.all(burst.map(delivery => log.recordAccepted(delivery)));
    expect(recorded.map(({ duplicateOf }) => duplicateOf)).toEqual([late.id, late.id]);
    // The clock of another daemon may be behind.
    const behind = send(0);
    expect(await log.recordAccepted(behind)).toEqual({ id: behind.id });
    const forever = send(600_000, { sameForMs: undefined });
    expect(await log.recordAccepted(forever)).toMatchObject({ duplicateOf: behind.id });
    const rows = await store.deliveries.listDeliveries({ factory: 'default', limit: 9, outcome: 'Accepted' });
    expect(new Set(rows.map(({ identity }) => identity)).size).toBe(3);
    expect(await store.deliveries.listRunsOfDelivery(late.id)).toHaveLength(1);
  });

  test('that are no longer the same body are still recognised by their signed content', async () => {
    const { log } = await openKept(makePlace);
    const send = (afterMs: number, contentDigest: string) => {
      const atMs = sampleAtMs + afterMs;
      return acceptedDelivery({ identity: 'body-sha256:1', sameForMs: 60_000, atMs, contentDigest });
    };
    const [first, second] = [send(0, 'one'), send(60_000, 'two')];
    await log.recordAccepted(first);
    expect(await log.recordAccepted(second)).toEqual({ id: second.id });
    expect(await log.recordAccepted(send(120_000, 'one'))).toMatchObject({ duplicateOf: first.id });
    expect(await log.recordAccepted(send(180_000, 'two'))).toMatchObject({ duplicateOf: second.id });
  });

  test('that are accepted keep the exact bytes of their payloads', async () => {
    const { store, log } = await openKept(makePlace);
    const payloads = [
      Buffer.from('{}'),
      Buffer.from([0xff, 0xfe, 0x00, 0xed, 0xa0, 0x80]),
      Buffer.from('"\u0000"'),
      randomBytes(256 * 1024),
      new Uint8Array(randomBytes(3_000).buffer, 17, 100),
    ];
    const deliveries = payloads.map(payload => acceptedDelivery({ payload }));
    await Promise.all(deliveries.map(delivery => log.recordAccepted(delivery)));
    for (const { id, payload } of deliveries) {
      expect(Buffer.compare((await store.deliveries.readPayload(id)) ?? Buffer.of(), payload)).toBe(0);
      const event = await log.readEvent(id);
      expect(Buffer.compare(event?.payload ?? Buffer.of(), payload)).toBe(0);
      expect(event?.headers).toEqual({});
    }
  });

  test('that are forms keep their exact bytes, and are read as JSON; duplicates keep nothing of them', async () => {
    const { store, log } = await openKept(makePlace);
    const form = acceptedDelivery({
      payload: Buffer.from('a=1&__proto__=2&a=%41'),
      form: {},
      runs: [newRun()],
    });
    const payload = Buffer.from('payload=%7B%22n%22:1e400%7D');
    const field = acceptedDelivery({ payload, form: { payloadField: 'payload' }, identity: 'evt_f' });
    const again = acceptedDelivery({ payload, form: { payloadField: 'payload' }, identity: 'evt_f' });
    // One is recorded with those that are new, the other with one that is not.
    await log.recordAccepted(form);
    await Promise.all([log.recordAccepted(field), log.recordAccepted(again)]);
    const read = async (bytes: Promise<Uint8Array | undefined>) =>
      Buffer.from((await bytes) ?? []).toString();
    for (const [delivery, json] of [
      [form, '{"a":["1","A"],"__proto__":"2"}'],
      [field, '{"n":1e400}'],
    ] as const) {
      const { id, form: format } = delivery;
      const content = await store.deliveries.readContent(id);
      expect(Buffer.compare(content?.body ?? Buffer.of(), delivery.payload)).toBe(0);
      expect(await read(store.deliveries.readPayload(id))).toBe(json);
      expect(Buffer.from((await log.readEvent(id))?.payload ?? []).toString()).toBe(json);
      expect((await store.deliveries.findDelivery(id))?.form).toEqual(format);
    }
    expect(await store.deliveries.findDelivery(again.id)).toMatchObject({ outcome: 'Duplicate' });
    expect(await store.deliveries.findDelivery(again.id)).not.toHaveProperty('form');
    expect(await store.deliveries.readContent(again.id)).toBeUndefined();
  });

  test('that are accepted keep their event headers, or that there were none; duplicates keep nothing of them', async () => {
    const { store, log } = await openKept(makePlace);
    const headers = { 'x-github-event': 'push', 'x-tenant': 'a "b" é\u2028' };
    const [with_, without] = [acceptedDelivery({ headers, identity: 'evt_h' }), acceptedDelivery()];
    await log.recordAccepted(with_);
    await log.recordAccepted(without);
    const { id } = acceptedDelivery({ headers, identity: 'evt_h' });
    await log.recordAccepted(acceptedDelivery({ id, headers, identity: 'evt_h' }));
    expect((await log.readEvent(with_.id))?.headers).toEqual(headers);
    expect((await store.deliveries.findDelivery(with_.id))?.headers).toEqual(headers);
    expect((await store.deliveries.findDelivery(without.id))?.headers).toEqual({});
    expect(await store.deliveries.findDelivery(id)).toMatchObject({ outcome: 'Duplicate' });
    expect(await store.deliveries.findDelivery(id)).not.toHaveProperty('headers');
    expect(await log.readEvent(id)).toBeUndefined();
  });

  test('that are rejected keep only metadata, in the order of arrival', async () => {
    const { store, log } = await openKept(makePlace);
    const rejected = rejectedDelivery({ outcome: 'Rejected (invalid JSON)', reason: 'unexpected end' });
    const accepted = acceptedDelivery();
    expect(log.recordUnidentified(rejected)).toBe(true);
    await log.recordAccepted(accepted);
    expect(await listDeliveryIds(store)).toEqual([accepted.id, rejected.id]);
    expect(await store.deliveries.findDelivery(rejected.id)).toEqual(rejected);
    expect(await store.deliveries.readPayload(rejected.id)).toBeUndefined();
  });

  test('with a known identity are duplicates: in one batch, in a later one and after reopening', async () => {
    const place = makePlace();
    const sameEvent = () => acceptedDelivery({ identity: 'evt_1', runs: [newRun()] });
    const original = sameEvent();
    const duplicateOf = original.id;
    const log = await openLog(openAt(place));
    const together = await Promise.all([log.recordAccepted(original), log.recordAccepted(sameEvent())]);
    const later = await log.recordAccepted(sameEvent());
    await log.close();
    const reopened = await (await openLog(openAt(place))).recordAccepted(sameEvent());
    expect(together[0]).toEqual({ id: original.id });
    for (const duplicate of [together[1], later, reopened]) {
      expect(duplicate).toEqual({ id: expect.stringMatching(/^dlv_/), duplicateOf });
    }

    const { deliveries } = openAt(place);
    const rows = await deliveries.listDeliveries({ factory: 'default', limit: 9 });
    expect(rows.map(row => [row.id, row.outcome, row.duplicateOf])).toEqual([
      [reopened.id, 'Duplicate', duplicateOf],
      [later.id, 'Duplicate', duplicateOf],
      [together[1].id, 'Duplicate', duplicateOf],
      [original.id, 'Accepted', undefined],
    ]);
    const payloads = await Promise.all(rows.map(row => deliveries.readPayload(row.id)));
    expect(payloads.map(payload => payload !== undefined)).toEqual([false, false, false, true]);
    const runs = await deliveries.listRuns({ factory: 'default', limit: 9 });
    expect(runs.map(run => run.deliveryId)).toEqual([original.id]);
  });

  test('with equal identities from different sources are different', async () => {
    const { log } = await openKept(makePlace);
    for (const identitySource of identitySources) {
      const delivery = acceptedDelivery({ identity: 'evt_1', identitySource });
      expect(await log.recordAccepted(delivery)).toEqual({ id: delivery.id });
    }
  });

  test('that are known by the hash of their body are duplicates, whatever their identities', async () => {
    const place = makePlace();
    const log = await openLog(openAt(place));
    const before = acceptedDelivery({ identity: 'body-sha256:1', identitySource: 'body' });
    await log.recordAccepted(before);
    const byField = (identity: string, bodyIdentity: string) =>
      acceptedDelivery({ identity, identitySource: 'deliveryIdField', bodyIdentity, runs: [newRun()] });
    const again = await log.recordAccepted(byField('evt_1', 'body-sha256:1'));
    expect(again).toMatchObject({ duplicateOf: before.id });
    const [other, retry] = await Promise.all([
      log.recordAccepted(byField('evt_2', 'body-sha256:2')),
      log.recordAccepted(byField('evt_2', 'body-sha256:3')),
    ]);
    expect([other.duplicateOf, retry.duplicateOf]).toEqual([undefined, other.id]);
    const elsewhere = { ...byField('evt_1', 'body-sha256:1'), uid: 'wh_00000000000000000000other' };
    expect(await log.recordAccepted(elsewhere)).toEqual({ id: elsewhere.id });
    const runs = await openAt(place).deliveries.listRuns({ factory: 'default', limit: 9 });
    expect(runs.map(run => run.deliveryId).toSorted()).toEqual([other.id, elsewhere.id].toSorted());
  });

  test('with a known content digest are duplicates, whatever their identities, also after reopening', async () => {
    const place = makePlace();
    const sameContent = () => acceptedDelivery({ contentDigest: 'digest', runs: [newRun()] });
    const original = sameContent();
    const log = await openLog(openAt(place));
    const [, together] = await Promise.all([log.recordAccepted(original), log.recordAccepted(sameContent())]);
    const elsewhere = acceptedDelivery({ contentDigest: 'digest', uid: 'wh_00000000000000000000other' });
    expect(await log.recordAccepted(elsewhere)).toEqual({ id: elsewhere.id });
    await log.close();
    const reopened = await openLog(openAt(place));
    const later = await reopened.recordAccepted(sameContent());
    for (const duplicate of [together, later]) expect(duplicate).toMatchObject({ duplicateOf: original.id });
    const known = acceptedDelivery({ identity: original.identity, contentDigest: 'another digest' });
    expect(await reopened.recordAccepted(known)).toMatchObject({ duplicateOf: original.id });

    const { deliveries } = openAt(place);
    const runs = await deliveries.listRuns({ factory: 'default', limit: 9 });
    expect(runs.map(run => run.deliveryId)).toEqual([original.id]);
  });

  test('of one identity are accepted once, also when two processes record them together', async () => {
    const place = makePlace();
    const logs = await Promise.all([openLog(openAt(place)), openLog(openAt(place))]);
    const recorded = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        logs[index % 2]?.recordAccepted(
          acceptedDelivery({ identity: `evt_${index >> 1}`, runs: [newRun()] }),
        ),
      ),
    );
    expect(recorded.filter(one => one?.duplicateOf === undefined)).toHaveLength(10);
    const { deliveries } = openAt(place);
    expect(await deliveries.listRuns({ factory: 'default', limit: 99 })).toHaveLength(10);
  });

  test('of two webhooks may have the same identity', async () => {
    const { log } = await openKept(makePlace);
    const here = acceptedDelivery({ identity: 'evt_1' });
    const there = acceptedDelivery({ identity: 'evt_1', uid: 'wh_00000000000000000000other' });
    expect(await log.recordAccepted(here)).toEqual({ id: here.id });
    expect(await log.recordAccepted(there)).toEqual({ id: there.id });
  });

  test('keep the automations that were applied, whatever the order of deliveries and factories', async () => {
    const { store, log } = await openKept(makePlace);
    const one = { digest: 'one', json: '{"n":1}' };
    const two = { digest: 'two', json: '{"n":2}' };
    const order = [one, two, one, one, two].map(appliedState => acceptedDelivery({ appliedState }));
    const elsewhere = acceptedDelivery({ factory: 'other', appliedState: two });
    await Promise.all([...order.slice(0, 3), elsewhere].map(delivery => log.recordAccepted(delivery)));
    await Promise.all(order.slice(3).map(delivery => log.recordAccepted(delivery)));
    const found = await Promise.all(order.map(({ id }) => store.deliveries.findDelivery(id)));
    expect(found.map(delivery => delivery?.snapshot)).toEqual(['one', 'two', 'one', 'one', 'two']);
    expect(await store.deliveries.readSnapshot('two')).toBe(two.json);
    expect(await log.readSnapshot('one')).toBe(one.json);
    expect(await log.readSnapshot('none')).toBeUndefined();
  });

  test('show the commit that their automations come from', async () => {
    const { store, log } = await openKept(makePlace);
    const commit = {
      revision: 'f'.repeat(40),
      author: 'Ada',
      subject: 'Add',
      committedAt: '2026-01-01T00:00:00.000Z',
    };
    const source = {
      ...{ kind: 'repository', repository: '/hooks.git', branch: 'main', path: '', ...commit },
      contentDigest: '0'.repeat(64),
    };
    const appliedState = {
      digest: 'with a commit',
      json: JSON.stringify({ source, automations: '\0' }),
      commit,
    };
    const { id } = await log.recordAccepted(acceptedDelivery({ appliedState }));
    expect(await store.deliveries.findDelivery(id)).toMatchObject({ commit });
  });

  test('are reported once they are committed, duplicates as such', async () => {
    const store = openAt(makePlace());
    const committed: LoggedDelivery[] = [];
    const log = await openLog(store, { onCommitted: rows => void committed.push(...rows()) });
    await log.recordAccepted(
      acceptedDelivery({ identity: 'evt_1', appliedState: { digest: 'd', json: '{}' } }),
    );
    log.recordUnidentified(rejectedDelivery());
    await log.recordAccepted(acceptedDelivery({ identity: 'evt_1' }));
    await log.close();
    expect(committed.map(({ outcome }) => outcome)).toEqual(['Accepted', 'Rejected (auth)', 'Duplicate']);
    const ids = committed.map(({ id }) => id);
    expect(ids).toEqual((await listDeliveryIds(store)).toReversed());
  });

  test('past the number that may wait are refused at once, and accepted again later', async () => {
    const log = await openLog(openAt(makePlace()), { deliveriesWaitingMax: 2 });
    const waiting = [log.recordAccepted(acceptedDelivery()), log.recordAccepted(acceptedDelivery())];
    const refused = expect(log.recordAccepted(acceptedDelivery())).rejects.toMatchObject({ code: 'full' });
    expect(log.recordUnidentified(rejectedDelivery())).toBe(false);
    expect(log.stats()).toMatchObject({ committed: 0, waiting: 2, refusedFull: 1, droppedRejections: 1 });
    await refused;
    await Promise.all(waiting);
    await log.recordAccepted(acceptedDelivery());
    expect(log.recordUnidentified(rejectedDelivery())).toBe(true);
  });

  test('past the bytes that may wait are refused at once', async () => {
    const log = await openLog(openAt(makePlace()), { deliveryBytesWaitingMax: 1_000 });
    const payload = randomBytes(600);
    const first = log.recordAccepted(acceptedDelivery({ payload }));
    await expect(log.recordAccepted(acceptedDelivery({ payload }))).rejects.toMatchObject({ code: 'full' });
    await first;
    await log.recordAccepted(acceptedDelivery({ payload }));
  });

  test('that wait are committed before the log closes; then it refuses', async () => {
    const store = openAt(makePlace());
    const onFatal = vi.fn();
    const log = await openLog(store, { onFatal });
    const recorded = Promise.all(Array.from({ length: 1_500 }, () => log.recordAccepted(acceptedDelivery())));
    log.recordUnidentified(rejectedDelivery());
    await log.close();
    await recorded;
    const closed = { code: 'closed' };
    await expect(log.recordAccepted(acceptedDelivery())).rejects.toMatchObject(closed);
    await expect(log.claimRuns({ daemonId: 'd', nowMs: 0, places: { default: 1 } })).rejects.toMatchObject(
      closed,
    );
    await expect(log.prune({ keepNewest: 1, keepSinceMs: 0 })).rejects.toMatchObject(closed);
    expect(log.recordUnidentified(rejectedDelivery())).toBe(false);
    await log.close();
    expect(await listDeliveryIds(store)).toHaveLength(1_501);
    expect(onFatal).not.toHaveBeenCalled();
  });

  test('are recorded by several processes that open the log at the same time', async () => {
    const place = makePlace();
    const logs = await Promise.all(Array.from({ length: 6 }, () => openLog(openAt(place))));
    await Promise.all(logs.map(log => log.recordAccepted(acceptedDelivery())));
    expect(await listDeliveryIds(openAt(place))).toHaveLength(6);
  });
}
