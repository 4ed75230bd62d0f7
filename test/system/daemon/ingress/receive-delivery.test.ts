import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearerOf } from '../../../support/daemon.ts';
import { send } from '../../../support/http.ts';
import { openWebhookDaemon, type WebhookDaemon } from '../../../support/webhook-daemon.ts';

let daemon: WebhookDaemon;
beforeAll(async () => {
  daemon = await openWebhookDaemon();
});
afterAll(() => daemon.stop());

const limit = 262_144;
const jsonOf = (bytes: number) => `"${'x'.repeat(bytes - 2)}"`;

test('answers 202 with the delivery id, and the same id to the same body again', async () => {
  const webhook = await daemon.webhook();
  const first = await webhook.post('{"a": 1}');
  expect(first.status).toBe(202);
  expect(first.headers['content-type']).toMatch(/^application\/json/);
  expect(JSON.parse(first.body)).toEqual({ delivery_id: expect.stringMatching(/^dlv_[0-9a-z]{26}$/) });

  const second = await webhook.post('{"a": 1}');
  expect(second).toMatchObject({ status: 202, deliveryId: first.deliveryId });
  expect(await webhook.rows()).toMatchObject([
    { outcome: 'Duplicate', duplicateOf: first.deliveryId },
    { outcome: 'Accepted', id: first.deliveryId },
  ]);
});

test('answers unknown, disabled, destroyed and malformed UIDs with one and the same 404', async () => {
  const disabled = await daemon.webhook({ enabled: false });
  const destroyed = await daemon.webhook();
  const { serial } = await destroyed.apply(null);
  await expect.poll(async () => (await destroyed.readiness())?.serial).toBe(serial);
  const served = await daemon.webhook();
  const urls = [
    `${daemon.ingressUrl}/webhooks/w/wh_0123456789abcdefghijklmn`,
    disabled.url,
    destroyed.url,
    `${daemon.ingressUrl}/webhooks/w/${served.uid.toUpperCase()}`,
    `${served.url}/anything`,
    `${daemon.ingressUrl}/webhooks/w/`,
    `${daemon.ingressUrl}/`,
    `${served.url}/`,
    `${served.url}#a`,
    served.url.replace('wh_', '%77h_'),
    served.url.replace('/w/', '/W/'),
  ];
  const answers = await Promise.all(
    urls.map(async url => {
      // As it is: the URL class would make others of some.
      const target = url.slice(daemon.ingressUrl.length);
      const given = { target, headers: bearerOf(served.secret), body: '{}' };
      const { status, headers, body } = await send(url, given);
      return { status, body, headers: { ...headers, date: undefined } };
    }),
  );
  expect(answers[0]).toMatchObject({ status: 404, headers: { 'content-type': 'application/problem+json' } });
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  expect(await disabled.rows()).toEqual([]);
});

test.each(['GET', 'PUT', 'HEAD', 'OPTIONS', 'PATCH', 'DELETE'])(
  'answers %s with 405 and Allow, the same for every path',
  async method => {
    const { url } = await daemon.webhook();
    const targets = [url, `${daemon.ingressUrl}/`, `${daemon.ingressUrl}/webhooks/w/unknown`];
    for (const target of targets) {
      const answer = await send(target, { method });
      expect(answer).toMatchObject({ status: 405, headers: { allow: 'POST' } });
      if (method !== 'HEAD') expect(JSON.parse(answer.body)).toMatchObject({ status: 405 });
    }
    expect(await send(url, { method: 'OPTIONS', target: '*' })).toMatchObject({ status: 405 });
  },
);

test('accepts a body at the size limit and refuses one byte more, with and without its length', async () => {
  const webhook = await daemon.webhook();
  const chunked = (bytes: number) => [jsonOf(bytes).slice(0, limit / 2), jsonOf(bytes).slice(limit / 2)];
  expect(await webhook.post(jsonOf(limit))).toMatchObject({ status: 202 });
  expect(await webhook.post(chunked(limit - 1))).toMatchObject({ status: 202 });
  expect((await webhook.rows()).map(({ outcome, size }) => [outcome, size])).toEqual([
    ['Accepted', limit - 1],
    ['Accepted', limit],
  ]);
  for (const body of [jsonOf(limit + 1), chunked(limit + 1)]) {
    const answer = await webhook.post(body);
    expect(answer).toMatchObject({ status: 413, headers: { connection: 'close' } });
  }
});

