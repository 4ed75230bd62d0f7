import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { usePostgres } from '../../../../support/postgres.ts';
import { openAt, openLog } from '../../conformance/place.ts';
import { postgresPlace } from '../postgres-place.ts';

const server = usePostgres();

const flow = JSON.stringify({
  limit: { lane: 'limit', runs: 1 },
  order: { lane: 'order', hold: true },
  runsPerHour: 10,
});

/** Two runs that are due, and others of their lanes that wait. */
const insertRuns = `
  INSERT INTO hookmill.runs (day, id, delivery_id, factory, webhook, automation, replay, not_before_ms, created_at_ms, flow,
    state, waits_for)
  SELECT 0, 'run_' || n, 'dlv', 'default', 'pay', 'triage', false, 0, 0,
    CASE WHEN n > 2 AND n % 2 = 0 THEN jsonb_set($1::jsonb, '{order,lane}', to_jsonb('order ' || n)) ELSE $1::jsonb END::text,
    CASE WHEN n <= 2 THEN 'queued' ELSE 'parked' END,
    CASE WHEN n <= 2 THEN NULL WHEN n % 2 = 0 THEN 'limit' ELSE 'order' END
  FROM generate_series(1, $2::integer) AS n`;

/** The rows that this transaction has read, by any plan. */
const countRowsRead = `
  SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::integer AS rows FROM pg_stat_xact_user_tables
  WHERE relname LIKE 'run%'`;

test('decisions and ends read few rows, with 20,000 runs in their lanes', async () => {
  const url = await server.createDatabaseWithTables();
  await openLog(openAt(postgresPlace(url)));
  const client = new pg.Client(url);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(insertRuns, [flow, 20_000]);
  await client.query('ANALYZE hookmill.run_flows, hookmill.runs');
  await client.query('BEGIN');
  const decide = "SELECT id, obstacle FROM hookmill.decide_runs(ARRAY['run_1', 'run_2'], 1)";
  expect((await client.query(decide)).rows).toEqual([
    { id: 'run_1', obstacle: null },
    { id: 'run_2', obstacle: 'order' },
  ]);
  for (const set of [
    "state = 'running' WHERE id = 'run_1'",
    "state = 'parked', waits_for = 'order' WHERE id = 'run_2'",
  ])
    await client.query(`UPDATE hookmill.runs SET ${set}`);
  await client.query("UPDATE hookmill.runs SET state = 'succeeded', finished_at_ms = 2 WHERE id = 'run_1'");
  const waiting = "SELECT count(*)::integer FROM hookmill.run_flows WHERE state = 'queued'";
  const { rows } = await client.query<{ rows: number }>(countRowsRead);
  expect(rows[0]?.rows).toBeLessThan(100);
  // The next one of the order is looked at again, and one of the limit for each decision and end.
  expect((await client.query(waiting)).rows).toEqual([{ count: 4 }]);
  await client.query('ROLLBACK');
});
