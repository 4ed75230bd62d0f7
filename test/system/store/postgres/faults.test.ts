import { setImmediate } from 'node:timers/promises';
import pg from 'pg';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { DeliveryLog, DeliveryLogOptions } from '../../../../store/ports/delivery-log.ts';
import { connectDatabase } from '../../../../store/postgres/connection/database.ts';
import { openPostgresLog } from '../../../../store/postgres/delivery-log/open-postgres-log.ts';
import { openPostgresReader } from '../../../../store/postgres/delivery-log/reader.ts';
import { openReplicas } from '../../../../store/postgres/replicas/open-replicas.ts';
import { acceptedDelivery, newRun, rejectedDelivery, sampleAtMs } from '../../../support/deliveries.ts';
import { eventually } from '../../../support/eventually.ts';
import { query, usePostgres } from '../../../support/postgres.ts';

const server = usePostgres();
let url: string;
beforeEach(async () => {
  url = await server.createDatabaseWithTables();
});

async function openLog(options: DeliveryLogOptions = {}): Promise<DeliveryLog> {
  const log = await openPostgresLog({ url, mayLose: false }, options);
  onTestFinished(() => log.close());
  return log;
}

/** Ends all connections to the database, as a failover does. */
const cutConnections = () =>
  query(
    url,
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );

const claim = { daemonId: 'one', nowMs: sampleAtMs, places: { default: 10 } };
const dayMs = 86_400_000;

test('a server that may forget what it confirmed is refused, unless the operator accepts that', async () => {
  const { pathname } = new URL(url);
  await query(url, `ALTER DATABASE ${pathname.slice(1)} SET synchronous_commit = off`);
  const refused = openPostgresLog({ url, mayLose: false });
  await expect(refused).rejects.toMatchObject({
    code: 'unsafe',
    message: expect.stringContaining('synchronous_commit'),
  });
  await (await openPostgresLog({ url, mayLose: true })).close();
});

test('what is recorded while connections are cut is recorded once, with its runs', async () => {
  const log = await openLog();
  const recorded: string[] = [];
  for (let count = 0; count < 40; count++) {
    const { identity } = acceptedDelivery();
    const cutting = cutConnections();
    // As a sender does: the same delivery again, under a new id, until it is accepted.
    await eventually(() =>
      log.recordAccepted(acceptedDelivery({ identity, runs: [newRun()] })).then(
        ({ id, duplicateOf }) => recorded.push(duplicateOf ?? id),
        () => false,
      ),
    );
    await cutting;
  }
  expect(new Set(recorded).size).toBe(40);
  const { rows } = await query(
    url,
    "SELECT count(DISTINCT identity) AS identities, count(*) AS rows FROM hookmill.deliveries WHERE outcome = 'Accepted'",
  );
  expect(rows).toEqual([{ identities: '40', rows: '40' }]);
  const runs = await query(
    url,
    'SELECT count(*), count(DISTINCT delivery_id) AS deliveries FROM hookmill.runs',
  );
  expect(runs.rows).toEqual([{ count: '40', deliveries: '40' }]);
});

test('a connection that is lost while a partition is made is made up for', async () => {
  const log = await openLog();
  const holder = new pg.Client(url);
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query("SELECT pg_advisory_lock('29401485033434733')");
  const recording = log.recordAccepted(acceptedDelivery({ id: 'early', atMs: sampleAtMs - 30 * dayMs }));
  const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%pg_advisory_xact_lock%'`;
  await eventually(async () => (await query(url, cut)).rowCount === 1);
  await holder.query("SELECT pg_advisory_unlock('29401485033434733')");
  expect(await recording).toEqual({ id: 'early' });
});

test('a batch that was committed before its answer was lost is recorded once when it is sent again', async () => {
  const log = await openLog();
  const delivery = acceptedDelivery({ runs: [newRun()] });
  await log.recordAccepted(delivery);
  log.recordUnidentified(rejectedDelivery({ id: 'rejected' }));
  // The thread does this after a lost connection.
  expect(await log.recordAccepted(delivery)).toEqual({ id: delivery.id });
  const { rows } = await query(url, 'SELECT id FROM hookmill.deliveries ORDER BY seq');
  expect(rows).toEqual([{ id: delivery.id }, { id: 'rejected' }]);
  expect((await query(url, 'SELECT id FROM hookmill.runs')).rows).toHaveLength(1);
});

