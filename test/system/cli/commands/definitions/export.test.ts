import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { send } from '../../../../support/http.ts';
import { openFactory, useManagedDaemon } from '../../../../support/management.ts';
import { makeWorkspace, type Workspace } from '../../../../support/workspace.ts';

const shared = useManagedDaemon();
const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz';

/** A factory that was made in the dashboard, with deliveries, and a directory to export to. */
async function makeInDashboard() {
  const { call, env } = await openFactory(shared());
  const create = async (body: object) => (await call('createWebhook', { body })).json;
  const { webhook, revealed } = await create({ name: 'deploys', keepHeaders: ['X-Kind'] });
  const signatureScheme = { header: 'X-Sum', hash: 'sha256', encoding: 'hex', content: '{body}' };
  await create({ name: 'custom', authMode: 'signature', signatureScheme, enabled: false });
  await create({ name: 'links', authMode: 'url_token', deliveryIdHeader: 'X-Id' });
  const gone = await create({ name: 'gone' });
  const trigger = (filter: object) => ({ provider: 'webhook', event: 'received', filter });
  const automation = async (name: string, body: object) => {
    const { status, text } = await call('createAutomation', { body: { name, prompt: 'Look.', ...body } });
    expect([status, text]).toEqual([201, expect.anything()]);
  };
  const payload = { state: ['failed'], 'odd key: #': { exists: false } };
  await automation('by-uid', { triggers: [trigger({ webhook_ids: [webhook.uid], payload })] });
  await automation('by-name', {
    prompt: '  # Two lines,\n\n\twith "quotes": and\ttabs \n',
    triggers: [trigger({ webhook: 'deploys', headers: { 'X-Kind': ['a'] } }), trigger({ webhook: 'links' })],
    ...{ enabled: false, order: '$.id', onFailure: 'hold', debounce: { for: '30s' }, runsPerHour: 3 },
  });
  await automation('of-gone', { triggers: [trigger({ webhook: 'gone' })] });
  await call('deleteWebhook', { params: { uid: gone.webhook.uid } });
  const headers = { Authorization: `Bearer ${revealed.secret}` };
  for (const body of [
    { state: 'passed', secret_note: 'keep out' },
    { state: 'failed', token: secret, text: 'x'.repeat(50), link: `https://u:${secret}@example.com` },
  ]) {
    expect((await send(webhook.url, { headers, body: JSON.stringify(body) })).status).toBe(202);
  }
  const workspace = makeWorkspace();
  const hookmill = (...args: string[]) => workspace.hookmill(...args, { env: env.server });
  const atHome = (...args: string[]) => workspace.hookmill(...args, { env: env.home });
  return { call, revealed, workspace, hookmill, atHome };
}

/** Everything below a directory, by its path. */
function readAll(workspace: Workspace, directory: string): Record<string, string> {
  const names = readdirSync(workspace.path(directory), { recursive: true, withFileTypes: true });
  const files = names.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    files.map(file => [file.slice(workspace.path(directory).length + 1), readFileSync(file, 'utf8')]),
  );
}

