import { expect, test } from 'vitest';
import type { UnloggedCount } from '../../../../store/ports/delivery-log.ts';
import type { Store } from '../../../../store/ports/store.ts';
import { sampleAtMs, unloggedCount } from '../../../support/deliveries.ts';
import { type MakePlace, openAt, openKept, openLog } from './place.ts';

const minuteMs = 60_000;
const minuteAtMs = sampleAtMs - (sampleAtMs % minuteMs);
const dayMs = 24 * 60 * minuteMs;
const other = 'wh_00000000000000000000other';

export function testUnlogged(makePlace: MakePlace): void {
  test('are counted by webhook, minute, reason and detail, and summed since a minute', async () => {
    const place = makePlace();
    const log = await openLog(openAt(place));
    const [first, next] = [{ lastAtMs: minuteAtMs + 1 }, { lastAtMs: minuteAtMs + minuteMs }];
    expect(await log.recordUnlogged([unloggedCount(first), unloggedCount({ ...next, count: 7 })])).toBe(2);
    await log.recordUnlogged([unloggedCount({ lastAtMs: minuteAtMs + 9, count: 3 })]);
    await log.recordUnlogged([
      unloggedCount({ ...first, reason: 'disabled' }),
      unloggedCount({ ...first, reason: 'similar URL', detail: 'letter case' }),
      unloggedCount({ ...first, uid: other }),
      unloggedCount({ ...first, factory: 'other', uid: other }),
    ]);
    const sum = (filter: object) => sumAt(openAt(place), filter);
    expect(await sum({ uid: unloggedCount().uid })).toEqual([
      unloggedCount({ ...next, count: 11 }),
      unloggedCount({ ...first, reason: 'disabled' }),
      unloggedCount({ ...first, reason: 'similar URL', detail: 'letter case' }),
    ]);
    expect(await sum({ uid: other })).toEqual([unloggedCount({ ...first, uid: other })]);
    expect(await sum({})).toHaveLength(4);
    const later = unloggedCount({ ...next, count: 7 });
    expect(await sum({ sinceMs: minuteAtMs + minuteMs + 30_000 })).toEqual([later]);
    expect(await sum({ factory: 'none' })).toEqual([]);
  });

  test('keep the time of the last one, also when counts arrive out of order', async () => {
    const { store, log } = await openKept(makePlace);
    for (const lastAtMs of [minuteAtMs + 5, minuteAtMs + 3]) {
      await log.recordUnlogged([unloggedCount({ lastAtMs })]);
    }
    expect(await sumAt(store)).toEqual([unloggedCount({ lastAtMs: minuteAtMs + 5, count: 2 })]);
  });

  test('are removed with retention, however many there are', async () => {
    const { store, log } = await openKept(makePlace);
    const old = Array.from({ length: 2_500 }, (_, minute) =>
      unloggedCount({ lastAtMs: minuteAtMs - dayMs - minute * minuteMs }),
    );
    const kept = unloggedCount({ lastAtMs: minuteAtMs });
    await log.recordUnlogged([...old, kept]);
    await log.prune({ keepNewest: 1, keepSinceMs: minuteAtMs });
    expect(await sumAt(store)).toEqual([kept]);
  });
}

function sumAt({ deliveries }: Store, filter: object = {}): Promise<UnloggedCount[]> {
  return deliveries.sumUnlogged({ factory: 'default', sinceMs: 0, ...filter });
}
