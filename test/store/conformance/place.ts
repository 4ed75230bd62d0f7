import { onTestFinished } from 'vitest';
import type { DeliveryLog, DeliveryLogOptions, LoggedDelivery } from '../../../store/ports/delivery-log.ts';
import type { Store, StoreOptions } from '../../../store/ports/store.ts';
import { testLimitMs } from '../../support/test-limit.ts';

/** A place where one store's data is kept. Each `open` acts like a separate process. */
export interface Place {
  open(options?: PlaceOptions): Store;
}

export type PlaceOptions = Partial<Pick<StoreOptions, 'environment' | 'lockTimeoutMs' | 'now'>>;

/** Makes an empty place. */
export type MakePlace = () => Place;

/** Opens the place, and closes it when the test ends. */
export function openAt(place: Place, options?: PlaceOptions): Store {
  const store = place.open(options);
  onTestFinished(() => store.close());
  return store;
}

/** Opens the delivery log, in which no commit is too slow, and closes it when the test ends. */
export async function openLog(store: Store, options?: DeliveryLogOptions): Promise<DeliveryLog> {
  const log = await store.openDeliveryLog({ commitWaitMs: testLimitMs, ...options });
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
