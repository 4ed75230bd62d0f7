import { expect, onTestFinished, test } from 'vitest';
import { acceptedDelivery, newRun, sampleAtMs } from '../../../support/deliveries.ts';
import { eventually } from '../../../support/eventually.ts';
import { query, useOwnPostgres } from '../../../support/postgres.ts';
import { addWebhook } from '../conformance/applied-states.ts';
import { openAt, openLog } from '../conformance/place.ts';
import { postgresPlace } from './postgres-place.ts';

const server = useOwnPostgres();
const adminUrl = () => `postgres://hookmill@127.0.0.1:${server.port}/postgres`;

/** Lets commits wait for a standby, which does not exist if it is `nobody`. */
async function awaitStandby(name: 'nobody' | ''): Promise<void> {
  await query(adminUrl(), `ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
  await query(adminUrl(), 'SELECT pg_reload_conf()');
  if (name !== '') await eventually(waitsForStandby);
}

/** Whether a commit waits for the standby: the server takes over its configuration some time after it was told to. */
async function waitsForStandby(): Promise<boolean> {
  let isCommitted = false;
  const commit = query(adminUrl(), "COMMENT ON DATABASE postgres IS 'tests'").then(
    () => {
      isCommitted = true;
    },
    () => undefined,
  );
  const [waiting] = await eventually(async () =>
    isCommitted ? [0] : [await listWaiting('COMMENT%')].find(pids => pids.length > 0),
  );
  if (waiting) await query(adminUrl(), 'SELECT pg_terminate_backend($1)', [waiting]);
  await commit;
  return !isCommitted;
}

/** The process of each connection on which such a statement waits for the standby. */
async function listWaiting(statement: string): Promise<number[]> {
  const text = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE $1";
  return (await query(adminUrl(), text, [statement])).rows.map(({ pid }) => pid);
}

test('a delivery whose connection was ended while it waited for the standby still waits for it', async () => {
  const log = await openLog(openAt(postgresPlace(await server.createDatabaseWithTables())));
  // The first delivery stores the automations that later ones refer to.
  await log.recordAccepted(acceptedDelivery());
  await awaitStandby('nobody');
  onTestFinished(() => awaitStandby(''));
  const delivery = acceptedDelivery();
  const recorded = log.recordAccepted(delivery);
  const [first] = await eventually(async () =>
    [await listWaiting('%record_batch%')].find(({ length }) => length > 0),
  );
  await query(adminUrl(), 'SELECT pg_terminate_backend($1)', [first]);
  const next = eventually(async () => (await listWaiting('%')).some(pid => pid !== first) && 'waits again');
  expect(await Promise.race([recorded, next])).toBe('waits again');
  await awaitStandby('');
  expect(await recorded).toEqual({ id: delivery.id });
});

test('a daemon keeps its lease while its signs of life would wait for the standby', async () => {
  const url = await server.createDatabaseWithTables();
  const log = await openLog(openAt(postgresPlace(url)));
  await log.claimRuns({ daemonId: 'daemon one', nowMs: 0, places: { default: 1 } });
  await awaitStandby('nobody');
  onTestFinished(() => awaitStandby(''));
  const until = async () =>
    (await query(url, 'SELECT lease_until FROM hookmill.replicas')).rows[0].lease_until;
  const before = await until();
  await eventually(async () => (await until()) > before);
});

test('runs whose claim was committed and never answered are claimed again', async () => {
  const log = await openLog(openAt(postgresPlace(await server.createDatabaseWithTables())));
  const run = newRun();
  await log.recordAccepted(acceptedDelivery({ runs: [run] }));
  const claim = { daemonId: 'daemon one', nowMs: sampleAtMs, places: { default: 10 } };
  // The sign of life of this daemon is known before its commits can wait.
  await log.claimRuns({ ...claim, nowMs: 0 });
  await awaitStandby('nobody');
  onTestFinished(() => awaitStandby(''));
  const unanswered = log.claimRuns(claim);
  const failed = expect(unanswered).rejects.toMatchObject({ code: 'failed' });
  await eventually(async () => (await listWaiting('COMMIT')).length > 0);
  await server.stop('immediate');
  await failed;
  await server.start();
  await awaitStandby('');
  const { runs } = await log.claimRuns(claim);
  expect(runs).toEqual([expect.objectContaining({ id: run.id, attempts: 2 })]);
  expect((await log.claimRuns(claim)).runs).toEqual([]);
});

test('a change waits for the commits of others that notify, longer than for a lock', async () => {
  const store = openAt(postgresPlace(await server.createDatabaseWithTables()), { lockTimeoutMs: 1 });
  await addWebhook(store, 'pay', 'one');
  await awaitStandby('nobody');
  onTestFinished(() => awaitStandby(''));
  const changes = Promise.all(['one', 'two'].map(factory => addWebhook(store, 'ship', factory)));
  changes.catch(() => undefined);
  const text = `SELECT FROM pg_stat_activity WHERE query = 'COMMIT' AND wait_event IN ('SyncRep', 'object')`;
  const bothWait = eventually(async () => (await query(adminUrl(), text)).rowCount === 2 && 'both wait');
  expect(await Promise.race([changes, bothWait])).toBe('both wait');
  await awaitStandby('');
  await changes;
  expect((await store.appliedStates.read('two')).serial).toBe(1);
});
