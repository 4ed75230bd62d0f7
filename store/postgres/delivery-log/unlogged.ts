import type { Pool } from 'pg';
import type { UnloggedCount } from '../../ports/delivery-log.ts';
import { toColumns } from '../connection/text.ts';

/** Adds in one statement, in the order of the keys, so that two replicas do not wait for each other. */
export async function recordUnlogged(pool: Pool, counts: readonly UnloggedCount[]): Promise<number> {
  await pool.query(addUnlogged, unloggedColumns(counts));
  return counts.length;
}

export function unloggedColumns(counts: readonly UnloggedCount[]): unknown[][] {
  return toColumns(counts, ['factory', 'uid', 'reason', 'detail', 'count', 'lastAtMs']);
}

/** The minute of a count is the minute of its last request. */
export const insertUnlogged = `
  INSERT INTO hookmill.unlogged (factory, uid, reason, detail, count, last_at_ms, minute)
  SELECT *, last_at_ms / 60000
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
    AS given (factory, uid, reason, detail, count, last_at_ms)`;

const addUnlogged = `${insertUnlogged}
  ORDER BY factory, last_at_ms / 60000, uid, reason, detail
  ON CONFLICT (factory, minute, uid, reason, detail) DO UPDATE
    SET count = unlogged.count + excluded.count, last_at_ms = greatest(unlogged.last_at_ms, excluded.last_at_ms)`;

export const sumOfUnlogged = `
  SELECT factory, uid, reason, detail, sum(count)::bigint AS count, max(last_at_ms) AS "lastAtMs"
  FROM hookmill.unlogged
  WHERE factory = $1 AND ($2::text IS NULL OR uid = $2) AND minute >= $3::bigint / 60000
  GROUP BY factory, uid, reason, detail ORDER BY "lastAtMs" DESC, uid, reason, detail`;
