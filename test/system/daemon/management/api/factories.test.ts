import { describe, expect, test } from 'vitest';
import { applyDefinitions } from '../../../../../operations/applied/apply.ts';
import type { DesiredSource } from '../../../../../operations/applied-source.ts';
import { parseDefinitions } from '../../../../../sources/parse-definitions.ts';
import { makeFactory } from '../../../../support/factory.ts';
import { send } from '../../../../support/http.ts';
import {
  type ApiClient,
  startManagedDaemon,
  useManagedDaemon,
  withNewFactory,
} from '../../../../support/management.ts';
import { storeIn } from '../../../../support/stored.ts';

const directory: DesiredSource = { kind: 'directory', directory: '/definitions' };
const repository: DesiredSource = {
  kind: 'repository',
  ...{ repository: 'https://git.example/hooks', branch: 'main', path: 'teams/pay' },
  ...{ revision: 'a'.repeat(40), author: 'A', subject: 'S', committedAt: '2026-01-01T00:00:00.000Z' },
};

const shared = useManagedDaemon();
let secrets = 0;

/** A new factory of a daemon with the webhook `pay`, whose token is `old-token-of-pay`, as applied from there. */
async function appliedFrom(source: DesiredSource, running = shared()) {
  const daemon = withNewFactory(running);
  const factory = makeFactory(daemon.home, daemon.factory);
  const secretName = `PAY_${++secrets}`;
  await factory.store.teamSecrets.set(secretName, 'old-token-of-pay', daemon.factory);
  const bytes = Buffer.from(`secretName: ${secretName}\n`);
  const apply = () =>
    applyDefinitions(
      factory,
      parseDefinitions({
        files: [{ kind: 'webhook', name: 'pay', file: 'webhooks/pay.yaml', bytes }],
        diagnostics: [],
      }),
      source,
      async () => true,
    );
  await apply();
  const manager = await daemon.client();
  const [webhook] = (await manager.call('listWebhooks')).json.webhooks;
  await expect.poll(async () => (await send(webhook.url, { body: '{}' })).status).toBe(401);
  const post = async (token: string) => {
    const headers = { Authorization: `Bearer ${token}` };
    return (await send(webhook.url, { headers, body: JSON.stringify(Math.random()) })).status;
  };
  const toggle = async (enabled: boolean) =>
    (await manager.call('changeWebhook', { params: { uid: webhook.uid }, body: { enabled } })).status;
  return { daemon, factory, manager, secretName, webhook, post, toggle, apply };
}

const draft = { prompt: 'Look.', triggers: [] as object[] };

describe.each([
  ['files', directory, 'webhooks/'],
  ['repository', repository, 'teams/pay/webhooks/'],
] as const)('a factory of %s', (management, source, folder) => {
  test('shows which file each webhook comes from, and where that file comes from', async () => {
    const { manager, secretName, webhook } = await appliedFrom(source);
    expect(webhook).toMatchObject({ name: 'pay', file: `${folder}pay.yaml` });
    const { json } = await manager.call('showStatus');
    expect(json).toMatchObject({ managedBy: management, source: { kind: source.kind }, edited: false });
    const shown = await manager.call('showWebhook', { params: { uid: webhook.uid } });
    expect(shown.json.yaml).toBe(`secretName: ${secretName}\n`);
  });

  test('replaces a secret with an overlap, which the next apply keeps', async () => {
    const { daemon, factory, manager, secretName, webhook, post, apply } = await appliedFrom(source);
    const params = { uid: webhook.uid };
    const call = async (id: 'beginSecretRotation' | 'endSecretRotation') =>
      (await manager.call(id, { params, body: {} })).json;
    const begun = await call('beginSecretRotation');
    expect(begun).toMatchObject({ secretName, isContinued: false });
    expect(await call('beginSecretRotation')).toEqual({ ...begun, isContinued: true });
    const secrets = await factory.store.teamSecrets.open([secretName], daemon.factory);
    const token = secrets.get(secretName)?.value?.text ?? '';
    expect(token).toMatch(/^[\w-]{43}$/);
    expect([await post('old-token-of-pay'), await post(token)]).toEqual([202, 202]);
    await apply();
    expect((await manager.call('showStatus')).json).toMatchObject({ managedBy: management, edited: false });
    expect([await post('old-token-of-pay'), await post(token)]).toEqual([202, 202]);
    await call('endSecretRotation');
    expect([await post('old-token-of-pay'), await post(token)]).toEqual([401, 202]);
    expect((await call('endSecretRotation')).code).toBe('secret-overlap');
  });

  test('refuses changes that belong in its files, and shows what to write there', async () => {
    const { manager, secretName, webhook } = await appliedFrom(source);
    const params = { uid: webhook.uid };
    const trigger = { provider: 'webhook', event: 'received', filter: { webhook_ids: [webhook.uid] } };
    const automation = { ...draft, name: 'triage', triggers: [trigger] };
    const refused = async (...call: Parameters<ApiClient['call']>) => {
      const { json } = await manager.call(...call);
      expect(json.code).toBe(`managed-in-${management}`);
      return json.instead;
    };
    const secret = { kind: 'existing', name: secretName };
    expect(await refused('createWebhook', { body: { name: 'ship', secret } })).toMatchObject({
      file: `${folder}ship.yaml`,
      yaml: `secretName: ${secretName}\n`,
    });
    expect((await refused('changeWebhook', { params, body: { name: 'paid' } })).text).toContain('renam');
    expect(await refused('deleteWebhook', { params })).toMatchObject({ file: `${folder}pay.yaml` });
    const rotate = await refused('changeWebhookSecret', { params });
    expect(rotate.text).toContain(`hookmill secrets generate ${secretName}`);
    expect(rotate.text).toContain(
      management === 'files' ? 'run `hookmill apply`' : 'next change of the branch',
    );
    const { file, yaml } = await refused('createAutomation', { body: automation });
    expect(file).toBe(`${folder.replace('webhooks', 'automations')}triage.yaml`);
    expect(yaml).toContain(`webhook: ${webhook.name}\n`);
    expect((await manager.call('showStatus')).json.serial).toBe(1);
  });

  test('toggles Enabled', async () => {
    const { manager, post, toggle } = await appliedFrom(source);
    expect(await toggle(false)).toBe(200);
    expect(await post('old-token-of-pay')).toBe(404);
    // A hand that edited the state would be undone by the next reconcile; the toggle is not.
    expect((await manager.call('showStatus')).json).toMatchObject({ edited: false, managedBy: management });
    expect(await toggle(true)).toBe(200);
    expect(await post('old-token-of-pay')).toBe(202);
  });
});

