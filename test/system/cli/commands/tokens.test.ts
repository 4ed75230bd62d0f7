import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { call } from '../../../support/management.ts';
import { startWebhookDaemon } from '../../../support/webhook-daemon.ts';
import { makeWorkspace } from '../../../support/workspace.ts';

test('prints a token once and stores only its digest', async () => {
  const workspace = makeWorkspace();
  const created = await workspace.hookmill('tokens', 'create', 'laptop', '--permission', 'manage');
  expect(created).toMatchObject({ exitCode: 0 });
  expect(created.stdout).toMatch(/^hmk_[A-Za-z0-9_-]{43}\n$/);
  expect(created.stderr).toMatch(
    /^Created the home .*\nCreated laptop, which may manage the factory default; it is shown only once\.\n$/,
  );
  const token = created.stdout.trim();
  const kept = workspace.read('.hookmill/tokens.json');
  expect(kept).not.toContain(token);
  expect(kept).toContain(createHash('sha256').update(token).digest('hex'));
  const listed = await workspace.hookmill('tokens', 'list', '-o', 'json');
  expect(JSON.parse(listed.stdout)).toEqual([
    {
      name: 'laptop',
      factory: 'default',
      permission: 'manage',
      createdAt: expect.any(String),
      expiresAt: null,
      lastUsedAt: null,
    },
  ]);
});

test('makes tokens for one factory or for all, to read unless told otherwise', async () => {
  const workspace = makeWorkspace();
  await workspace.hookmill('tokens', 'create', 'one', '--factory', 'pay');
  await workspace.hookmill('tokens', 'create', 'all', '--all-factories');
  const { stdout } = await workspace.hookmill('tokens', 'list', '-o', 'json');
  expect(JSON.parse(stdout)).toMatchObject([
    { name: 'one', factory: 'pay', permission: 'read' },
    { name: 'all', factory: null, permission: 'read' },
  ]);
});

test('refuses a name that is taken, that is none, or that is not there to revoke', async () => {
  const workspace = makeWorkspace();
  await workspace.hookmill('tokens', 'create', 'ci');
  for (const args of [
    ['create', 'ci'],
    ['create', '../ci'],
    ['revoke', 'other'],
  ]) {
    const { stdout, stderr, exitCode } = await workspace.hookmill('tokens', ...args);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
    expect(stderr).toMatch(/^hookmill: /);
  }
  expect(await workspace.hookmill('tokens', 'revoke', 'ci')).toMatchObject({ exitCode: 0 });
  expect((await workspace.hookmill('tokens', 'list', '-o', 'json')).stdout).toBe('[]\n');
});

test('makes tokens that expire, and shows until when', async () => {
  const workspace = makeWorkspace();
  const before = Date.now();
  const created = await workspace.hookmill('tokens', 'create', 'ci', '--expires', '90d');
  expect(created.stderr).toContain(' until ');
  const [token] = JSON.parse((await workspace.hookmill('tokens', 'list', '-o', 'json')).stdout);
  const ms = Date.parse(token.expiresAt) - 90 * 86_400_000;
  expect(ms).toBeGreaterThanOrEqual(before);
  expect(ms).toBeLessThanOrEqual(Date.now());
  expect((await workspace.hookmill('tokens', 'list')).stdout).toContain(token.expiresAt);
  for (const life of ['0d', 'soon', '999999w']) {
    const refused = await workspace.hookmill('tokens', 'create', 'other', '--expires', life);
    expect(refused).toMatchObject({ stdout: '', exitCode: 2 });
  }
});

test('sessions list shows who is signed in, and sessions end signs them out of a running daemon', async () => {
  const workspace = makeWorkspace();
  const { managementUrl } = await startWebhookDaemon({ workspace });
  expect((await workspace.hookmill('sessions', 'list')).stdout).toBe('Nobody is signed in.\n');
  const { stdout } = await workspace.hookmill('tokens', 'create', 'laptop');
  const { headers, json } = await call(managementUrl, 'signIn', { body: { token: stdout.trim() } });
  const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
  const session = { cookie, 'x-hookmill-session': String(json.sessionKey) };
  const listed = JSON.parse((await workspace.hookmill('sessions', 'list', '-o', 'json')).stdout);
  expect(listed).toMatchObject([{ kind: 'token', name: 'laptop', from: '127.0.0.1' }]);
  expect((await call(managementUrl, 'whoAmI', { headers: session })).status).toBe(200);
  expect(await workspace.hookmill('sessions', 'end', listed[0].id)).toMatchObject({
    exitCode: 0,
    stderr: 'Ended a session of laptop: its next request is refused.\n',
  });
  expect((await call(managementUrl, 'whoAmI', { headers: session })).json.code).toBe('session-over');
  expect(await workspace.hookmill('sessions', 'end', listed[0].id)).toMatchObject({
    exitCode: 1,
    stderr: `hookmill: there is no session ${listed[0].id}; it may have ended\n`,
  });
  const audit = JSON.parse((await workspace.hookmill('audit', '-o', 'json')).stdout);
  expect(JSON.stringify(audit)).toContain(`"operation":"endSession"`);
});