test('if the first of two batches in flight fails, the second one is recorded, and neither is told before', async () => {
  const log = await openLog();
  // The first delivery of a day makes its partition.
  await log.recordAccepted(acceptedDelivery());
  const doomed = acceptedDelivery();
  await query(url, 'ALTER TABLE hookmill.deliveries ADD CONSTRAINT test CHECK (size <> 99)');
  const writer = new pg.Client(url);
  await writer.connect();
  onTestFinished(() => writer.end());
  await writer.query('BEGIN; LOCK TABLE hookmill.deliveries IN SHARE MODE');
  const told: string[] = [];
  const record = (delivery: ReturnType<typeof acceptedDelivery>) =>
    log.recordAccepted(delivery).then(
      () => void told.push('recorded'),
      ({ code }) => void told.push(code),
    );
  const first = record({ ...doomed, size: 99 });
  await setImmediate();
  const second = record(acceptedDelivery({ id: 'second' }));
  const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  await eventually(async () => (await query(url, waiting)).rowCount === 2);
  expect(told).toEqual([]);
  await writer.query('COMMIT');
  await Promise.all([first, second]);
  expect(told.sort()).toEqual(['failed', 'recorded']);
  const { rows } = await query(url, 'SELECT id FROM hookmill.deliveries ORDER BY seq OFFSET 1');
  expect(rows).toEqual([{ id: 'second' }]);
});

test('a daemon that seemed dead loses its claims, is told so, and goes on under another name', async () => {
  const onClaimsLost = vi.fn();
  const paused = await openLog({ onClaimsLost });
  const run = newRun();
  await paused.recordAccepted(acceptedDelivery({ runs: [run] }));
  const [lost] = (await paused.claimRuns(claim)).runs;
  // As if it had been paused for longer than its lease.
  await query(url, "UPDATE hookmill.replicas SET lease_until = now() - interval '1 s'");
  const log = await openLog();
  const [taken] = (await log.claimRuns({ ...claim, daemonId: 'two' })).runs;
  expect(taken).toMatchObject({ id: run.id, attempts: 2, claimedBy: 'two' });
  if (!lost || !taken) throw new Error('the run was not claimed twice');
  expect(await paused.finishRun({ ...lost, state: 'failed', atMs: sampleAtMs })).toBe(false);
  await eventually(() => onClaimsLost.mock.calls.length > 0);
  expect(await log.finishRun({ ...taken, state: 'succeeded', atMs: sampleAtMs })).toBe(true);
  await log.recordAccepted(acceptedDelivery({ runs: [newRun()] }));
  expect((await paused.claimRuns(claim)).runs).toMatchObject([{ claimedBy: 'one.1' }]);
});

test('a run that is retried while its day is dropped is kept with its delivery', async () => {
  const log = await openLog();
  const old = acceptedDelivery({ atMs: sampleAtMs - 9 * dayMs, runs: [newRun()] });
  await log.recordAccepted(old);
  await log.recordAccepted(acceptedDelivery());
  const [run] = (await log.claimRuns(claim)).runs;
  if (!run) throw new Error('no run was claimed');
  await log.finishRun({ ...run, state: 'failed', atMs: sampleAtMs });
  // Retention was ended between the two: the day is detached, and its run queued again.
  const day = Math.floor(old.atMs / dayMs);
  for (const table of ['runs', 'deliveries']) {
    await query(url, `ALTER TABLE hookmill.${table} DETACH PARTITION hookmill.${table}_${day} CONCURRENTLY`);
  }
  await query(url, `UPDATE hookmill.runs_${day} SET state = 'queued'`);
  await log.prune({ keepNewest: 1, keepSinceMs: sampleAtMs - 8 * dayMs });
  const reader = openPostgresReader(url);
  onTestFinished(() => reader.close());
  expect(await reader.findDelivery(old.id)).toMatchObject({ id: old.id });
  expect((await log.claimRuns(claim)).runs).toMatchObject([{ id: run.id }]);
  expect(await log.recordAccepted({ ...old, id: 'again' })).toMatchObject({ duplicateOf: old.id });
});

test('what a delivery refers to is stored again after the server lost it', async () => {
  const log = await openLog();
  await log.recordAccepted(acceptedDelivery());
  // As after a failover to a standby that was behind; a pooler keeps the connections.
  await query(url, 'DELETE FROM hookmill.snapshots');
  const delivery = acceptedDelivery();
  await log.recordAccepted(delivery);
  const reader = openPostgresReader(url);
  onTestFinished(() => reader.close());
  expect(await reader.findDelivery(delivery.id)).toMatchObject({ snapshot: delivery.appliedState?.digest });
});

