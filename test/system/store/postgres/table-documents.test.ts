import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { AppliedState } from '../../../../schema/applied-state.ts';
import { connectDatabase } from '../../../../store/postgres/connection/database.ts';
import { listenForChanges } from '../../../../store/postgres/connection/listen-for-changes.ts';
import { eventually } from '../../../support/eventually.ts';
import { query, useEmptyDatabases, useOwnPostgres } from '../../../support/postgres.ts';
import { addWebhook } from '../conformance/applied-states.ts';
import { openAt } from '../conformance/place.ts';
import { postgresPlace } from './postgres-place.ts';

const server = useOwnPostgres();
const nextUrl = useEmptyDatabases(server, 1);
let url: string;
beforeEach(() => {
  url = nextUrl();
});

const unchanged = async (state: AppliedState) => ({ next: state, result: undefined });

describe('a change', () => {
  test('writes nothing if its connection is lost, and frees its lock', async () => {
    const store = openAt(postgresPlace(url));
    const lost = store.appliedStates.change('default', async state => {
      await endConnections(`application_name LIKE 'hookmill %'`);
      return unchanged(state);
    });
    await expect(lost).rejects.toMatchObject({ code: 'unreachable' });
    await addWebhook(store, 'pay');
    expect((await store.appliedStates.read('default')).serial).toBe(1);
  });

  test('that waits too long names the process that holds the lock', async () => {
    const place = postgresPlace(url);
    await openAt(place).appliedStates.change('default', async state => {
      const waiting = openAt(place, { lockTimeoutMs: 1 }).appliedStates.change('default', unchanged);
      await expect(waiting).rejects.toMatchObject({
        code: 'locked',
        message: expect.stringMatching(
          new RegExp(
            `^the applied state of the factory default in .* is locked by hookmill .*pid ${process.pid} on `,
          ),
        ),
      });
      return unchanged(state);
    });
  });

  test('does not write over what was written without the lock', async () => {
    const { appliedStates } = openAt(postgresPlace(url));
    const changed = appliedStates.change('default', async state => {
      await query(url, `INSERT INTO hookmill.documents VALUES ('applied', 'default', 1, '{}')`);
      return unchanged(state);
    });
    await expect(changed).rejects.toMatchObject({ code: 'serial-moved' });
  });

  test('within changes of as many factories as there are connections does not wait for them', async () => {
    const { appliedStates, teamSecrets } = openAt(postgresPlace(url));
    const factories = Array.from({ length: 6 }, (_, index) => `f${index}`);
    const changes = factories.map(factory =>
      appliedStates.change(factory, async state => {
        await teamSecrets.open(['TOKEN'], factory);
        return unchanged(state);
      }),
    );
    await Promise.all(changes);
    expect(await appliedStates.listFactories()).toEqual(factories);
  });
});

test('a state that was edited in the database is damaged, and the next change replaces it', async () => {
  const store = openAt(postgresPlace(url));
  await addWebhook(store, 'pay');
  await query(url, `UPDATE hookmill.documents SET json = replace(json, '"serial": 1', '"serial": 3')`);
  expect(await store.appliedStates.read('default')).toMatchObject({ serial: 3, isDamaged: true });
  await addWebhook(store, 'code');
  expect(await store.appliedStates.read('default')).not.toHaveProperty('isDamaged');
});

test('of two changes that wait for each other, one is refused as locked, and the other succeeds', async () => {
  const database = connectDatabase(url);
  onTestFinished(() => database.close());
  const held = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const change = (mine: 0 | 1, other: 0 | 1) =>
    database.change(async run => {
      const lock = 'SELECT pg_advisory_xact_lock($1)';
      await run(lock, [mine]);
      held[mine].resolve();
      await held[other].promise;
      await run(lock, [other]);
    });
  const results = await Promise.allSettled([change(0, 1), change(1, 0)]);
  const refused = results.flatMap(result => (result.status === 'rejected' ? [result.reason] : []));
  expect(refused).toEqual([expect.objectContaining({ code: 'locked' })]);
});

describe('notifications', () => {
  test('tell of each change of an applied state, and of no other document', async () => {
    const { counted, writer } = await listening();
    await writer.teamSecrets.set('TOKEN', 'value');
    await addWebhook(writer, 'pay');
    await eventually(() => counted() > 1);
    expect(counted()).toBe(2);
  });

  test('arrive again after the connection was lost, and after the server was restarted', async () => {
    const { counted, writer } = await listening();
    const losses = [
      () => endConnections(`query = 'LISTEN hookmill'`),
      () => server.stop('immediate').then(() => server.start()),
    ];
    for (const lose of losses) {
      const before = counted();
      await lose();
      // One because some may have been missed, one for the change.
      await eventually(() => counted() === before + 1);
      await addWebhook(writer, 'pay');
      await eventually(() => counted() === before + 2);
    }
  });
});

/** Counts notifications, of which the first comes with the connection. */
async function listening() {
  const writer = openAt(postgresPlace(url));
  let count = 0;
  const watch = await listenForChanges(url, 'applied', () => {
    count++;
  });
  onTestFinished(() => watch.close());
  return { counted: () => count, writer };
}

describe('an unreachable database', () => {
  const password = 'canary-pa55word';

  test.for([
    [
      'refuses connections',
      'postgres://u:canary-pa55word@127.0.0.1:1/db',
      /127\.0\.0\.1:1\/db cannot be reached/,
    ],
    ['has no such host', 'postgres://u:canary-pa55word@nowhere.invalid/db', /nowhere\.invalid\/db cannot be/],
  ] as const)('that %s is named without the password', async ([_, url, message]) => {
    const error = await readFails(url);
    expect(error).toMatchObject({ code: 'unreachable', message: expect.stringMatching(message) });
    expect(describeWhole(error)).not.toContain(password);
  });

  test('that does not exist is named without the password', async () => {
    const error = await readFails(`postgres://hookmill:${password}@127.0.0.1:${server.port}/missing`);
    expect(error).toMatchObject({ code: 'unreachable', message: expect.stringContaining('does not exist') });
    expect(describeWhole(error)).not.toContain(password);
  });

  const readFails = (url: string) =>
    openAt(postgresPlace(url))
      .appliedStates.read('default')
      .then(
        () => undefined,
        (error: unknown) => error,
      );
});

/** Everything that a log could show of an error. */
function describeWhole(error: unknown): string {
  return error instanceof Error
    ? `${error.stack} ${JSON.stringify({ ...error })} ${describeWhole(error.cause)}`
    : String(error);
}

async function endConnections(condition: string): Promise<void> {
  const others = 'datname = current_database() AND pid <> pg_backend_pid()';
  await query(url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others} AND ${condition}`);
}
