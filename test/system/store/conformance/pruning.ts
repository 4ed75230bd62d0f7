import { expect, test } from 'vitest';
import type { NewRun } from '../../../../store/ports/delivery-log.ts';
import { acceptedDelivery, newRun, rejectedDelivery, sampleAtMs } from '../../../support/deliveries.ts';
import { listDeliveryIds, type MakePlace, openAt, openLog } from './place.ts';

const dayMs = 86_400_000;
// Retention is counted in days, and a store may remove whole days only.
const keepSinceMs = sampleAtMs - (sampleAtMs % dayMs);
const old = (ageDays: number) => ({ atMs: keepSinceMs - ageDays * dayMs });
const claim = { daemonId: 'd', nowMs: keepSinceMs, places: { default: 100 } };
const claimed = ({ id }: NewRun) => ({ id, claims: 1, claimedBy: 'd' });

export function testPruning(makePlace: MakePlace): void {
  test('keeps the newest of each webhook and all that are young, and removes the rest', async () => {
    const store = openAt(makePlace());
    const log = await openLog(store);
    const quiet = { uid: 'wh_00000000000000000000quiet', webhook: 'quiet' };
    const busy = { uid: 'wh_000000000000000000000busy', webhook: 'busy' };
    const rows = [
      acceptedDelivery({ ...quiet, ...old(900), id: 'quiet 900' }),
      acceptedDelivery({ ...quiet, ...old(800), id: 'quiet 800' }),
      acceptedDelivery({ ...quiet, ...old(700), id: 'quiet 700' }),
      acceptedDelivery({ ...busy, ...old(2), id: 'busy 2' }),
      acceptedDelivery({ ...busy, ...old(1), id: 'busy 1' }),
      acceptedDelivery({ ...busy, ...old(0), id: 'busy 0' }),
      acceptedDelivery({ ...busy, ...old(-1), id: 'busy young' }),
      acceptedDelivery({ ...busy, ...old(-2), id: 'busy younger' }),
    ];
    for (const row of rows) await log.recordAccepted(row);
    log.recordUnidentified(rejectedDelivery({ ...quiet, ...old(850), id: 'quiet rejected' }));
    const pruned = await log.prune({ keepNewest: 2, keepSinceMs });
    expect(pruned).toMatchObject({ deliveries: 4 });
    expect(await listDeliveryIds(store)).toEqual([
      'busy younger',
      'busy young',
      'busy 0',
      'quiet 700',
      'quiet 800',
    ]);
    expect(await log.prune({ keepNewest: 2, keepSinceMs })).toMatchObject({ deliveries: 0 });
  });

  test('frees an identity with the delivery that held it, not before', async () => {
    const log = await openLog(openAt(makePlace()));
    const event = (id: string, ageDays: number) =>
      acceptedDelivery({ ...old(ageDays), id, identity: 'evt_1' });
    await log.recordAccepted(event('first', 3));
    await log.recordAccepted(acceptedDelivery(old(2)));
    await log.prune({ keepNewest: 2, keepSinceMs });
    expect(await log.recordAccepted(event('second', 1))).toEqual({ id: 'second', duplicateOf: 'first' });
    await log.prune({ keepNewest: 1, keepSinceMs });
    expect(await log.recordAccepted(event('third', 0))).toEqual({ id: 'third' });
  });

  test('keeps a delivery whose run is queued or running; finished runs are removed with it and named', async () => {
    const store = openAt(makePlace());
    const log = await openLog(store);
    const [queued, running, done, failed] = [newRun(), newRun(), newRun(), newRun()];
    for (const [index, runs] of [[done, failed], [running], [queued]].entries()) {
      await log.recordAccepted(acceptedDelivery({ ...old(9 - index), id: `old ${index}`, runs }));
    }
    await log.recordAccepted(acceptedDelivery({ id: 'newest' }));
    await log.claimRuns({ ...claim, places: { default: 3 } });
    await log.finishRun({ ...claimed(done), state: 'succeeded', atMs: keepSinceMs });
    await log.finishRun({ ...claimed(failed), state: 'failed', atMs: keepSinceMs });

    const first = await log.prune({ keepNewest: 1, keepSinceMs });
    expect(first.deliveries).toBe(1);
    if (first.runIds) expect(first.runIds).toEqual([done.id, failed.id]);
    const reader = store.deliveries;
    expect(await listDeliveryIds(store)).toEqual(['newest', 'old 2', 'old 1']);
    expect(await reader.findRun(done.id)).toBeUndefined();
    expect(await reader.readPayload('old 0')).toBeUndefined();

    await log.claimRuns(claim);
    await log.finishRun({ ...claimed(queued), state: 'succeeded', atMs: keepSinceMs });
    await log.finishRun({ ...claimed(running), state: 'succeeded', atMs: keepSinceMs });
    const second = await log.prune({ keepNewest: 1, keepSinceMs });
    expect(second.deliveries).toBe(2);
    if (second.runIds) expect(second.runIds).toEqual([running.id, queued.id]);
    expect(await listDeliveryIds(store)).toEqual(['newest']);
  });

  test('removes the automations with the last delivery or run that refers to them', async () => {
    const store = openAt(makePlace());
    const log = await openLog(store);
    const state = (digest: string) => ({ digest, json: JSON.stringify({ digest }) });
    const replayed = acceptedDelivery({ ...old(8), appliedState: state('gone') });
    await log.recordAccepted(replayed);
    await log.replay({ deliveryId: replayed.id, runs: [newRun()], appliedState: state('replay'), nowMs: 0 });
    const { runs } = await log.claimRuns(claim);
    for (const run of runs) await log.finishRun({ ...run, state: 'succeeded', atMs: 0 });
    await log.recordAccepted(acceptedDelivery({ ...old(7), appliedState: state('kept') }));
    await log.recordAccepted(acceptedDelivery({ ...old(6), appliedState: state('kept') }));
    await log.prune({ keepNewest: 1, keepSinceMs });
    const texts = await Promise.all(['gone', 'replay', 'kept'].map(digest => log.readSnapshot(digest)));
    expect(texts.map(text => text !== undefined)).toEqual([false, false, true]);
    const again = acceptedDelivery({ appliedState: state('gone') });
    await log.recordAccepted(again);
    expect(await store.deliveries.findDelivery(again.id)).toMatchObject({ snapshot: 'gone' });
    expect(await log.readSnapshot('gone')).toBe(state('gone').json);
  });

  test('stores automations again that it removed between two deliveries', async () => {
    const log = await openLog(openAt(makePlace()));
    const appliedState = { digest: 'pruned', json: '{}' };
    await log.recordAccepted(acceptedDelivery({ ...old(8), appliedState }));
    const { appliedState: _, ...bare } = acceptedDelivery();
    await log.recordAccepted(bare);
    await log.prune({ keepNewest: 1, keepSinceMs });
    expect(await log.readSnapshot('pruned')).toBeUndefined();
    await log.recordAccepted(acceptedDelivery({ appliedState }));
    expect(await log.readSnapshot('pruned')).toBe('{}');
  });
}
