import { expect, test } from 'vitest';
import { webhooksMax } from '../../../../../schema/factory-size.ts';
import { schemes } from '../../../../../signatures/schemes.ts';
import {
  type ApiClient,
  startManagedDaemon,
  useManagedDaemon,
  withNewFactory,
} from '../../../../support/management.ts';
import { credentialsFor } from '../../../../unit/signatures/received.ts';

const shared = useManagedDaemon({ limits: { deliveriesPerMinute: 2, bodyBytes: 2_000 } });

async function ready(running = shared()) {
  const daemon = withNewFactory(running);
  const manager = await daemon.client();
  return { daemon, manager };
}

async function createWebhook(manager: ApiClient, body: object): Promise<string> {
  const { status, json } = await manager.call('createWebhook', { body });
  expect({ status, json }).toMatchObject({ status: 201 });
  return json.webhook.uid;
}

async function sendTest(manager: ApiClient, uid: string, body: object = {}) {
  const { status, json, text } = await manager.call('sendTest', { params: { uid }, body });
  return { code: status, text, ...json };
}

/** Creates an automation on the webhook, with a filter for its payload. */
async function listen(manager: ApiClient, uid: string, name: string, filter: object = {}) {
  const triggers = [{ provider: 'webhook', event: 'received', filter: { webhook_ids: [uid], ...filter } }];
  const created = await manager.call('createAutomation', { body: { name, prompt: 'Look.', triggers } });
  expect(created.status).toBe(201);
}

const showDelivery = async (manager: ApiClient, delivery: string) =>
  (await manager.call('showDelivery', { params: { delivery } })).json;

test.each(['token', 'url_token'] as const)(
  'posts an event of its own with the token of a webhook: authMode %s',
  async authMode => {
    const { daemon, manager } = await ready();
    const { json } = await manager.call('createWebhook', { body: { name: 'deploys', authMode } });
    const { uid } = json.webhook;
    const secret = json.revealed.secret ?? json.revealed.url.split('/').at(-1);
    expect(secret).toMatch(/^\S{20,}$/);
    await listen(manager, uid, 'triage', { payload: { state: ['failed'] } });
    const sent = await sendTest(manager, uid);
    expect(sent).toMatchObject({ status: 202, outcome: 'Accepted', reason: null, remedy: null, runs: 0 });
    expect(sent.tookMs).toBeGreaterThan(0);
    const delivery = await showDelivery(manager, sent.deliveryId);
    expect(delivery).toMatchObject({ uid, outcome: 'Accepted', identity: expect.stringMatching(/^test-/) });
    expect(delivery.headers).toMatchObject({ 'user-agent': 'hookmill-test' });
    const payload = JSON.parse(delivery.payload);
    expect(payload).toMatchObject({ type: 'hookmill.test', id: delivery.identity });
    const { entries } = (await manager.call('listAudit')).json;
    expect(entries[0]).toMatchObject({ operation: 'sendTest', subject: 'deploys: Accepted' });
    expect(entries[0]).not.toHaveProperty('unfinished');
    expect(daemon.logged()).not.toContain(secret);
    expect(sent.text).not.toContain(secret);
  },
);

const schemeOf = (id: string) => schemes.find(scheme => scheme.id === id) ?? expect.unreachable(id);
const secretOf = (id: string) => credentialsFor(schemeOf(id)).secret;
const symmetric = schemes.filter(({ primitive }) => primitive === 'hmac' || primitive === 'shared-secret');

test('signs under every scheme whose sender shares its secret', async () => {
  const identities: unknown[] = [];
  for (let at = 0; at < symmetric.length; at += webhooksMax) {
    const { daemon, manager } = await ready();
    const files: { path: string; content: string }[] = [];
    for (const { id } of symmetric.slice(at, at + webhooksMax)) {
      const secretName = id.replaceAll('-', '_').toUpperCase();
      await daemon.store.teamSecrets.set(secretName, secretOf(id), daemon.factory);
      const definition = { authMode: 'signature', signatureScheme: id, secretName };
      files.push({ path: `webhooks/${id}.yaml`, content: JSON.stringify(definition) });
    }
    const applied = await manager.call('apply', { body: { files, origin: '/definitions', adopt: true } });
    expect(applied).toMatchObject({ status: 200 });
    const { webhooks } = (await manager.call('listWebhooks')).json;
    for (const { uid, signatureScheme } of webhooks) {
      const sent = await sendTest(manager, uid);
      expect({ signatureScheme, ...sent }).toMatchObject({ outcome: 'Accepted', reason: null });
      expect(sent.text).not.toContain(secretOf(signatureScheme));
      const { deliveries } = daemon.store;
      const { identity, headers } = (await deliveries.findDelivery(sent.deliveryId)) ?? {};
      const payload = Buffer.from((await deliveries.readPayload(sent.deliveryId)) ?? '').toString();
      expect(JSON.parse(payload).type).toBe('hookmill.test');
      for (const name of schemeOf(signatureScheme).eventHeaders ?? [])
        expect(headers?.[name.toLowerCase()]).toBe('hookmill.test');
      identities.push(identity);
    }
  }
  expect(identities).toHaveLength(symmetric.length);
  // A list of fields is hashed, and so is a body whose sender gives no ID that may count.
  const named = identities.filter(identity => /^(?:test-|\d+:test-)/.test(String(identity)));
  expect(named).toHaveLength(symmetric.length);
});

