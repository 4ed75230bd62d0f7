import type { Pool } from 'pg';
import { dayMs } from '../../../schema/time-units.ts';
import { inTransaction } from '../connection/pool.ts';

/** @limit Days for which partitions exist in advance: a replica that is down over a weekend finds one when it is back. */
const daysAhead = 3;
/** @limit Time between two looks whether partitions are missing, in ms: far shorter than the days ahead. */
const partitionLookMs = 60 * 60 * 1000;

/** The day of a time, counted from 1970. Day 0 is for what retention keeps longer. `hookmill.day_of` does the same. */
export function toDay(atMs: number): number {
  return Math.max(1, Math.floor(atMs / dayMs));
}

export interface Partitions {
  /** Makes the partitions of these days, unless they exist. Replicas may do so at the same time. */
  make(days: readonly number[]): Promise<void>;
}

export function openPartitions(pool: Pool): Partitions {
  return {
    make: async days => {
      const missing = await findMissing(pool, days);
      if (missing.length === 0) return;
      await inTransaction(pool, async client => {
        await client.query('SELECT pg_advisory_xact_lock($1)', [partitionLock]);
        for (const day of await findMissing(client, days)) await client.query(makePartitions(day));
      });
    },
  };
}

/** Makes the partitions of the next days now and hourly. Returns a function that ends this. */
export async function keepPartitionsAhead(partitions: Partitions): Promise<() => void> {
  const makeNext = () => {
    const today = toDay(Date.now());
    return partitions.make(Array.from({ length: daysAhead + 1 }, (_, index) => today + index));
  };
  await makeNext();
  // A look that fails is made up for: recording a delivery makes the partition that it misses.
  const timer = setInterval(() => void makeNext().catch(() => undefined), partitionLookMs);
  timer.unref();
  return () => clearInterval(timer);
}

async function findMissing(client: Pick<Pool, 'query'>, days: readonly number[]): Promise<number[]> {
  const { rows } = await client.query<{ day: number }>(
    `SELECT day FROM unnest($1::integer[]) AS day
    WHERE to_regclass('hookmill.deliveries_' || day) IS NULL OR to_regclass('hookmill.runs_' || day) IS NULL`,
    [days],
  );
  return rows.map(({ day }) => day);
}

/** Attaching a table that is ready takes a weaker lock than creating a partition: deliveries go on meanwhile. */
function makePartitions(day: number): string {
  return ['deliveries', 'runs']
    .map(
      table => `
      CREATE TABLE IF NOT EXISTS hookmill.${table}_${day} (LIKE hookmill.${table} INCLUDING ALL);
      DO $$ BEGIN
        IF NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = 'hookmill.${table}_${day}'::regclass) THEN
          ALTER TABLE hookmill.${table} ATTACH PARTITION hookmill.${table}_${day} FOR VALUES IN (${day});
        END IF;
      END $$;`,
    )
    .join('');
}

// Any number that nothing else in the database uses.
const partitionLock = '29401485033434733';