test('a toggle takes a changed team secret up on a factory of files', async () => {
  const { factory, secretName, post, toggle } = await appliedFrom(directory);
  await factory.store.teamSecrets.set(secretName, 'new-token-of-pay');
  expect(await post('old-token-of-pay')).toBe(202);
  await toggle(false);
  await toggle(true);
  expect([await post('old-token-of-pay'), await post('new-token-of-pay')]).toEqual([401, 202]);
});

test('a toggle keeps the credential in force on a factory of a repository', async () => {
  const { factory, secretName, post, toggle } = await appliedFrom(repository);
  await factory.store.teamSecrets.set(secretName, 'new-token-of-pay');
  await toggle(false);
  await toggle(true);
  expect([await post('old-token-of-pay'), await post('new-token-of-pay')]).toEqual([202, 401]);
});

test('a toggle lasts until the next apply says otherwise', async () => {
  const { toggle, post, apply } = await appliedFrom(directory);
  await toggle(false);
  expect(await apply()).toMatchObject({ result: 'applied', changes: [{ fields: [{ field: 'enabled' }] }] });
  await expect.poll(() => post('old-token-of-pay')).toBe(202);
});

test('an apply takes over a factory managed in the dashboard only with --adopt', async () => {
  const daemon = withNewFactory(shared());
  const manager = await daemon.client();
  const created = await manager.call('createWebhook', { body: { name: 'pay' } });
  const body = { files: [], origin: 'ci', confirm: ['destroy'] };
  const refused = await manager.call('apply', { body });
  expect(refused.json).toMatchObject({
    code: 'managed-in-dashboard',
    diagnostics: [{ code: 'factory/dashboard-managed' }],
  });
  expect((await manager.call('plan', { body: { files: [] } })).json).toMatchObject({
    summary: { add: 0, change: 0, destroy: 1 },
    diagnostics: [{ code: 'factory/dashboard-managed', severity: 'warning' }],
  });
  const files = [{ path: 'webhooks/pay.yaml', content: `secretName: ${created.json.webhook.secretName}\n` }];
  const adopted = await manager.call('apply', { body: { ...body, files, adopt: true } });
  expect(adopted.json).toMatchObject({ result: 'applied', summary: { add: 0, change: 0, destroy: 0 } });
  expect((await manager.call('showStatus')).json.managedBy).toBe('files');
});

