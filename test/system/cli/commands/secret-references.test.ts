import { execaSync } from 'execa';
import { describe, expect, test } from 'vitest';
import { parseSettings } from '../../../../daemon/parse-settings.ts';
import { startDaemonForTest } from '../../../support/daemon.ts';
import { makeFactory, newHome } from '../../../support/factory.ts';
import { startManagedDaemon } from '../../../support/management.ts';
import { makeWorkspace, type Workspace } from '../../../support/workspace.ts';

const value = 'a-value-that-nobody-guesses';

/** A workspace whose two webhooks use a team secret that is kept in a file. */
async function makeReferring(): Promise<Workspace> {
  const workspace = makeWorkspace();
  workspace.write('kept/token', `${value}\n`);
  workspace.write('webhooks/deploys.yaml', 'secretName: TOKEN\n');
  workspace.write('webhooks/code.yaml', 'authMode: signature\nsignatureScheme: github\nsecretName: TOKEN\n');
  const set = await workspace.hookmill('secrets', 'set', 'TOKEN', '--from', referenceOf(workspace));
  expect(set).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('Set TOKEN. Run `hookmill apply`'),
  });
  return workspace;
}

const referenceOf = ({ path }: Workspace) => `file:${path('kept/token')}`;
const state = ({ read }: Workspace) => read('.hookmill/applied/default.json');

describe('a team secret that is kept elsewhere', () => {
  test('is the credential in force after an apply, and its value is nowhere in the home', async () => {
    const workspace = await makeReferring();
    const applied = await workspace.hookmill('apply', '--yes');
    expect(applied.exitCode, applied.stderr).toBe(0);
    const credentials = JSON.parse(state(workspace)).webhooks.map(
      ({ credential }: { credential: { kind: string } }) => credential.kind,
    );
    expect(credentials).toEqual(['sealed', 'digest']);
    const [text, json] = [
      await workspace.hookmill('secrets', 'list'),
      await workspace.hookmill('secrets', 'list', '-o', 'json'),
    ];
    expect(text.stdout).toContain(referenceOf(workspace));
    expect(JSON.parse(json.stdout)).toMatchObject([{ state: 'reference', from: referenceOf(workspace) }]);
    expect(text.stdout + json.stdout).not.toContain(value);
    const found = execaSync('grep', ['-rlF', value, workspace.home], { reject: false });
    expect(found.exitCode).toBe(1);
    expect((await workspace.hookmill('plan', '--detailed-exitcode')).exitCode).toBe(0);
  });

  test('that changes there is a change of the plan, also of a plan that was reviewed', async () => {
    const workspace = await makeReferring();
    await workspace.hookmill('apply', '--yes');
    workspace.write('kept/token', 'another-value-that-nobody-guesses');
    const planned = await workspace.hookmill('plan', '--out', 'reviewed.json');
    expect(planned.stdout).toContain('secret: current value → new value');
    workspace.write('kept/token', 'yet-another-value-that-nobody-guesses');
    const outdated = await workspace.hookmill('apply', 'reviewed.json');
    expect(outdated.stderr).toContain('the team secret TOKEN changed');
    workspace.write('kept/token', 'another-value-that-nobody-guesses');
    expect((await workspace.hookmill('apply', 'reviewed.json')).exitCode).toBe(0);
    expect((await workspace.hookmill('plan', '--detailed-exitcode')).exitCode).toBe(0);
  });

  test('that cannot be read fails plan and apply, and changes nothing', async () => {
    const workspace = await makeReferring();
    await workspace.hookmill('apply', '--yes');
    const before = state(workspace);
    workspace.remove('kept/token');
    workspace.write('webhooks/more.yaml', 'secretName: TOKEN\n');
    for (const command of ['plan', 'apply']) {
      const { exitCode, stderr } = await workspace.hookmill(command);
      expect(exitCode).toBe(1);
      expect(stderr).toContain(`the team secret TOKEN cannot be read from ${referenceOf(workspace)}`);
      expect(stderr).toContain('[secret/unresolved]');
    }
    expect(state(workspace)).toBe(before);
    const sent = await workspace.hookmill('send', 'deploys', '--payload', 'webhooks/more.yaml');
    expect(sent).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('cannot be read from') });
  });

  test('must fit how its webhook authenticates, like any other', async () => {
    const workspace = await makeReferring();
    workspace.write('kept/token', 'two\nlines-in-a-token');
    const { stderr } = await workspace.hookmill('apply', '--yes');
    expect(stderr).toContain('[secret/not-header-safe]');
    expect(stderr).not.toContain('lines-in-a-token');
  });

  test('can be read only where the variable is set, and says so', async () => {
    const workspace = await makeReferring();
    const from = ['secrets', 'set', 'TOKEN', '--from', 'env:KEPT_TOKEN'] as const;
    const set = await workspace.hookmill(...from);
    expect(set).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('the variable is not set') });
    const applied = await workspace.hookmill('apply', '--yes', { env: { KEPT_TOKEN: value } });
    expect(applied.exitCode, applied.stderr).toBe(0);
  });

  test('is copied to another store as the reference that it is', async () => {
    const workspace = await makeReferring();
    const copied = await workspace.hookmill('store', 'copy', '--from', '.hookmill', '--to', 'copy');
    expect(copied.exitCode, copied.stderr).toBe(0);
    const { stdout } = await workspace.hookmill('secrets', 'list', '-o', 'json', '--home', 'copy');
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'TOKEN', from: referenceOf(workspace) }]);
  });

  test('is nothing that somebody without the key can make of a value', async () => {
    const workspace = makeWorkspace();
    workspace.write('webhooks/deploys.yaml', 'secretName: TOKEN\n');
    await workspace.hookmill('secrets', 'set', 'TOKEN', { stdin: value });
    const { digest: _, ...stored } = JSON.parse(workspace.read('.hookmill/secrets.json'));
    stored.secrets[0].isReference = true;
    workspace.write('.hookmill/secrets.json', JSON.stringify(stored));
    const { exitCode, stderr } = await workspace.hookmill('plan');
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('another owner') });
    expect(stderr).not.toContain(value);
  });

  test('is not taken from a definition file', async () => {
    const workspace = makeWorkspace();
    workspace.write('webhooks/deploys.yaml', 'secretName: env:HOME\n');
    const { stdout } = await workspace.hookmill('validate');
    expect(stdout).toContain('not a valid name for a team secret');
  });
});