test('retention that waits for a transaction of others does not make the log seem broken', async () => {
  const log = await openLog();
  await log.recordAccepted(acceptedDelivery());
  const backup = new pg.Client({ connectionString: url });
  await backup.connect();
  onTestFinished(() => backup.end());
  await backup.query('BEGIN; LOCK TABLE hookmill.runs IN ACCESS SHARE MODE');
  const troubles = new Set<string | undefined>();
  const looking = setInterval(() => troubles.add(log.describeTrouble()), 100);
  await expect(log.prune({ keepNewest: 1, keepSinceMs: Date.now() })).rejects.toMatchObject({
    code: 'failed',
  });
  clearInterval(looking);
  expect([...troubles, log.describeTrouble()]).toEqual([undefined, undefined]);
});

test('however often a delivery is in a batch, the batch needs two transactions', async () => {
  const log = await openLog();
  const { identity } = acceptedDelivery();
  const sent = Array.from({ length: 50 }, () => log.recordAccepted(acceptedDelivery({ identity })));
  const [original, ...repeated] = await Promise.all(sent);
  expect(original).not.toHaveProperty('duplicateOf');
  expect(repeated.map(({ duplicateOf }) => duplicateOf)).toEqual(repeated.map(() => original?.id));
  const { rows } = await query(url, 'SELECT DISTINCT xmin::text FROM hookmill.deliveries');
  expect(rows).toHaveLength(2);
});

test('a turn is taken by one daemon at a time, not again before its time, and by another if it is lost', async () => {
  const databases = [connectDatabase(url), connectDatabase(url)] as const;
  onTestFinished(async () => void (await Promise.all(databases.map(database => database.close()))));
  const [one, other] = [openReplicas(databases[0]), openReplicas(databases[1])];
  const turn = await one.takeTurn('work', 60_000);
  expect(await other.takeTurn('work', 0)).toBeUndefined();
  await turn?.end();
  expect(await other.takeTurn('work', 60_000)).toBeUndefined();
  const next = await other.takeTurn('work', 0);
  expect(next).toBeDefined();
  await query(url, "UPDATE hookmill.turns SET lease_until = now() - interval '1 s'");
  const taken = await one.takeTurn('work', 0);
  expect(taken).toBeDefined();
  await eventually(() => next?.lost.aborted);
  expect(taken?.lost.aborted).toBe(false);
  await taken?.end();
});

test('events are counted together, and again from 1 when their minute is over', async () => {
  const databases = [connectDatabase(url), connectDatabase(url)] as const;
  onTestFinished(async () => void (await Promise.all(databases.map(database => database.close()))));
  const replicas = databases.map(openReplicas);
  const count = (key: string) => Promise.all(replicas.map(replica => replica.countEvent(key, 60)));
  await Promise.all([count('a'), count('a'), count('b')]);
  const counts = (await count('a')).map(window => window.count);
  expect(counts.sort()).toEqual([5, 6]);
  await query(url, "UPDATE hookmill.rate_windows SET until = now() - interval '1 s'");
  const [window] = await Promise.all([replicas[0]?.countEvent('a', 60)]);
  expect(window).toMatchObject({ count: 1 });
  expect(window?.msLeft).toBeGreaterThan(50_000);
});

test('of a large limit, each daemon counts a thousandth at once', async () => {
  const databases = [connectDatabase(url), connectDatabase(url)] as const;
  onTestFinished(async () => void (await Promise.all(databases.map(database => database.close()))));
  const [one, two] = [openReplicas(databases[0]), openReplicas(databases[1])];
  const counts: number[] = [];
  for (const replica of [one, two, one, two, one, one, one, one]) {
    counts.push((await replica.countEvent('a', 5_000)).count);
  }
  expect(counts).toEqual([1, 6, 2, 7, 3, 4, 5, 11]);
  await query(url, "UPDATE hookmill.rate_windows SET until = now() - interval '1 s'");
  for (const expected of [12, 13, 14, 15, 1]) expect((await one.countEvent('a', 5_000)).count).toBe(expected);
});

test('an event that cannot be counted is refused long before the server would answer', async () => {
  const database = connectDatabase(url);
  onTestFinished(() => database.close());
  const { countEvent } = openReplicas(database);
  await countEvent('a', 60);
  // The lock is free again after 20 s, and by then somebody has been told to try again.
  const lock = query(url, 'BEGIN; LOCK TABLE hookmill.rate_windows; SELECT pg_sleep(20); COMMIT').catch(
    () => undefined,
  );
  const isLocked =
    "SELECT FROM pg_locks WHERE relation = 'hookmill.rate_windows'::regclass AND mode = 'AccessExclusiveLock' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
  await eventually(async () => (await query(url, isLocked)).rowCount === 1);
  await expect(countEvent('a', 60)).rejects.toMatchObject({ code: 'unreachable' });
  await query(
    url,
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(20)%' AND pid <> pg_backend_pid()",
  );
  await lock;
  await expect(countEvent('a', 60)).resolves.toBeDefined();
});