test('plans and applies definitions that are sent; the secrets they name stay in the home', async () => {
  const daemon = withNewFactory(shared());
  const manager = await daemon.client();
  const factory = makeFactory(daemon.home, daemon.factory);
  const files = [{ path: 'webhooks/pay.yaml', content: 'authMode: tokn\nsecretName: PLANNED\n' }];
  const wrong = await manager.call('plan', { body: { files } });
  expect(wrong.json).toMatchObject({
    code: 'definitions-invalid',
    diagnostics: [{ file: 'webhooks/pay.yaml', code: 'definition/value', range: { start: { line: 1 } } }],
  });
  const right = [{ path: 'webhooks/pay.yaml', content: 'secretName: PLANNED\n' }];
  expect(
    (await manager.call('apply', { body: { files: right, origin: 'ci' } })).json.diagnostics,
  ).toMatchObject([{ code: 'secret/missing' }]);
  await factory.store.teamSecrets.create('PLANNED', undefined, daemon.factory);
  const reader = await daemon.client({ permission: 'read' });
  expect((await reader.call('plan', { body: { files: right } })).json).toMatchObject({
    changes: [{ action: 'create', kind: 'webhook', name: 'pay' }],
    summary: { add: 1, change: 0, destroy: 0 },
  });
  const applied = await manager.call('apply', { body: { files: right, origin: 'ci' } });
  expect(applied).toMatchObject({
    status: 200,
    headers: { etag: '"1"' },
    json: { result: 'applied', serial: 1 },
  });
  const [webhook] = applied.json.webhooks;
  expect(applied.json.changes[0]).toMatchObject({ uid: webhook.uid, url: webhook.url });
  const gone = { files: [], origin: 'ci' };
  expect((await manager.call('apply', { body: gone })).json.code).toBe('changes-unconfirmed');
  const stale = await manager.call('apply', {
    body: { ...gone, confirm: ['destroy'] },
    headers: { 'if-match': '"7"' },
  });
  expect(stale.json.code).toBe('serial-moved');
  expect(
    (await manager.call('apply', { body: { ...gone, confirm: ['destroy'] } })).json.summary.destroy,
  ).toBe(1);
  expect((await storeIn(daemon.home).appliedStates.read(daemon.factory)).webhooks).toEqual([]);
});

test('applies another use of a team secret only for a request that confirms it', async () => {
  const daemon = withNewFactory(shared());
  const manager = await daemon.client();
  await makeFactory(daemon.home).store.teamSecrets.set(
    'OTHERWISE',
    'value-of-the-team-secret',
    daemon.factory,
  );
  const pay = { path: 'webhooks/pay.yaml', content: 'secretName: OTHERWISE\n' };
  await manager.call('apply', { body: { files: [pay], origin: 'ci' } });
  const orders = { path: 'webhooks/orders.yaml', content: 'authMode: url_token\nsecretName: OTHERWISE\n' };
  const body = { files: [pay, orders], origin: 'ci' };
  expect((await manager.call('plan', { body: { files: body.files } })).json.changes).toMatchObject([
    { action: 'create', name: 'orders', confirmation: { reason: 'shared-secret' } },
    { action: 'no-op', name: 'pay' },
  ]);
  const refused = await manager.call('apply', { body: { ...body, confirm: ['destroy', 'other-factory'] } });
  expect(refused).toMatchObject({
    status: 409,
    json: { code: 'changes-unconfirmed', detail: expect.stringContaining('"confirm": ["shared-secret"]') },
  });
  const confirmed = { ...body, confirm: ['shared-secret'] };
  expect((await manager.call('apply', { body: confirmed })).json).toMatchObject({ serial: 2 });
});

test('plans a draft of an automation, new or existing, and writes nothing', async () => {
  const daemon = withNewFactory(shared());
  const manager = await daemon.client();
  const { webhook } = (await manager.call('createWebhook', { body: { name: 'pay' } })).json;
  const draft = (prompt: string) => ({
    name: 'triage',
    prompt,
    triggers: [{ provider: 'webhook', event: 'received', filter: { webhook_ids: [webhook.uid] } }],
  });
  const reader = await daemon.client({ permission: 'read' });
  const planned = await reader.call('planAutomation', { body: draft('Look.') });
  expect(planned).toMatchObject({
    status: 200,
    headers: { etag: '"1"' },
    json: { change: { action: 'create', name: 'triage', impact: { kind: 'automation', judged: 0 } } },
  });
  expect((await reader.call('listAutomations')).json.automations).toEqual([]);
  await manager.call('createAutomation', { body: draft('Look.') });
  expect((await reader.call('planAutomation', { body: draft('Act.') })).json.change).toEqual({
    ...{ action: 'update', kind: 'automation', name: 'triage' },
    fields: [{ field: 'prompt', path: 'prompt', before: 'Look.', after: 'Act.' }],
  });
  expect((await reader.call('planAutomation', { body: { ...draft(''), triggers: [] } })).status).toBe(422);
});

test('does not apply files to a factory that follows a repository', async () => {
  const { manager } = await appliedFrom(repository);
  const body = { files: [], origin: 'ci', confirm: ['destroy'], adopt: true };
  expect((await manager.call('apply', { body })).json.code).toBe('managed-in-repository');
});

test('lists the factories that a token may see', async () => {
  const { daemon } = await appliedFrom(directory, await startManagedDaemon());
  const seen = async (factory: string | null) =>
    (await (await daemon.client({ factory, permission: 'read' })).call('listFactories')).json.factories.map(
      ({ factory }: { factory: string }) => factory,
    );
  const other = await daemon.client({ factory: 'other' });
  expect(
    (await other.call('createWebhook', { params: { factory: 'other' }, body: { name: 'x' } })).status,
  ).toBe(201);
  expect(await seen(null)).toEqual(['default', daemon.factory, 'other']);
  expect(await seen('other')).toEqual(['other']);
  expect(await seen('fresh')).toEqual(['fresh']);
});
