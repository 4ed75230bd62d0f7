import type { Pool } from 'pg';
import type { StoredEvent } from '../../delivery-log.ts';
import type { Verb, Verbs } from '../../delivery-log-thread/wire.ts';

/** `attempt` counts from 1; later ones follow a lost connection or a conflict, after which the first may have succeeded. */
export type AsyncVerbs = {
  readonly [V in Verb]: (argument: Verbs[V]['takes'], attempt: number) => Promise<Verbs[V]['gives']>;
};

export async function readEvent(pool: Pool, deliveryId: string): Promise<StoredEvent | undefined> {
  const { rows } = await pool.query<{ payload: Uint8Array; headers: string | null }>(
    "SELECT payload, headers FROM hookmill.deliveries WHERE id = $1 AND outcome = 'Accepted'",
    [deliveryId],
  );
  const [row] = rows;
  return row && { payload: row.payload, headers: row.headers === null ? {} : JSON.parse(row.headers) };
}
