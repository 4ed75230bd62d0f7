import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createToken } from '../../../../../operations/access/tokens.ts';
import { digestToken } from '../../../../../store/ports/api-tokens.ts';
import { startDaemonHere } from '../../../../support/daemon-here.ts';
import { newHome } from '../../../../support/factory.ts';
import { call } from '../../../../support/management.ts';
import { storeIn } from '../../../../support/stored.ts';

test('a sign-in outlives a restart of the daemon, and the home has no secret of it', async () => {
  const home = newHome();
  const settings = { managementUrl: 'https://hooks.example.com' };
  const start = async () => {
    const daemon = await startDaemonHere(settings, home);
    onTestFinished(() => daemon.stop());
    return daemon;
  };
  const store = storeIn(home);
  const token = await createToken(
    { store, randomBytes },
    { name: 'me', factory: 'default', permission: 'read' },
  );
  const headers = { host: 'hooks.example.com' };
  const first = await start();
  const signedIn = await call(first.managementUrl, 'signIn', { body: { token }, headers });
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? '';
  const sessionKey = String(signedIn.json.sessionKey);
  const session = { ...headers, cookie, 'x-hookmill-session': sessionKey };
  await first.stop();
  const kept = readFileSync(join(home.directory, 'sessions.json'), 'utf8');
  for (const secret of [sessionKey, cookie.split('=')[1] ?? '', token]) expect(kept).not.toContain(secret);

  const second = await start();
  expect((await call(second.managementUrl, 'whoAmI', { headers: session })).json).toMatchObject({
    name: 'me',
  });
  await store.apiTokens.revoke(digestToken(token));
  expect((await call(second.managementUrl, 'whoAmI', { headers: session })).json.code).toBe('session-over');
});
