import pg from 'pg';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { PrunedStep } from '../../../../../store/delivery-log/thread/wire.ts';
import { openPool } from '../../../../../store/postgres/connection/pool.ts';
import { preparePruning } from '../../../../../store/postgres/delivery-log/prune.ts';
import { acceptedDelivery, newRun, sampleAtMs } from '../../../../support/deliveries.ts';
import { eventually } from '../../../../support/eventually.ts';
import { query, usePostgres } from '../../../../support/postgres.ts';
import { listDeliveryIds, openAt, openLog } from '../../conformance/place.ts';
import { postgresPlace } from '../postgres-place.ts';

const server = usePostgres();
let url: string;
beforeEach(async () => {
  url = await server.createDatabaseWithTables();
});

const dayMs = 86_400_000;
const keepSinceMs = sampleAtMs - (sampleAtMs % dayMs);
const oldMs = keepSinceMs - 3 * dayMs;
const oldDay = oldMs / dayMs;

async function openStore() {
  const store = openAt(postgresPlace(url));
  return { store, log: await openLog(store) };
}

/** Takes the steps of a pass. */
async function* takeSteps(rule: { readonly keepNewest: number }): AsyncGenerator<PrunedStep> {
  const pool = openPool(url, { connectionsMax: 2 });
  onTestFinished(() => pool.end());
  const prune = preparePruning(pool);
  let step: PrunedStep = await prune({ ...rule, keepSinceMs });
  yield step;
  while (step.next) {
    step = await prune({ ...rule, keepSinceMs, after: step.next });
    yield step;
  }
}

test('a step carries over a bounded number of webhooks, and all of them are carried over', async () => {
  const { store, log } = await openStore();
  const uids = Array.from({ length: 250 }, (_, index) => `wh_${String(index).padStart(24, '0')}`);
  await Promise.all(uids.map(uid => log.recordAccepted(acceptedDelivery({ uid, atMs: oldMs }))));
  // With statistics from the middle of it, the count of what is dropped would be an estimate.
  await query(url, `ALTER TABLE hookmill.deliveries_${oldDay} SET (autovacuum_enabled = false)`);
  const steps = takeSteps({ keepNewest: 1 });
  for (const carried of [100, 200, 250]) {
    await steps.next();
    const kept = await query(url, 'SELECT count(*)::integer FROM hookmill.deliveries_0');
    expect(kept.rows).toEqual([{ count: carried }]);
  }
  for await (const { deliveries } of steps) expect(deliveries).toBe(0);
  expect(await listDeliveryIds(store)).toHaveLength(uids.length);
});

test('a day without statistics is dropped without counting all of it', async () => {
  const { log } = await openStore();
  await log.recordAccepted(acceptedDelivery({ atMs: oldMs }));
  await query(url, `ALTER TABLE hookmill.deliveries_${oldDay} SET (autovacuum_enabled = false)`);
  await query(
    url,
    `INSERT INTO hookmill.deliveries (day, id, factory, webhook, uid, at_ms, size, outcome)
    SELECT ${oldDay}, n::text, 'default', 'pay', 'wh', ${oldMs} + n, 0, 'Filtered out' FROM generate_series(1, 12000) AS n`,
  );
  expect(await log.prune({ keepNewest: 1, keepSinceMs })).toMatchObject({ deliveries: 10_000 });
  const { rowCount } = await query(url, `SELECT FROM hookmill.deliveries WHERE day = ${oldDay}`);
  expect(rowCount).toBe(0);
});

test('a delivery whose replay commits while retention looks at it is kept', async () => {
  const { store, log } = await openStore();
  const old = acceptedDelivery({ atMs: oldMs });
  await log.recordAccepted(old);
  await log.prune({ keepNewest: 1, keepSinceMs });
  await log.recordAccepted(acceptedDelivery());
  const replay = new pg.Client({ connectionString: url });
  await replay.connect();
  onTestFinished(() => replay.end());
  await replay.query('BEGIN');
  await replay.query('SELECT FROM hookmill.deliveries WHERE id = $1 FOR KEY SHARE', [old.id]);
  const { id } = newRun();
  await replay.query(
    `INSERT INTO hookmill.runs (day, id, delivery_id, factory, webhook, automation, replay, not_before_ms, created_at_ms)
    VALUES (0, $1, $2, 'default', 'pay', 'triage', true, 0, 0)`,
    [id, old.id],
  );
  const pruned = log.prune({ keepNewest: 1, keepSinceMs });
  const waiting =
    "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FOR UPDATE%' AND datname = current_database()";
  await eventually(async () => (await query(url, waiting)).rowCount === 1);
  await replay.query('COMMIT');
  await pruned;
  expect(await store.deliveries.findRun(id)).toBeDefined();
  expect(await store.deliveries.findDelivery(old.id)).toBeDefined();
});

test('a delivery whose day is being dropped is not found by a replay', async () => {
  const { log } = await openStore();
  const old = acceptedDelivery({ atMs: oldMs });
  await log.recordAccepted(old);
  await query(url, `ALTER TABLE hookmill.runs DETACH PARTITION hookmill.runs_${oldDay} CONCURRENTLY`);
  const { appliedState } = old;
  if (!appliedState) throw new Error('the delivery has no applied state');
  const replay = { deliveryId: old.id, runs: [newRun()], appliedState, nowMs: sampleAtMs };
  expect(await log.replay(replay)).toBe(false);
});