test('names the ID wherever the webhook looks for one', async () => {
  const { manager } = await ready();
  const body = { name: 'deploys', deliveryIdField: ['$.event.id', '$.items[1]["odd key"]'] };
  const uid = await createWebhook(manager, body);
  const { deliveryId } = await sendTest(manager, uid);
  const { identity, identitySource, payload } = await showDelivery(manager, deliveryId);
  expect(identitySource).toBe('deliveryIdField');
  const { id } = JSON.parse(payload);
  expect(identity).toBe(`${id.length}:${id}`.repeat(2));
});

test('starts no run with its own event unless it may, and says which automation would', async () => {
  const { manager } = await ready();
  const uid = await createWebhook(manager, { name: 'deploys' });
  await listen(manager, uid, 'everything');
  await listen(manager, uid, 'agents', { headers: { 'User-Agent': { $like: ['hookmill*'] } } });
  const refused = await sendTest(manager, uid);
  expect(refused).toMatchObject({
    code: 'test-would-start',
    detail: expect.stringContaining('would start runs of everything and agents;'),
  });
  expect((await manager.call('listDeliveries')).json.deliveries).toEqual([]);
  const operations = (await manager.call('listAudit')).json.entries.map(
    ({ operation }: { operation: string }) => operation,
  );
  expect(operations).not.toContain('sendTest');
  expect(await sendTest(manager, uid, { mayStartRuns: true })).toMatchObject({
    outcome: 'Accepted',
    runs: 2,
  });
  const payload = '{"state": "failed"}';
  expect(await sendTest(manager, uid, { payload })).toMatchObject({ outcome: 'Accepted', runs: 2 });
});

test('sends the payload and the event headers that it is given, byte for byte', async () => {
  const { manager } = await ready();
  const body = {
    name: 'github',
    authMode: 'signature',
    signatureScheme: 'github',
    secret: { kind: 'generated' },
  };
  const uid = await createWebhook(manager, body);
  await listen(manager, uid, 'pushes', { headers: { 'X-GitHub-Event': ['push'] }, payload: { n: [1] } });
  const payload = '{ "n": 1, "é": "\\u00e9" }';
  const sent = await sendTest(manager, uid, { payload, headers: { 'x-GitHub-event': 'push' } });
  expect(sent).toMatchObject({ outcome: 'Accepted', runs: 1 });
  expect(await showDelivery(manager, sent.deliveryId)).toMatchObject({
    payload,
    headers: { 'x-github-event': 'push' },
  });
  for (const headers of [
    { 'X-Hub-Signature-256': 'x' },
    { Host: 'x' },
    { 'Transfer-Encoding': 'chunked' },
    { 'a b': 'x' },
    { a: 'x\ny' },
  ])
    expect(await sendTest(manager, uid, { headers })).toMatchObject({ code: 'request-invalid' });
});

test('signs with the secret in force, although the team secret has a newer value', async () => {
  const { daemon, manager } = await ready();
  const secret = {
    kind: 'supplied',
    value: 'of-the-provider',
    name: `SECRET_${daemon.factory.replace('factory-', '')}`,
  };
  const body = { name: 'github', authMode: 'signature', signatureScheme: 'github', secret };
  const uid = await createWebhook(manager, body);
  await daemon.store.teamSecrets.set(secret.name, 'a-newer-value-of-it', daemon.factory);
  expect(await sendTest(manager, uid)).toMatchObject({ outcome: 'Accepted' });
});

