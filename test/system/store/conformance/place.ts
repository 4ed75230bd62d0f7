import { onTestFinished } from 'vitest';
import type {
  DeliveryLog,
  DeliveryLogOptions,
  LoggedDelivery,
} from '../../../../store/ports/delivery-log.ts';
import type { Store, StoreOptions } from '../../../../store/ports/store.ts';
import { onFileFinished } from '../../../support/file-end.ts';
import { testLimitMs } from '../../../support/test-limit.ts';

/** A place where one store's data is kept. Each `open` acts like a separate process. */
export interface Place {
  open(options?: PlaceOptions): Store;
}

export type PlaceOptions = Partial<Pick<StoreOptions, 'environment' | 'lockTimeoutMs' | 'now'>>;

/** Makes an empty place. */
export interface MakePlace {
  (): Place;
  /** For `openKept`. */
  readonly keep?: () => Promise<Opened>;
}

export interface Opened {
  readonly store: Store;
  readonly log: DeliveryLog;
}

/** Adds a place that stays open from test to test of a file, which each find it without rows. */
export function withKept(makePlace: MakePlace, makeKept: () => Promise<KeptPlace>): MakePlace {
  let kept: (KeptPlace & Opened) | undefined;
  const keep = async () => {
    await kept?.empty();
    if (kept) return kept;
    const place = await makeKept();
    const store = place.open();
    // A log that lost its claims, or died, is no empty one for the next test.
    const forget = () => {
      kept = undefined;
    };
    const log = await store.openDeliveryLog({ ...patient, onClaimsLost: forget, onFatal: forget });
    kept = { ...place, store, log };
    onFileFinished(async () => {
      await log.close();
      await store.close();
      await place.close();
    });
    return kept;
  };
  return Object.assign(() => makePlace(), { keep });
}

export interface KeptPlace extends Place {
  /** Removes all rows that a test wrote. */
  empty(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens an empty place and its log, for a test that closes neither and opens nothing else there: to start the thread of a
 * log takes longer than most tests.
 */
export async function openKept(makePlace: MakePlace): Promise<Opened> {
  if (makePlace.keep) return makePlace.keep();
  const store = openAt(makePlace());
  return { store, log: await openLog(store) };
}

/** Opens the place, and closes it when the test ends. */
export function openAt(place: Place, options?: PlaceOptions): Store {
  const store = place.open(options);
  onTestFinished(() => store.close());
  return store;
}

/** No commit is too slow. */
const patient = { commitWaitMs: testLimitMs };

/** Opens the delivery log, in which no commit is too slow, and closes it when the test ends. */
export async function openLog(store: Store, options?: DeliveryLogOptions): Promise<DeliveryLog> {
  const log = await store.openDeliveryLog({ ...patient, ...options });
  onTestFinished(() => log.close());
  return log;
}

/** The ids of all deliveries of the default factory, newest first. */
export async function listDeliveryIds({ deliveries }: Store): Promise<string[]> {
  return listIds(await deliveries.listDeliveries({ factory: 'default', limit: 5_000 }));
}

export function listIds(rows: readonly Pick<LoggedDelivery, 'id'>[]): string[] {
  return rows.map(({ id }) => id);
}