describe('a factory that was made in the dashboard', () => {
  let made: Awaited<ReturnType<typeof makeInDashboard>>;
  beforeAll(async () => {
    made = await makeInDashboard();
  });

  test('is exported by its daemon as files that plan to no changes', async () => {
    const { workspace, hookmill, revealed } = made;
    const exported = await hookmill('export', 'served', '--fixtures');
    expect(exported).toMatchObject({ exitCode: 0, stderr: '' });
    expect(exported.stdout).toContain('created  webhooks/deploys.yaml\n');
    const files = readAll(workspace, 'served');
    expect(
      Object.keys(files)
        .filter(path => path.endsWith('.yaml'))
        .sort(),
    ).toEqual([
      ...['automations/by-name.yaml', 'automations/by-uid.yaml', 'automations/of-gone.yaml'],
      ...['webhooks/custom.yaml', 'webhooks/deploys.yaml', 'webhooks/links.yaml'],
    ]);
    expect(files['automations/by-uid.yaml']).toContain('webhook: deploys\n');
    expect(files['automations/of-gone.yaml']).toMatch(/- wh_[0-9a-z]{24}\n/);
    const planned = await hookmill('-C', workspace.path('served'), 'plan');
    expect(planned.stdout).toContain('No changes');
    const all = JSON.stringify(files);
    for (const hidden of [secret, revealed.secret, 'keep out', 'xxxxx']) expect(all).not.toContain(hidden);
  });

  test('gets fixtures of both verdicts, which validate checks', async () => {
    const { workspace } = made;
    const fixtures = Object.entries(readAll(workspace, 'served')).filter(([path]) =>
      path.startsWith('automations/by-uid.fixtures/'),
    );
    expect(
      fixtures.map(([, text]) => JSON.parse(text)).map(({ expect: verdict, payload }) => [verdict, payload]),
    ).toEqual(
      expect.arrayContaining([
        ['no-trigger', { state: 'passed', secret_note: '(left out)' }],
        ['trigger', { state: 'failed', token: '(left out)', text: '(left out)', link: '(left out)' }],
      ]),
    );
    const validated = await workspace.hookmill('-C', workspace.path('served'), 'validate');
    expect(validated).toMatchObject({ exitCode: 0 });
  });

  test('is exported from its home in the same way, and replaced by these files', async () => {
    const { workspace, atHome, call } = made;
    const exported = await atHome('export', 'local', '--fixtures', '-o', 'json');
    expect(exported.exitCode).toBe(0);
    expect(readAll(workspace, 'local')).toEqual(readAll(workspace, 'served'));
    const { serial } = JSON.parse(exported.stdout);
    const adopted = await atHome('-C', workspace.path('local'), 'apply', '--adopt');
    expect(adopted).toMatchObject({ exitCode: 0 });
    const { json } = await call('showStatus');
    expect(json).toMatchObject({ managedBy: 'files', serial: serial + 1 });
    // Written by name now.
    const { triggers } = (await call('showAutomation', { params: { automation: 'by-uid' } })).json;
    expect(triggers).toMatchObject([{ webhook: 'deploys', byName: 'deploys' }]);
  });

  test('is not written over other content, and then nothing is written', async () => {
    const { workspace, hookmill } = made;
    workspace.write('there/webhooks/links.yaml', 'secretName: MINE\n');
    const refused = await hookmill('export', 'there');
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused.stderr).toContain('nothing was written: webhooks/links.yaml');
    expect(Object.keys(readAll(workspace, 'there'))).toEqual(['webhooks/links.yaml']);
    const again = await hookmill('export', 'served', '-o', 'json');
    expect(JSON.parse(again.stdout)).toMatchObject({
      written: [],
      unchanged: expect.arrayContaining(['webhooks/links.yaml']),
    });
  });

  test('leaves nothing of an export that cannot be finished, and names files that are not applied', async () => {
    const { workspace, hookmill } = made;
    workspace.write('half/automations/by-name.yaml/x', '');
    const refused = await hookmill('export', 'half');
    expect(refused.stderr).toContain('nothing was written: automations/by-name.yaml cannot be read (EISDIR)');
    expect(existsSync(workspace.path('half/webhooks'))).toBe(false);
    mkdirSync(workspace.path('blocked'));
    workspace.write('blocked/automations', 'a file in place of the folder\n');
    const blocked = await hookmill('export', 'blocked');
    expect(blocked.exitCode).toBe(1);
    expect(Object.keys(readAll(workspace, 'blocked'))).toEqual(['automations']);
    // Reads as missing, and cannot be created.
    mkdirSync(workspace.path('linked/automations'), { recursive: true });
    symlinkSync('nowhere', workspace.path('linked/automations/by-name.yaml'));
    const linked = await hookmill('export', 'linked');
    expect(linked.stderr).toContain(
      'nothing was written: automations/by-name.yaml cannot be read (a link or a file is in the way)',
    );
    expect(readAll(workspace, 'linked')).toEqual({});
    workspace.write('more/webhooks/own.yaml', 'secretName: OWN\n');
    const { stderr } = await hookmill('export', 'more');
    expect(stderr).toBe('webhooks/own.yaml is not applied, so a plan of this directory adds it.\n');
  });
});

test('a factory without applied definitions has nothing to export', async () => {
  const workspace = makeWorkspace();
  const { exitCode, stderr } = await workspace.hookmill('export', 'out');
  expect(exitCode).toBe(1);
  expect(stderr).toContain('nothing is applied to the factory default yet');
  expect(existsSync(workspace.path('out'))).toBe(false);
});
