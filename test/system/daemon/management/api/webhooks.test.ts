import { describe, expect, test } from 'vitest';
import { apiRoutes, type OperationId } from '../../../../../schema/api/routes.ts';
import { describeScheme } from '../../../../../signatures/schemes.ts';
import { signRequest } from '../../../../../signatures/sign.ts';
import { makeFactory } from '../../../../support/factory.ts';
import { send } from '../../../../support/http.ts';
import { type FactoryDaemon, useManagedDaemon, withNewFactory } from '../../../../support/management.ts';

const post = (url: string, token?: string) =>
  send(url, {
    body: JSON.stringify({ at: Math.random() }),
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
  });

const shared = useManagedDaemon();

/** A webhook in a factory of the shared daemon: by default, in a new one. */
async function withWebhook(body: object = { name: 'deploys' }, daemon = withNewFactory(shared())) {
  const manager = await daemon.client();
  const created = await manager.call('createWebhook', { body });
  expect(created.json).toMatchObject({ webhook: { name: 'deploys' } });
  const { webhook, revealed } = created.json;
  return { daemon, manager, webhook, revealed, params: { uid: webhook.uid } };
}

/** A team secret that no other test uses. By default, every factory may use it. */
async function withSecret(daemon: FactoryDaemon, factory?: string): Promise<string> {
  const name = daemon.factory.replace('factory-', 'SHARED_');
  await makeFactory(daemon.home).store.teamSecrets.set(name, 'value-of-the-team-secret', factory);
  return name;
}

// The first webhook of the home, so its secret has the first name.
test('creates a webhook whose secret is generated, shown once, and accepted at once', async () => {
  const { daemon, manager, webhook, revealed, params } = await withWebhook();
  expect(webhook).toMatchObject({
    authMode: 'token',
    secretName: 'DEPLOYS_TOKEN',
    credential: 'set',
    file: null,
  });
  expect(await post(webhook.url, revealed.secret)).toMatchObject({ status: 202 });
  for (const answer of [
    await manager.call('showWebhook', { params }),
    await manager.call('listWebhooks'),
    await manager.call('listSecrets'),
    await manager.call('showStatus'),
  ]) {
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain(revealed.secret);
  }
  expect(daemon.logged()).not.toContain(revealed.secret);
});

test('shows the URL of a url_token webhook with its token once, and with a placeholder afterwards', async () => {
  const { manager, webhook, revealed, params } = await withWebhook({
    name: 'deploys',
    authMode: 'url_token',
  });
  expect(webhook.url).toBe(revealed.url.replace(/[^/]+$/, '{token}'));
  expect(revealed.secret).toBeUndefined();
  expect(await post(revealed.url)).toMatchObject({ status: 202 });
  const shown = await manager.call('showWebhook', { params });
  expect(shown.json.url).toBe(webhook.url);
});

test('rotates: the old secret is refused and the new one accepted on the very next request', async () => {
  const { manager, webhook, revealed, params } = await withWebhook();
  const rotated = await manager.call('changeWebhookSecret', { params });
  expect(rotated.status).toBe(200);
  expect(await post(webhook.url, revealed.secret)).toMatchObject({ status: 401 });
  expect(await post(webhook.url, rotated.json.revealed.secret)).toMatchObject({ status: 202 });
});

test('toggles: 404 while disabled, 202 once enabled, and the history stays', async () => {
  const { manager, webhook, revealed, params } = await withWebhook();
  const toggle = (enabled: boolean) => manager.call('changeWebhook', { params, body: { enabled } });
  await post(webhook.url, revealed.secret);
  expect((await toggle(false)).json.enabled).toBe(false);
  expect(await post(webhook.url, revealed.secret)).toMatchObject({ status: 404 });
  await toggle(true);
  expect(await post(webhook.url, revealed.secret)).toMatchObject({ status: 202 });
  const { json } = await manager.call('listDeliveries', { query: { webhook: webhook.uid } });
  expect(json.deliveries).toHaveLength(2);
});