test('logs each outcome with its label, and 404, 405 and broken paths not at all', async () => {
  const webhook = await daemon.webhook();
  await webhook.post('{"n":1}');
  await webhook.post('{"n":1}');
  // Rows of rejections are written after the answers, maybe in another order.
  await webhook.post('{"n":2}', { headers: bearerOf('wrong') });
  await webhook.rowsOnce(3);
  await webhook.post('{"n":3');
  await webhook.rowsOnce(4);
  await webhook.post(jsonOf(limit + 1));
  await send(webhook.url, { method: 'GET' });
  await send(`${webhook.url}/x`, { headers: bearerOf(webhook.secret) });
  await webhook.rowsOnce(5);

  const list = ['deliveries', 'list', '--factory', webhook.factory, '-o', 'json'];
  const { stdout } = await daemon.workspace.hookmill(...list);
  expect(JSON.parse(stdout)).toMatchObject([
    { outcome: 'Rejected (too large)', size: limit + 1 },
    { outcome: 'Rejected (invalid JSON)', size: 6 },
    { outcome: 'Rejected (auth)', identity: null },
    { outcome: 'Duplicate', webhook: 'hook', uid: webhook.uid },
    { outcome: 'Accepted', size: 7 },
  ]);
});

test('stores the exact bytes of accepted payloads, and nothing of other deliveries', async () => {
  const webhook = await daemon.webhook();
  const body = Buffer.from(' {"ключ" :\t[1.0, 1e2, "\\u00e9\\ud83d"] }\r\n');
  const { deliveryId = '' } = await webhook.post(body);
  await webhook.post(body);
  await webhook.post('{');
  await webhook.post('{}', { headers: bearerOf('wrong') });
  const rows = await webhook.rowsOnce(4);
  const payloads = await Promise.all(rows.map(({ id }) => webhook.payload(id)));
  expect(payloads).toEqual([undefined, undefined, undefined, body]);
  expect(rows[3]?.id).toBe(deliveryId);
});

test('accepts exactly one of fifty identical requests sent at once', async () => {
  const webhook = await daemon.webhook();
  const answers = await Promise.all(Array.from({ length: 50 }, () => webhook.post('{"same":true}')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
  expect(new Set(answers.map(({ deliveryId }) => deliveryId)).size).toBe(1);
  const outcomes = (await webhook.rows()).map(({ outcome }) => outcome);
  expect(outcomes.filter(outcome => outcome === 'Accepted')).toHaveLength(1);
  expect(outcomes.filter(outcome => outcome === 'Duplicate')).toHaveLength(49);
});

test('knows identities by webhook: another accepts the same body', async () => {
  const [one, other] = [await daemon.webhook(), await daemon.webhook()];
  const [a, b] = [await one.post('{}'), await other.post('{}')];
  expect([a.status, b.status]).toEqual([202, 202]);
  expect(a.deliveryId).not.toBe(b.deliveryId);
});

test('refuses the wrong credential before it looks at the size or the JSON', async () => {
  const shared = await daemon.webhook({
    authMode: 'signature',
    signatureScheme: 'gitlab-token',
    secret: 'shared',
  });
  expect(await shared.post(jsonOf(limit + 1))).toMatchObject({ status: 401 });
  const webhook = await daemon.webhook();
  const headers = bearerOf('wrong');
  expect(await webhook.post(jsonOf(limit + 1), { headers })).toMatchObject({ status: 401 });
  expect(await webhook.post('not json', { headers })).toMatchObject({
    status: 401,
    headers: { 'www-authenticate': 'Bearer', 'content-type': 'application/problem+json' },
  });
});

test.each([
  ['token', 'Bearer'],
  ['url_token', 'URL-Token'],
  ['signature', 'Signature'],
])('challenges who fails at a %s webhook with %s', async (authMode, challenge) => {
  const webhook = await daemon.webhook({
    authMode,
    ...(authMode === 'signature' && { signatureScheme: 'github' }),
  });
  const { pathname } = new URL(webhook.url);
  const target = authMode === 'url_token' ? `${pathname}x` : pathname;
  const headers = { 'www-authenticate': challenge };
  expect(await send(webhook.url, { target })).toMatchObject({ status: 401, headers });
});

test('records others while it refuses lengths that no number can hold', async () => {
  const webhook = await daemon.webhook();
  const headers = { 'content-length': '18446744073709551615' };
  const refused = Array.from({ length: 5 }, () => send(webhook.url, { headers, headOnly: true }));
  const accepted = Array.from({ length: 5 }, (_, n) => webhook.post(`{"n":${n}}`));
  expect((await Promise.all(refused)).map(({ status }) => status)).toEqual(Array(5).fill(401));
  expect((await Promise.all(accepted)).map(({ status }) => status)).toEqual(Array(5).fill(202));
  const rows = await webhook.rowsOnce(10);
  expect(rows.filter(({ outcome }) => outcome === 'Rejected (auth)')).toHaveLength(5);
});