test('tells that an ID in the payload was sent before', async () => {
  const { manager } = await ready();
  const uid = await createWebhook(manager, { name: 'deploys', deliveryIdField: '$.id' });
  const first = await sendTest(manager, uid, { payload: '{"id":1}' });
  const second = await sendTest(manager, uid, { payload: '{"id":1}' });
  expect(first.outcome).toBe('Accepted');
  expect(second).toMatchObject({ status: 202, outcome: 'Duplicate', runs: 0 });
  expect(second.deliveryId).not.toBe(first.deliveryId);
  expect(await showDelivery(manager, second.deliveryId)).toMatchObject({ duplicateOf: first.deliveryId });
});

test('tells why the ingress refuses it: disabled, too many, too large', async () => {
  const { manager } = await ready();
  const uid = await createWebhook(manager, { name: 'deploys' });
  const large = await sendTest(manager, uid, { payload: JSON.stringify('x'.repeat(2_100)) });
  expect(large).toMatchObject({
    status: 413,
    outcome: 'Rejected (too large)',
    deliveryId: expect.any(String),
  });
  await sendTest(manager, uid);
  await sendTest(manager, uid);
  expect(await sendTest(manager, uid)).toMatchObject({
    ...{ status: 429, outcome: null, deliveryId: null, runs: 0 },
    reason: expect.stringMatching(/^Rate limit reached: 2 deliveries per minute\. Retry after \d+ s\.$/),
  });
  await manager.call('changeWebhook', { params: { uid }, body: { enabled: false } });
  expect(await sendTest(manager, uid)).toMatchObject({
    ...{ status: 404, outcome: null, deliveryId: null },
    reason: 'the webhook deploys is disabled, so its URL answers 404',
    remedy: 'Enable it',
  });
  await manager.call('changeWebhook', { params: { uid }, body: { enabled: true } });
});

test('refuses what it has no credential for, and says who can send', async () => {
  const { daemon, manager } = await ready();
  const signed = { authMode: 'signature', secret: { kind: 'blank' } };
  const unset = await createWebhook(manager, { name: 'stripe', ...signed, signatureScheme: 'stripe' });
  expect(await sendTest(manager, unset)).toMatchObject({
    ...{
      code: 'test-impossible',
      detail: expect.stringContaining('has no value; set it with `hookmill secrets set'),
    },
  });
  const ed25519 = schemes.find(({ id }) => id === 'discord');
  if (!ed25519) throw new Error('there is no scheme with a public key');
  const secret = { kind: 'supplied', value: credentialsFor(ed25519).secret };
  const body = { name: 'discord', authMode: 'signature', signatureScheme: 'discord', secret };
  expect(await sendTest(manager, await createWebhook(manager, body))).toMatchObject({
    detail: expect.stringContaining('the public key of the sender, who alone can sign'),
  });
  const claims = { repository_id: ['1'] };
  const oidc = await createWebhook(manager, {
    name: 'ci',
    authMode: 'oidc',
    issuer: 'github-actions',
    claims,
  });
  expect(await sendTest(manager, oidc)).toMatchObject({
    code: 'test-impossible',
    detail: expect.stringContaining('`hookmill send ci --oidc`'),
  });
  const token = await createWebhook(manager, { name: 'deploys' });
  const { secretName } = (await manager.call('showWebhook', { params: { uid: token } })).json;
  await daemon.store.teamSecrets.set(secretName, 'a-newer-value-of-it', daemon.factory);
  expect(await sendTest(manager, token)).toMatchObject({
    detail: expect.stringContaining('has a newer value than the webhook uses'),
  });
  const reader = await daemon.client({ permission: 'read' });
  expect(await reader.call('sendTest', { params: { uid: token } })).toMatchObject({ status: 403 });
});

test.each(['0.0.0.0', '::'])('reaches an ingress that listens at %s, behind TLS and a path', async host => {
  const baseUrl = 'https://hooks.example.com/in';
  const { manager } = await ready(await startManagedDaemon({ host, baseUrl, trustProxies: ['127.0.0.1'] }));
  // Its signature covers the URL that senders know.
  const scheme = schemes.find(({ id }) => id === 'trello');
  if (!scheme) throw new Error('there is no scheme that signs the URL');
  const secret = { kind: 'supplied', value: credentialsFor(scheme).secret };
  const body = { name: 'trello', authMode: 'signature', signatureScheme: 'trello', secret };
  const uid = await createWebhook(manager, body);
  expect(await sendTest(manager, uid)).toMatchObject({ outcome: 'Accepted' });
});