test('deletes: 404 at once; its automation stays, marked, and fires no more', async () => {
  const { manager, webhook, revealed, params } = await withWebhook();
  const triggers = [{ provider: 'webhook', event: 'received', filter: { webhook_ids: [webhook.uid] } }];
  const body = { name: 'triage', prompt: 'Look.', triggers };
  expect((await manager.call('createAutomation', { body })).json.triggers).toEqual([
    { uid: webhook.uid, webhook: 'deploys' },
  ]);
  await post(webhook.url, revealed.secret);
  expect((await manager.call('listRuns')).json.runs).toHaveLength(1);
  expect((await manager.call('deleteWebhook', { params })).status).toBe(204);
  expect(await post(webhook.url, revealed.secret)).toMatchObject({ status: 404 });
  const { json } = await manager.call('listAutomations');
  expect(json.automations[0].triggers).toEqual([{ uid: webhook.uid, webhook: null }]);
  const again = await manager.call('createWebhook', { body: { name: 'deploys' } });
  expect(again.json.webhook.uid).not.toBe(webhook.uid);
  expect((await manager.call('listRuns')).json.runs).toHaveLength(1);
});

describe('the secret of a new webhook', () => {
  const github = { name: 'deploys', authMode: 'signature', signatureScheme: 'github' };
  const signed = (scheme: string, secret: string, body: string) => {
    const description = describeScheme(scheme);
    if (!description) throw new Error(`no scheme ${scheme}`);
    const url = 'http://127.0.0.1/';
    return signRequest(description, secret, {
      body: Buffer.from(body),
      url,
      method: 'POST',
      nowMs: Date.now(),
      id: 'm',
    });
  };

  test('may be left blank until the provider has issued it, and is supplied in a second step', async () => {
    const { manager, webhook, revealed, params } = await withWebhook(github);
    expect(webhook.credential).toBe('not set');
    expect(revealed).toBeNull();
    expect(await send(webhook.url, { body: '{}' })).toMatchObject({ status: 401 });
    const supplied = await manager.call('changeWebhookSecret', {
      params,
      body: { value: 'of-the-provider' },
    });
    expect(supplied.json).toMatchObject({ revealed: null, webhook: { credential: 'set' } });
    expect(supplied.text).not.toContain('of-the-provider');
    const headers = signed('github', 'of-the-provider', '{"a":1}');
    expect(await send(webhook.url, { body: '{"a":1}', headers })).toMatchObject({ status: 202 });
  });

  test('is generated where it is left blank for a Standard Webhooks sender', async () => {
    const scheme = 'standard-webhooks';
    const { webhook, revealed } = await withWebhook({ ...github, signatureScheme: scheme });
    expect(revealed.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const headers = signed(scheme, revealed.secret, '{"a":1}');
    expect(await send(webhook.url, { body: '{"a":1}', headers })).toMatchObject({ status: 202 });
  });

  test('may be a team secret that there is, whose value is never shown', async () => {
    const daemon = withNewFactory(shared());
    const secret = { kind: 'existing', name: await withSecret(daemon) };
    const { revealed, webhook } = await withWebhook({ name: 'deploys', secret }, daemon);
    expect(revealed).toBeNull();
    expect(await post(webhook.url, 'value-of-the-team-secret')).toMatchObject({ status: 202 });
    const manager = await daemon.client();
    for (const id of ['listSecrets', 'listWebhooks'] as const) {
      expect((await manager.call(id)).text).not.toContain('value-of-the-team-secret');
    }
  });

  /** Shared by all cases, because what is refused changes nothing. */
  let untouched: ReturnType<typeof withWebhook> | undefined;

  test.each([
    [{ name: 'a', secret: { kind: 'existing', name: 'NO_SUCH' } }, 'secret-missing', undefined],
    [{ name: 'a', secret: { kind: 'generated', name: 'DEPLOYS_TOKEN' } }, 'secret-taken', undefined],
    [{ name: 'a', secret: { kind: 'supplied', value: 'x' } }, 'request-invalid', '/secret/kind'],
    [
      { ...github, name: 'a', signatureScheme: 'stripe', secret: { kind: 'generated' } },
      'request-invalid',
      '/secret/kind',
    ],
    [{ ...github, name: 'a', secret: { kind: 'supplied', value: ' ' } }, 'request-invalid', '/secret/value'],
    [{ ...github, name: 'a', signatureScheme: 'githbu' }, 'request-invalid', '/signatureScheme'],
    [{ name: 'a', authMode: 'signature' }, 'request-invalid', '/authMode'],
    [{ name: 'a', signatureScheme: 'github' }, 'request-invalid', '/signatureScheme'],
    [{ name: 'Not a name' }, 'request-invalid', '/name'],
    [{ name: 'a', deliveryIdHeader: 'Authorization' }, 'request-invalid', '/deliveryIdHeader'],
    [{ name: 'a', colour: 'red' }, 'request-invalid', '/colour'],
    [{}, 'request-invalid', '/name'],
    [{ name: 'deploys' }, 'name-taken', undefined],
  ])('refuses %j with %s at %s, and keeps nothing', async (body, code, pointer) => {
    untouched ??= withWebhook();
    const { manager } = await untouched;
    const before = await manager.call('listSecrets');
    const { json } = await manager.call('createWebhook', { body });
    expect(json.code).toBe(code);
    if (pointer !== undefined)
      expect(json.mistakes.map((one: { pointer: string }) => one.pointer)).toContain(pointer);
    expect((await manager.call('listSecrets')).text).toBe(before.text);
    expect((await manager.call('listWebhooks')).json.webhooks).toHaveLength(1);
  });

  test('is its factory’s own: the manager of another one can neither name nor change nor see it', async () => {
    const { daemon, webhook, revealed, params } = await withWebhook();
    const unused = await withSecret(daemon, daemon.factory);
    const other = await withNewFactory(shared()).client();
    const call = (id: OperationId, body?: object) => other.call(id, { body });
    for (const name of [webhook.secretName, unused]) {
      const secret = { kind: 'existing', name };
      const named = await call('createWebhook', { name: 'forger', secret });
      expect([named.status, named.json.code]).toEqual([409, 'secret-missing']);
      const taken = await call('createWebhook', { name: 'forger', secret: { kind: 'generated', name } });
      expect(taken.json.code).toBe('secret-taken');
      const files = [{ path: 'webhooks/forger.yaml', content: `secretName: ${name}\n` }];
      const applied = await call('apply', { files, origin: 'here' });
      expect(applied.json.diagnostics).toMatchObject([{ code: 'secret/not-shared' }]);
      expect((await call('listSecrets')).text).not.toContain(`"${name}"`);
    }
    expect(await post(webhook.url, revealed.secret)).toMatchObject({ status: 202 });
    const manager = await daemon.client();
    expect((await manager.call('changeWebhookSecret', { params })).status).toBe(200);
  });

  test('is not used in another way until the request confirms it', async () => {
    const daemon = withNewFactory(shared());
    const secret = { kind: 'existing', name: await withSecret(daemon) };
    const other = await withNewFactory(shared()).client();
    const hidden = { name: 'hidden', authMode: 'url_token', secret };
    expect((await other.call('createWebhook', { body: hidden })).status).toBe(201);
    const manager = await daemon.client();
    const refused = await manager.call('createWebhook', { body: { name: 'deploys', secret } });
    expect([refused.status, refused.json.code]).toEqual([409, 'secret-shared']);
    expect(refused.text).toContain('allowShared');
    expect(refused.text).not.toContain('hidden');
    const same = await manager.call('createWebhook', { body: { ...hidden, name: 'orders' } });
    expect(same.status).toBe(201);
    const confirmed = { name: 'deploys', secret: { ...secret, allowShared: true } };
    expect((await manager.call('createWebhook', { body: confirmed })).status).toBe(201);
  });

  test.each([
    ['shared with another factory', (factories: string[]) => factories],
    ['for all factories, of which there are several', () => null],
  ])('is not rotated by a manager if it is %s', async (_, users) => {
    const [daemon, other] = [withNewFactory(shared()), withNewFactory(shared())];
    const name = await withSecret(daemon, daemon.factory);
    const secret = { kind: 'existing', name };
    const { manager, params } = await withWebhook({ name: 'deploys', secret }, daemon);
    await daemon.store.teamSecrets.share(name, () => users([daemon.factory, other.factory]));
    await (await other.client()).call('createWebhook', { body: { name: 'hidden' } });
    const refused = await manager.call('changeWebhookSecret', { params });
    expect(refused.json.code).toBe('secret-shared');
    expect(refused.text).not.toContain('hidden');
  });

  test('is not rotated under the hands of another webhook of the factory', async () => {
    const { manager, webhook, params } = await withWebhook();
    const secret = { kind: 'existing', name: webhook.secretName };
    await manager.call('createWebhook', { body: { name: 'beside', secret } });
    const refused = await manager.call('changeWebhookSecret', { params });
    expect(refused.json).toMatchObject({ code: 'secret-shared', detail: expect.stringContaining('beside') });
  });
});

test('removes the team secret with the webhook whose creation made it, unless another one uses it', async () => {
  const daemon = withNewFactory(shared());
  const client = await daemon.client();
  const create = async (body: object) => (await client.call('createWebhook', { body })).json.webhook;
  const names = async () => {
    const { secrets } = (await client.call('listSecrets')).json;
    const made: string[] = secrets.map(({ name }: { name: string }) => name);
    return made.filter(name => [alone, rotated, shares].some(({ secretName }) => secretName === name));
  };
  const [alone, rotated, shares] = [
    await create({ name: 'alone' }),
    await create({ name: 'rotated' }),
    await create({ name: 'shares' }),
  ];
  const secret = { kind: 'existing', name: shares.secretName, allowShared: true };
  const user = await create({ name: 'user', secret });
  const remove = ({ uid }: { uid: string }) => client.call('deleteWebhook', { params: { uid } });
  await client.call('changeWebhookSecret', { params: { uid: alone.uid } });
  const begun = await client.call('beginSecretRotation', { params: { uid: rotated.uid }, body: {} });
  expect(begun.status).toBe(200);
  for (const webhook of [alone, rotated, shares]) expect((await remove(webhook)).status).toBe(204);
  expect(await names()).toEqual([shares.secretName]);
  // Its creation made none.
  await remove(user);
  expect(await names()).toEqual([shares.secretName]);
});

test('renames a webhook, which keeps its URL and its history', async () => {
  const { manager, webhook, revealed, params } = await withWebhook();
  await post(webhook.url, revealed.secret);
  const renamed = await manager.call('changeWebhook', { params, body: { name: 'shipments' } });
  expect(renamed.json).toMatchObject({ name: 'shipments', url: webhook.url });
  await post(webhook.url, revealed.secret);
  const { json } = await manager.call('listDeliveries', { query: { webhook: webhook.uid } });
  expect(json.deliveries.map((one: { webhook: string }) => one.webhook)).toEqual(['shipments', 'deploys']);
});

test('has at most twenty webhooks: the next one is refused, and is not there', async () => {
  const { manager } = await withWebhook();
  for (let count = 1; count < 20; count++) {
    expect((await manager.call('createWebhook', { body: { name: `hook-${count}` } })).status).toBe(201);
  }
  const body = { name: 'one-too-many' };
  const refused = { status: 409, json: { code: 'too-many-webhooks' } };
  expect(await manager.call('createWebhook', { body })).toMatchObject(refused);
  const { webhooks } = (await manager.call('listWebhooks')).json;
  expect(webhooks).toHaveLength(20);
  expect(webhooks).not.toContainEqual(expect.objectContaining(body));
});

test('changes nothing if the decision was made on an older state', async () => {
  const { manager, params } = await withWebhook();
  const shown = await manager.call('showWebhook', { params });
  const headers = { 'if-match': String(shown.headers.etag) };
  const toggled = await manager.call('changeWebhook', { params, headers, body: { enabled: false } });
  expect(toggled.headers.etag).toBe('"2"');
  const late = await manager.call('deleteWebhook', { params, headers });
  expect(late.json.code).toBe('serial-moved');
  expect((await manager.call('deleteWebhook', { params, headers: { 'if-match': 'W/"2"' } })).status).toBe(
    412,
  );
  expect((await manager.call('listWebhooks')).json.webhooks).toHaveLength(1);
});

describe('what GET answers can be sent back', () => {
  /** A webhook with every key, and an automation that has it and a deleted one as triggers. */
  async function withEverything() {
    const { manager, webhook } = await withWebhook({
      name: 'deploys',
      authMode: 'signature',
      signatureScheme: { hash: 'sha256', encoding: 'hex', header: 'X-Sign', content: '{body}' },
      deliveryIdHeader: 'X-Id',
      keepHeaders: ['X-Kind'],
      secret: { kind: 'supplied', value: 'a secret of the sender' },
    });
    const filter = { payload: { a: [1], b: { c: { not_in: [2] } } }, headers: { 'X-Kind': ['push'] } };
    const triggers = [webhook.uid, `wh_${'0'.repeat(24)}`].map((uid, index) => ({
      provider: 'webhook',
      event: 'received',
      filter: { webhook_ids: [uid], ...(index === 0 && filter) },
    }));
    const flow = {
      timeLimit: '10m',
      attempts: 2,
      backOff: { first: '5s' },
      order: '$.issue.id',
      onFailure: 'hold',
    };
    const body = { name: 'triage', prompt: 'Look.', triggers, ...flow };
    expect((await manager.call('createAutomation', { body })).json).toMatchObject({ name: 'triage' });
    const params = { uid: webhook.uid, automation: 'triage' };
    const countEntries = async () => (await manager.call('listAudit')).json.entries.length;
    return { manager, params, countEntries, webhook };
  }

  const routes = Object.entries(apiRoutes);
  const pairs = routes.flatMap(([change, { method, path }]) => {
    const shown = routes.find(([, other]) => other.method === 'get' && other.path === path);
    return shown && ['put', 'patch'].includes(method) ? [[change, shown[0]]] : [];
  }) as [OperationId, OperationId][];

  test('by two operations', () => {
    expect(pairs.map(([change]) => change)).toEqual(['changeWebhook', 'replaceAutomation']);
  });

  test.each(pairs)('by %s: with nothing changed, it changes nothing', async (change, show) => {
    const { manager, params, countEntries } = await withEverything();
    const before = await manager.call(show, { params });
    const entries = await countEntries();
    const after = await manager.call(change, { params, body: before.json });
    expect(after).toMatchObject({ status: 200, json: before.json });
    expect(after.headers.etag).toBe(before.headers.etag);
    expect(await countEntries()).toBe(entries);
  });

  test.each([
    ['changeWebhook', 'showWebhook', { enabled: false }],
    ['replaceAutomation', 'showAutomation', { prompt: 'Look again.' }],
  ] as const)(
    'by %s, with a change in it, unless the state has changed since',
    async (change, show, other) => {
      const { manager, params } = await withEverything();
      const { json } = await manager.call(show, { params });
      const body = { ...json, ...other };
      const changed = await manager.call(change, { params, body });
      expect(changed.json).toMatchObject({ ...other, serial: json.serial + 1 });
      expect((await manager.call(change, { params, body })).json.code).toBe('serial-moved');
    },
  );

  test.each([
    ['changeWebhook', { url: 'https://hooks.example.com/' }],
    ['changeWebhook', { secretName: 'OTHER' }],
    ['changeWebhook', { keepHeaders: [] }],
    ['replaceAutomation', { name: 'other' }],
    ['replaceAutomation', { yaml: 'prompt: Other.\n' }],
  ] as const)('by %s, but what only an answer can set has to be as it is: %o', async (change, other) => {
    const { manager, params } = await withEverything();
    const show = change === 'changeWebhook' ? 'showWebhook' : 'showAutomation';
    const { json } = await manager.call(show, { params });
    const refused = await manager.call(change, { params, body: { ...json, ...other } });
    expect(refused.json).toMatchObject({
      code: 'request-invalid',
      mistakes: [{ pointer: `/${Object.keys(other)[0]}` }],
    });
    expect((await manager.call(show, { params })).json).toEqual(json);
  });

  test('with a trigger of an unknown form, the mistake is named by the form of a definition', async () => {
    const { manager, params } = await withEverything();
    const { json } = await manager.call('showAutomation', { params });
    const triggers = [
      { ...json.triggers[0], uid: 'deploys' },
      { ...json.triggers[0], other: 1 },
    ];
    const { mistakes } = (await manager.call('replaceAutomation', { params, body: { ...json, triggers } }))
      .json;
    expect(mistakes).toContainEqual(expect.objectContaining({ pointer: '/triggers/0/filter/webhook_ids/0' }));
    expect(mistakes).toContainEqual(expect.objectContaining({ pointer: '/triggers/1/other' }));
  });
});

describe('a change that changes nothing leaves the serial and the audit log as they are:', () => {
  test.each([
    ['enabling what is enabled', [{ enabled: true }]],
    ['disabling what is disabled', [{ enabled: false }, { enabled: false }]],
    ['renaming to the same name', [{ name: 'deploys' }]],
    ['nothing at all', [{}]],
  ])('%s', async (_, bodies) => {
    const { manager, params } = await withWebhook();
    for (const body of bodies.slice(0, -1)) await manager.call('changeWebhook', { params, body });
    const before = [await manager.call('showStatus'), await manager.call('listAudit')];
    const answer = await manager.call('changeWebhook', { params, body: bodies.at(-1) });
    expect(answer).toMatchObject({ status: 200, json: { serial: bodies.length } });
    const after = [await manager.call('showStatus'), await manager.call('listAudit')];
    expect(after.map(({ json }) => json)).toEqual(before.map(({ json }) => json));
  });

  test('but enabling what is enabled applies a new value of its team secret', async () => {
    const daemon = withNewFactory(shared());
    const { manager, webhook, revealed, params } = await withWebhook(undefined, daemon);
    const { teamSecrets } = makeFactory(daemon.home).store;
    await teamSecrets.set(webhook.secretName, 'another-value-of-the-secret', daemon.factory);
    const enable = () => manager.call('changeWebhook', { params, body: { enabled: true } });
    expect((await enable()).json.serial).toBe(2);
    expect((await enable()).json.serial).toBe(2);
    expect((await post(webhook.url, revealed.secret)).status).toBe(401);
    expect((await post(webhook.url, 'another-value-of-the-secret')).status).toBe(202);
  });

  test('applying the same files again', async () => {
    const { manager, webhook } = await withWebhook();
    const files = [{ path: 'webhooks/deploys.yaml', content: `secretName: ${webhook.secretName}\n` }];
    const apply = () => manager.call('apply', { body: { files, origin: '/definitions', adopt: true } });
    expect((await apply()).json.result).toBe('applied');
    const before = [await manager.call('showStatus'), await manager.call('listAudit')];
    expect((await apply()).json.result).toBe('unchanged');
    const after = [await manager.call('showStatus'), await manager.call('listAudit')];
    expect(after.map(({ json }) => json)).toEqual(before.map(({ json }) => json));
  });
});

test('makes changes that come at once one after the other', async () => {
  const { manager } = await withWebhook();
  const names = Array.from({ length: 12 }, (_, index) => `hook-${index}`);
  const created = await Promise.all(names.map(name => manager.call('createWebhook', { body: { name } })));
  expect(created.map(({ status }) => status)).toEqual(Array(12).fill(201));
  const { json } = await manager.call('listWebhooks');
  expect(json).toMatchObject({ serial: 13 });
  expect(json.webhooks).toHaveLength(13);
});

test('edits and deletes automations, and names every mistake with its place', async () => {
  const { manager, webhook } = await withWebhook();
  const triggers = [{ provider: 'webhook', event: 'received', filter: { webhook_ids: [webhook.uid] } }];
  await manager.call('createAutomation', { body: { name: 'triage', prompt: 'Look.', triggers } });
  const params = { automation: 'triage' };
  const replaced = await manager.call('replaceAutomation', {
    params,
    body: { prompt: 'Look again.', triggers },
  });
  expect(replaced.json).toMatchObject({ prompt: 'Look again.', enabled: true, file: null });
  const bad = {
    prompt: ' ',
    triggers: [{ ...triggers[0], filter: { webhook_ids: ['deploys'], payload: { a: 1 } } }],
  };
  expect((await manager.call('replaceAutomation', { params, body: bad })).json.mistakes).toMatchObject([
    { pointer: '/prompt', code: 'definition/value' },
    { pointer: '/triggers/0/filter/webhook_ids/0', code: 'automation/webhook-id' },
    { pointer: '/triggers/0/filter/payload/a', code: 'filter/invalid' },
  ]);
  expect((await manager.call('deleteAutomation', { params })).status).toBe(204);
  expect((await manager.call('showAutomation', { params })).json.code).toBe('automation-unknown');
});

test.each([
  ['no JSON', '{"name":', {}, 400],
  ['JSON in Latin-1', Buffer.from('{"name":"é"}', 'latin1'), {}, 400],
  ['too much', `{"name":"${'x'.repeat(300_000)}"}`, {}, 413],
  ['no media type', '{"name":"a"}', { 'content-type': '' }, 415],
])('refuses a body that is %s', async (_, body, headers, status) => {
  const daemon = shared();
  const { token } = await daemon.client();
  const url = `${daemon.managementUrl}/api/v1/factories/default/webhooks`;
  const all = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers };
  expect(await send(url, { headers: all, body })).toMatchObject({ status });
});

test('answers a path that it does not have, and a method that the path does not take, with a problem', async () => {
  const daemon = shared();
  const problem = async (method: string, path: string) => {
    const { status, headers, body } = await send(`${daemon.managementUrl}${path}`, { method });
    expect(headers['content-type']).toBe('application/problem+json');
    return [status, JSON.parse(body).code];
  };
  expect(await problem('GET', '/api/v1/nothing')).toEqual([404, 'not-found']);
  expect(await problem('GET', '/api/v1/factories/')).toEqual([404, 'not-found']);
  expect(await problem('PUT', '/api/v1/factories')).toEqual([405, 'method-not-allowed']);
  expect(await problem('POST', '/healthz')).toEqual([405, 'method-not-allowed']);
});
