import type { Pool } from 'pg';
import type { StoredEvent } from '../../delivery-log.ts';
import type { Verb, Verbs } from '../../delivery-log-thread/wire.ts';
import { type EventRecord, toEvent } from '../../stored-rows.ts';
import { isDelivery, toIdValues } from './rows.ts';

/** Each may be called again after a lost connection or a conflict, when the first call may have succeeded. */
export type AsyncVerbs = {
  readonly [V in Verb]: (argument: Verbs[V]['takes']) => Promise<Verbs[V]['gives']>;
};

export async function readEvent(pool: Pool, deliveryId: string): Promise<StoredEvent | undefined> {
  const { rows } = await pool.query<EventRecord>(
    `SELECT payload, headers FROM hookmill.deliveries WHERE ${isDelivery} AND payload IS NOT NULL`,
    toIdValues(deliveryId),
  );
  return toEvent(rows[0]);
}
