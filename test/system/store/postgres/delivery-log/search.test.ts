import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { acceptedDelivery } from '../../../../support/deliveries.ts';
import { usePostgres } from '../../../../support/postgres.ts';
import { listIds, openAt, openLog } from '../../conformance/place.ts';
import { postgresPlace } from '../postgres-place.ts';

const server = usePostgres();

test('shows whoever follows the log no row while an earlier one is not committed', async () => {
  const url = await server.createDatabaseWithTables();
  const store = openAt(postgresPlace(url));
  const { deliveries } = store;
  const log = await openLog(store);
  const first = acceptedDelivery();
  await log.recordAccepted(first);
  // Another replica, whose batch took its number and is not committed yet.
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('BEGIN');
  await client.query(`
    INSERT INTO hookmill.deliveries (day, id, factory, webhook, uid, at_ms, size, outcome)
    SELECT day, 'dlv_slow', factory, webhook, uid, at_ms, size, 'Rejected (auth)' FROM hookmill.deliveries`);
  const last = acceptedDelivery();
  await log.recordAccepted(last);

  const following = deliveries.searchDeliveries({ factory: 'default', limit: 9, after: first.id });
  const newest = deliveries.findLast('deliveries', 'default');
  expect(listIds(await deliveries.listDeliveries({ factory: 'default', limit: 9 }))).toEqual([
    last.id,
    first.id,
  ]);
  await client.query('COMMIT');
  expect(listIds((await following).rows)).toEqual(['dlv_slow', last.id]);
  expect(await newest).toBe(last.id);
});