describe("the key secrets of the daemon's file", () => {
  test('is stored when the daemon starts, and the daemon reads the value from its own environment', async () => {
    const workspace = makeWorkspace();
    workspace.write('webhooks/deploys.yaml', 'secretName: TOKEN\n');
    const secrets = [{ name: 'TOKEN', from: 'env:KEPT_TOKEN', factories: ['default'] }];
    const daemon = await startDaemonForTest({ workspace, settings: { secrets }, env: { KEPT_TOKEN: value } });
    const token = await workspace.hookmill('tokens', 'create', 'ci', '--permission', 'manage');
    const there = { env: { HOOKMILL_TOKEN: token.stdout.trim() } };
    const applied = await workspace.hookmill('apply', '--server', daemon.managementUrl, there);
    expect(applied.exitCode, applied.stderr).toBe(0);
    // This process does not have the variable.
    expect((await workspace.hookmill('plan')).stderr).toContain('the variable is not set');
    expect(daemon.stderr() + daemon.stdout()).not.toContain(value);
    await daemon.stop();
    // The next start does not change what is there, and a secret that alerts are signed with need not be readable.
    const settings = {
      secrets: [...secrets, { name: 'ALERTS', from: 'exec:false', factories: [] }],
      alerts: [{ url: 'http://127.0.0.1:9/', secret: 'ALERTS' }],
    };
    const next = await startDaemonForTest({ workspace, settings, env: { KEPT_TOKEN: value } });
    expect(next.stderr()).toMatch(/warning: .*exited with status 1 \[secret\/unresolved\]/);
    const { stdout } = await workspace.hookmill('audit', '-o', 'json');
    const declared = JSON.parse(stdout).filter(
      ({ operation }: { operation: string }) => operation === 'declareReferences',
    );
    expect(declared).toMatchObject(['ALERTS', 'TOKEN'].map(subject => ({ factory: null, subject })));
  });

  test('does not start a daemon that would take a secret from a factory that uses it', async () => {
    const workspace = await makeReferring();
    await workspace.hookmill('apply', '--yes');
    const secrets = [{ name: 'TOKEN', from: referenceOf(workspace), factories: ['other'] }];
    workspace.write('daemon.yaml', JSON.stringify({ secrets }));
    const refused = await workspace.hookmill('serve', '--port', '0', '--config', 'daemon.yaml');
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/of the factory default uses the team secret TOKEN/),
    });
  });

  test.for([
    [[{ name: 'A', from: 'a-value', factories: [] }], 'not a reference to a secret'],
    [[{ name: 'A', from: 'env:HOOKMILL_KEY', factories: [] }], 'not a reference to a secret'],
    [[1, 2].map(() => ({ name: 'A', from: 'env:A', factories: [] })), 'the team secret A is declared twice'],
  ] as const)('refuses %j', ([secrets, message]) => {
    const { definition, diagnostics } = parseSettings('f', Buffer.from(JSON.stringify({ secrets })));
    expect(definition).toBeUndefined();
    expect(diagnostics).toMatchObject([{ severity: 'error', message: expect.stringContaining(message) }]);
  });
});

describe('the management API', () => {
  test('neither sets a reference nor replaces one, and shows it', async () => {
    const home = newHome();
    await makeFactory(home).store.teamSecrets.refer('TOKEN', 'exec:echo a-value-of-a-command', ['default']);
    const daemon = await startManagedDaemon({}, home);
    const manager = await daemon.client();
    const supply = { authMode: 'signature', signatureScheme: 'github' };
    const secret = { kind: 'supplied', value: 'exec:touch /tmp/x' };
    const refused = await manager.call('createWebhook', { body: { name: 'code', ...supply, secret } });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain(
      'the value is a reference to a secret; only `hookmill secrets set --from`',
    );
    const existing = { name: 'deploys', secret: { kind: 'existing', name: 'TOKEN' } };
    const created = await manager.call('createWebhook', { body: existing });
    expect(created.status).toBe(201);
    const params = { uid: created.json.webhook.uid };
    const rotated = await manager.call('changeWebhookSecret', { params });
    expect([rotated.status, rotated.json.code]).toEqual([409, 'secret-referenced']);
    const listed = await manager.call('listSecrets');
    expect(listed.json.secrets).toMatchObject([
      { state: 'reference', from: 'exec:echo a-value-of-a-command' },
    ]);
    expect(listed.text.replace(/exec:[^"]*/, '')).not.toContain('a-value-of-a-command');
  });
});
