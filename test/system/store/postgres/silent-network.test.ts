import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { acceptedDelivery, newRun, sampleAtMs } from '../../../support/deliveries.ts';
import { query, usePostgres } from '../../../support/postgres.ts';
import { type Link, openLink } from '../../faults/link.ts';
import { openAt, openLog } from '../conformance/place.ts';
import { postgresPlace } from './postgres-place.ts';

const server = usePostgres();
let url: string;
let link: Link;
beforeEach(async () => {
  url = await server.createDatabaseWithTables();
  link = await openLink(server.port);
  onTestFinished(() => link.close());
});

const throughLink = () => Object.assign(new URL(url), { port: String(link.port) }).href;

test('a log and its store close although the database does not answer', async () => {
  const place = postgresPlace(throughLink());
  const store = place.open();
  const log = await store.openDeliveryLog();
  await log.recordAccepted(acceptedDelivery());
  await log.claimRuns({ daemonId: 'one', nowMs: sampleAtMs, places: { default: 1 } });
  await store.appliedStates.read('default');
  const watch = await store.appliedStates.watch(() => undefined);
  link.cut('blackhole');
  await log.close();
  await watch.close();
  await store.close();
});

test('a daemon whose connections became silent keeps its lease on a new one', async () => {
  const log = await openLog(openAt(postgresPlace(throughLink())));
  const run = newRun();
  await log.recordAccepted(acceptedDelivery({ runs: [run] }));
  const claim = { daemonId: 'one', nowMs: 0, places: { default: 1 } };
  await log.claimRuns(claim);
  // As after a server moved to another machine: nothing ends the old connections.
  link.cut('blackhole');
  link.forget();
  const isRenewed = "SELECT FROM hookmill.replicas WHERE lease_until > started_at + interval '11 s'";
  await expect.poll(async () => (await query(url, isRenewed)).rowCount).toBe(1);
  expect((await log.claimRuns({ ...claim, nowMs: sampleAtMs })).runs).toMatchObject([{ claimedBy: 'one' }]);
});
