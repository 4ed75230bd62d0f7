import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createToken } from '../../../../../operations/access/tokens.ts';
import type { Store } from '../../../../../store/ports/store.ts';
import { startDaemonHere } from '../../../../support/daemon-here.ts';
import { newHome } from '../../../../support/factory.ts';
import { call } from '../../../../support/management.ts';
import { query, useOwnPostgres } from '../../../../support/postgres.ts';
import { openAt } from '../../../store/conformance/place.ts';
import { postgresPlace } from '../../../store/postgres/postgres-place.ts';

const server = useOwnPostgres();
let url: string;
beforeEach(async () => {
  url = await server.createDatabase();
});

describe('with two daemons on one database', () => {
  const headers = { host: 'hooks.example.com' };

  test('who signs in at one is signed in at the other, and signs out at both', async () => {
    const [one, other] = [await startReplica(), await startReplica()];
    const session = await signIn(one, openAt(postgresPlace(url)));
    expect((await call(other, 'whoAmI', { headers: session })).json).toMatchObject({ name: 'me' });
    expect((await call(other, 'signOut', { headers: session })).status).toBe(204);
    expect((await call(one, 'whoAmI', { headers: session })).json.code).toBe('session-over');
  });

  test('nobody is signed in or out by a loss of the database: it is reported, with when to try again', async () => {
    const replica = await startReplica();
    const session = await signIn(replica, openAt(postgresPlace(url)));
    await server.stop('immediate');
    const lost = await call(replica, 'whoAmI', { headers: session });
    await server.start();
    expect(lost).toMatchObject({ status: 503, json: { code: 'store-unreachable' } });
    expect(lost.headers['retry-after']).toMatch(/^\d+$/);
    expect((await call(replica, 'whoAmI', { headers: session })).status).toBe(200);
  });

  test('a database that accepts no connections is reported on every route, with when to try again', async () => {
    const replica = await startReplica();
    const session = await signIn(replica, openAt(postgresPlace(url)));
    const name = new URL(url).pathname.slice(1);
    const admin = Object.assign(new URL(url), { pathname: '/postgres' }).href;
    const answers = async () => {
      const ids = ['whoAmI', 'listFactories', 'listDeliveries', 'listTokens', 'createWebhook'] as const;
      const body = { body: { name: 'hook' } };
      const calls = ids.map(id =>
        call(replica, id, { headers: session, ...(id === 'createWebhook' && body) }),
      );
      return (await Promise.all(calls)).map(({ status, headers }) => [
        status,
        headers['retry-after'] !== undefined,
      ]);
    };
    await query(admin, `ALTER DATABASE "${name}" ALLOW_CONNECTIONS false`);
    await query(admin, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    expect(await answers()).toEqual(Array.from({ length: 5 }, () => [503, true]));
    await query(admin, `ALTER DATABASE "${name}" ALLOW_CONNECTIONS true`);
    expect((await call(replica, 'whoAmI', { headers: session })).status).toBe(200);
  });

  async function startReplica(): Promise<string> {
    const settings = { managementUrl: `https://${headers.host}` };
    const postgres = { url, mayLose: false };
    const environment = { HOOKMILL_KEY: Buffer.alloc(32, 1).toString('base64') };
    const daemon = await startDaemonHere(settings, newHome(), { environment, postgres });
    onTestFinished(() => daemon.stop());
    return daemon.managementUrl;
  }

  async function signIn(managementUrl: string, store: Store) {
    const token = await createToken(
      { store, randomBytes },
      { name: 'me', factory: 'default', permission: 'manage' },
    );
    const signedIn = await call(managementUrl, 'signIn', { body: { token }, headers });
    const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? '';
    return { ...headers, cookie, 'x-hookmill-session': String(signedIn.json.sessionKey) };
  }
});
