import { expect, test } from 'vitest';
import type { DeliveryFilter, RunFilter } from '../../../../store/ports/delivery-log.ts';
import type { Store } from '../../../../store/ports/store.ts';
import { acceptedDelivery, newRun, rejectedDelivery, sampleAtMs } from '../../../support/deliveries.ts';
import { listIds, type MakePlace, openAt, openLog } from './place.ts';

const minuteMs = 60_000;

export function testSearches(makePlace: MakePlace): void {
  test('find deliveries and runs by time, webhook, automation, state, event type and text', async () => {
    const store = openAt(makePlace());
    const log = await openLog(store);
    const webhook = { webhook: 'git', uid: 'wh_000000000000000000000git' };
    const record = async (minute: number, body: string, given: object = {}) =>
      log.recordAccepted(
        acceptedDelivery({
          id: idAt(minute),
          atMs: sampleAtMs + minute * minuteMs,
          payload: Buffer.from(body),
          ...given,
        }),
      );
    await record(0, '{"type":"order.paid"}', { runs: [{ ...newRun('bill'), id: 'run_0' }] });
    await record(60, '{"text":"caf\\u00e9 a\\/b"}', { ...webhook, headers: { 'x-github-event': 'push' } });
    await record(120, '[["order.paid"]]', { runs: [{ ...newRun('triage'), id: 'run_2' }] });
    log.recordUnidentified(rejectedDelivery({ id: idAt(180), atMs: sampleAtMs + 180 * minuteMs }));
    await record(240, '{"type":"order.paid"}', { factory: 'other' });
    await record(300, 'text=caf%C3%A9+b&type=form.sent', { form: {} });
    await record(360, 'p=%7b%22text%22:%22caf\\u00e9+c%22%7d', { form: { payloadField: 'p' } });
    await log.close();

    const found = async (filter: Partial<DeliveryFilter>) =>
      (await searchAll(store, 'searchDeliveries', filter)).map(minuteOf);
    const at = (minute: number) => sampleAtMs + minute * minuteMs;
    expect(await found({})).toEqual([360, 300, 180, 120, 60, 0]);
    expect(await found({ sinceMs: at(60) })).toEqual([360, 300, 180, 120, 60]);
    expect(await found({ sinceMs: at(60) + 1, untilMs: at(180) })).toEqual([120]);
    expect(await found({ untilMs: at(120) })).toEqual([60, 0]);
    expect(await found({ sinceMs: at(60), outcome: 'Accepted', webhook: 'pay' })).toEqual([360, 300, 120]);
    expect(await found({ automation: 'bill' })).toEqual([0]);
    expect(await found({ state: 'queued' })).toEqual([120, 0]);
    expect(await found({ automation: 'bill', state: 'failed' })).toEqual([]);
    expect(await found({ content: { eventType: 'order.paid' } })).toEqual([0]);
    expect(await found({ content: { eventType: 'push' } })).toEqual([60]);
    expect(await found({ content: { text: 'order.paid' } })).toEqual([120, 0]);
    expect(await found({ content: { text: 'café a/b' } })).toEqual([60]);
    expect(await found({ content: { text: 'order.paid', eventType: 'order.paid' } })).toEqual([0]);
    expect(await found({ content: { text: 'none' } })).toEqual([]);
    expect(await found({ content: { text: 'café b' } })).toEqual([300]);
    expect(await found({ content: { text: 'café c' } })).toEqual([360]);
    expect(await found({ content: { text: 'caf%C3%A9' } })).toEqual([]);
    expect(await found({ content: { eventType: 'form.sent' } })).toEqual([300]);
    expect(await found({ content: { eventType: 'form.sent', text: 'café c' } })).toEqual([]);

    const runs = async (filter: Partial<RunFilter>) => listIds(await searchAll(store, 'searchRuns', filter));
    expect(await runs({})).toEqual(['run_2', 'run_0']);
    expect(await runs({ untilMs: at(1) })).toEqual(['run_0']);
    expect(await runs({ sinceMs: at(1), state: 'queued' })).toEqual(['run_2']);
    expect(await runs({ webhook: 'git' })).toEqual([]);
    expect(await runs({ uid: acceptedDelivery().uid, automation: 'bill' })).toEqual(['run_0']);
    expect(await runs({ content: { eventType: 'order.paid' } })).toEqual(['run_0']);
  });

  test('say how far they came, and go on from there: newest first, and oldest first', async () => {
    const store = openAt(makePlace());
    const log = await openLog(store, { deliveriesWaitingMax: 5_000 });
    const payload = Buffer.from('{"needle":true}');
    const needles = [0, 700, 1_399].map(idAt);
    for (let minute = 0; minute < 1_400; minute++) {
      const given = { id: idAt(minute), atMs: sampleAtMs + minute * minuteMs };
      if (needles.includes(given.id)) await log.recordAccepted(acceptedDelivery({ ...given, payload }));
      else log.recordUnidentified(rejectedDelivery(given));
    }
    await log.close();
    const filter = { content: { text: 'needle' } };
    const newest = await searchAll(store, 'searchDeliveries', filter, 2);
    expect(listIds(newest)).toEqual(needles.toReversed());
    const oldest = await searchAll(store, 'searchDeliveries', filter, 2, '');
    expect(listIds(oldest)).toEqual(needles);
    const range = { sinceMs: sampleAtMs + 100 * minuteMs, untilMs: sampleAtMs + 800 * minuteMs };
    expect(listIds(await searchAll(store, 'searchDeliveries', { ...filter, ...range }, 2, ''))).toEqual([
      idAt(700),
    ]);
    const first = await store.deliveries.searchDeliveries({ factory: 'default', limit: 1, after: '' });
    expect(first).toMatchObject({ rows: [{ id: idAt(0) }], lastId: idAt(0), isEnd: false });
  });

  test('follow the order of commits from the last row on, whatever the clock says', async () => {
    const store = openAt(makePlace());
    const { deliveries } = store;
    const log = await openLog(store);
    expect(await deliveries.findLast('deliveries', 'default')).toBeUndefined();
    await log.recordAccepted(acceptedDelivery({ id: idAt(9), runs: [{ ...newRun(), id: 'run_a' }] }));
    const last = (await deliveries.findLast('deliveries', 'default')) ?? '';
    expect([last, await deliveries.findLast('runs', 'default')]).toEqual([idAt(9), 'run_a']);
    const follow = (after: string) =>
      deliveries.searchDeliveries({ factory: 'default', limit: 9, after, outcome: 'Accepted' });
    expect(await follow(last)).toEqual({ rows: [], searched: 0, isEnd: true });
    await log.recordAccepted(acceptedDelivery({ id: idAt(3), runs: [{ ...newRun(), id: 'run_b' }] }));
    await log.recordAccepted(acceptedDelivery({ id: idAt(4), factory: 'other' }));
    await log.recordAccepted(acceptedDelivery({ id: idAt(1) }));
    const { rows, lastId, isEnd } = await follow(last);
    expect([listIds(rows), lastId, isEnd]).toEqual([[idAt(3), idAt(1)], idAt(1), true]);
    const runs = await deliveries.searchRuns({ factory: 'default', limit: 9, after: 'run_a' });
    expect(listIds(runs.rows)).toEqual(['run_b']);
    expect((await follow('unknown')).rows).toEqual([]);
  });
}

/** An id that says the time of the minute after the sample time. */
function idAt(minute: number): string {
  const { id } = acceptedDelivery({ atMs: sampleAtMs + minute * minuteMs });
  return `${id.slice(0, 14)}${String(minute).padStart(16, '0')}`;
}

function minuteOf({ id }: { readonly id: string }): number {
  return Number(id.slice(14));
}

/** Searches part after part, to the end. */
async function searchAll(
  { deliveries }: Store,
  verb: 'searchDeliveries' | 'searchRuns',
  filter: Partial<DeliveryFilter & RunFilter>,
  limit = 9,
  after?: string,
): Promise<{ readonly id: string }[]> {
  const rows: { readonly id: string }[] = [];
  let from: object = after === undefined ? {} : { after };
  for (;;) {
    const found = await deliveries[verb]({ factory: 'default', limit, ...filter, ...from });
    rows.push(...found.rows);
    if (found.isEnd) return rows;
    from = { [after === undefined ? 'before' : 'after']: found.lastId };
  }
}
