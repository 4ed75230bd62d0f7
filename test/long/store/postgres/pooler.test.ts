import { setImmediate } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { acceptedDelivery } from '../../../support/deliveries.ts';
import { eventually } from '../../../support/eventually.ts';
import { hasPooler, usePooler } from '../../../support/pooler.ts';
import { query, useEmptyDatabases, usePostgres } from '../../../support/postgres.ts';
import { addWebhook, testAppliedStates } from '../../../system/store/conformance/applied-states.ts';
import { testDeliveries } from '../../../system/store/conformance/deliveries.ts';
import { openAt, openLog } from '../../../system/store/conformance/place.ts';
import { testTeamSecrets } from '../../../system/store/conformance/team-secrets.ts';
import { postgresPlace } from '../../../system/store/postgres/postgres-place.ts';

describe.skipIf(!hasPooler)('through PgBouncer in transaction mode', () => {
  const server = usePostgres();
  const throughPooler = usePooler(server);
  const nextUrl = useEmptyDatabases(server, 1);
  const makePlace = () => {
    const url = nextUrl();
    return postgresPlace(throughPooler(url), url);
  };

  describe('applied states', () => testAppliedStates(makePlace));
  describe('deliveries', () => testDeliveries(makePlace));
  describe('team secrets', () => testTeamSecrets(makePlace));

  test('batches that are committed at the same time need no prepared statement of another connection', async () => {
    const place = makePlace();
    for (let logs = 0; logs < 6; logs++) {
      const log = await openLog(openAt(place));
      const recorded: Promise<unknown>[] = [];
      for (let batches = 0; batches < 20; batches++) {
        recorded.push(log.recordAccepted(acceptedDelivery()));
        await setImmediate();
      }
      await Promise.all(recorded);
      await log.close();
    }
  });

  test('retention that gives up leaves no setting on the connection of the pooler', async () => {
    const url = nextUrl();
    const log = await openLog(openAt(postgresPlace(throughPooler(url))));
    await log.recordAccepted(acceptedDelivery());
    const backup = new pg.Client({ connectionString: url });
    await backup.connect();
    onTestFinished(() => backup.end());
    await backup.query('BEGIN; LOCK TABLE hookmill.runs IN ACCESS SHARE MODE');
    const pruned = log.prune({ keepNewest: 1, keepSinceMs: Date.now() });
    await expect(pruned).rejects.toMatchObject({ code: 'failed' });
    const { rows } = await query(throughPooler(url), 'SHOW statement_timeout');
    expect(rows).toEqual([{ statement_timeout: '0' }]);
    await backup.query('COMMIT');
    await log.prune({ keepNewest: 1, keepSinceMs: Date.now() });
  });

  test('a change is noticed without a direct connection too', async () => {
    const store = openAt(postgresPlace(throughPooler(nextUrl())));
    let looks = 0;
    const watch = await store.appliedStates.watch(() => {
      looks++;
    });
    onTestFinished(() => watch.close());
    await addWebhook(store, 'pay');
    const before = looks;
    await eventually(() => looks > before);
    expect((await store.appliedStates.read('default')).serial).toBe(1);
  });
});
