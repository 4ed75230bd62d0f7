import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createMemorySessions } from '../../../../daemon/management/guards/memory-sessions.ts';
import { createToken } from '../../../../operations/tokens.ts';
import type { Store } from '../../../../store/ports.ts';
import type { StoredSessions } from '../../../../store/stored-sessions.ts';
import { openAt } from '../../../store/conformance/place.ts';
import { postgresPlace } from '../../../store/postgres/postgres-place.ts';
import { startDaemonHere } from '../../../support/daemon-here.ts';
import { newHome } from '../../../support/factory.ts';
import { call } from '../../../support/management.ts';
import { usePostgres } from '../../../support/postgres.ts';

const server = usePostgres();
let url: string;
beforeEach(async () => {
  url = await server.createDatabase();
});

const kinds: Readonly<Record<string, () => StoredSessions>> = {
  memory: () => createMemorySessions(() => performance.now()),
  'a database': () => openAt(postgresPlace(url)).replicas?.sessions as StoredSessions,
};

describe.for(Object.entries(kinds))('sessions in %s', ([_, open]) => {
  const session = { tokenSha256: 'a'.repeat(64), host: 'hooks.example' };
  const bounds = { lifetimeMs: 60_000, perTokenMax: 2 };

  test('are found until they are removed', async () => {
    const sessions = open();
    await sessions.keep('one', session, bounds);
    expect(await sessions.find('one')).toMatchObject(session);
    expect(await sessions.find('other')).toBeUndefined();
    await sessions.remove('one');
    expect(await sessions.find('one')).toBeUndefined();
  });

  test('expire', async () => {
    const sessions = open();
    await sessions.keep('one', session, { ...bounds, lifetimeMs: 0 });
    expect(await sessions.find('one')).toBeUndefined();
  });

  test('of one token end when it has too many, the oldest first', async () => {
    const sessions = open();
    await sessions.keep('other', { ...session, tokenSha256: 'b'.repeat(64) }, bounds);
    for (const digest of ['one', 'two', 'three']) await sessions.keep(digest, session, bounds);
    const found = await Promise.all(['one', 'two', 'three', 'other'].map(sessions.find));
    expect(found.map(session => session !== undefined)).toEqual([false, true, true, true]);
  });
});

describe('with two daemons on one database', () => {
  const headers = { host: 'hooks.example.com' };

  test('who signs in at one is signed in at the other, and signs out at both', async () => {
    const [one, other] = [await startReplica(), await startReplica()];
    const session = await signIn(one, openAt(postgresPlace(url)));
    expect((await call(other, 'whoAmI', { headers: session })).json).toMatchObject({ token: 'me' });
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
