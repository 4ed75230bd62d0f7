import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bearerOf } from '../../../support/daemon.ts';
import { type Sent, send } from '../../../support/http.ts';
import { type InProcessDaemon, startInProcessDaemon } from '../../../support/in-process-daemon.ts';

const secret = 'a-token-of-thirty-two-characters';
const origin = 'eventgrid.azure.net';
const cloudevents = { cloudevents: origin };
const given = [
  { secret, authMode: 'url_token', handshake: 'event-grid' },
  { secret, authMode: 'url_token', handshake: 'microsoft-graph' },
  { secret, authMode: 'url_token', handshake: cloudevents },
  { secret, handshake: cloudevents },
  { secret, handshake: 'event-grid' },
  { secret, authMode: 'url_token' },
] as const;

let daemon: InProcessDaemon;
beforeAll(async () => {
  daemon = await startInProcessDaemon(given, { limits: { deliveriesPerMinute: 90 } });
});
afterAll(() => daemon.stop());

function webhookAt(index: number) {
  const webhook = daemon.webhooks[index];
  if (!webhook) throw new Error(`no webhook ${index}`);
  return { ...webhook, withToken: `${webhook.url}/${secret}`, withWrongToken: `${webhook.url}/${secret}x` };
}

async function lastRowOf(index: number, outcome: string) {
  await expect.poll(async () => (await webhookAt(index).rows())[0]?.outcome).toBe(outcome);
  const [row] = await webhookAt(index).rows();
  if (!row) throw new Error('no row');
  return row;
}

const validation = (validationCode: unknown, eventType = 'Microsoft.EventGrid.SubscriptionValidationEvent') =>
  JSON.stringify([
    {
      id: '2d1781af-3a4c-4d7c-bd0c-e34b19da4e66',
      topic: '/subscriptions/0/resourceGroups/hooks',
      subject: '',
      data: { validationCode, validationUrl: 'https://rp-eastus2.eventgrid.azure.net/validate?id=1' },
      eventType,
      eventTime: '2026-11-25T00:00:00.0000000Z',
      metadataVersion: '1',
      dataVersion: '2',
    },
  ]);
const code = '512d38b6-c7b8-40c8-89fe-f46f9e9622b6';
const asked: Sent = { headers: { 'aeg-event-type': 'SubscriptionValidation' }, body: validation(code) };

describe('Event Grid', () => {
  test('is answered exactly 200 with its code, once the token of the URL is right', async () => {
    const answered = await send(webhookAt(0).withToken, asked);
    expect(answered).toMatchObject({
      status: 200,
      body: `{"validationResponse":"${code}"}`,
      headers: { 'content-type': 'application/json' },
    });
    const row = await lastRowOf(0, 'Handshake');
    expect(row).toMatchObject({ authenticatedBy: 'url_token' });
    expect(await daemon.runsOf(row.id)).toEqual([]);
    expect(await send(webhookAt(0).withWrongToken, asked)).toMatchObject({ status: 401 });
    expect(await send(webhookAt(0).url, asked)).toMatchObject({ status: 401 });
  });

  test('may send the bearer token instead', async () => {
    const { url } = webhookAt(4);
    const headers = { ...asked.headers, ...bearerOf(secret) };
    expect(await send(url, { ...asked, headers })).toMatchObject({ status: 200 });
    expect(await send(url, asked)).toMatchObject({ status: 401 });
  });

  test.for<[string, Sent]>([
    ['no header', { body: validation(code) }],
    ['another header', { ...asked, headers: { 'aeg-event-type': 'Notification' } }],
    ['another event', { ...asked, body: validation(code, 'Microsoft.Storage.BlobCreated') }],
    ['no list', { ...asked, body: validation(code).slice(1, -1) }],
    ['no code', { ...asked, body: validation(undefined) }],
    ['a code that is markup', { ...asked, body: validation('<script>') }],
    ['a code that is too long', { ...asked, body: validation('a'.repeat(513)) }],
  ])('with %s is a delivery', async ([_, sent]) => {
    expect(await send(webhookAt(0).withToken, sent)).toMatchObject({ status: 202 });
  });

  test('is a delivery where the definition does not name the handshake', async () => {
    expect(await send(webhookAt(5).withToken, asked)).toMatchObject({ status: 202 });
  });
});

describe('Microsoft Graph', () => {
  const token =
    'Validation: Testing client application reachability for subscription Request-Id: 461d28d7-a0b3';

  test('gets its decoded token back as plain text, once the token of the URL is right', async () => {
    const query = `?${new URLSearchParams({ validationToken: token })}`;
    const sent = { headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body: '' };
    expect(await send(webhookAt(1).withToken + query, sent)).toMatchObject({
      status: 200,
      body: token,
      headers: { 'content-type': 'text/plain', 'x-content-type-options': 'nosniff' },
    });
    expect(await lastRowOf(1, 'Handshake')).toMatchObject({ authenticatedBy: 'url_token' });
    expect(await send(webhookAt(1).withWrongToken + query, sent)).toMatchObject({ status: 401 });
  });

  test('of SharePoint and OneDrive writes the name in lower case', async () => {
    const query = `?${new URLSearchParams({ validationtoken: token })}`;
    const answer = await send(webhookAt(1).withToken + query, { body: '' });
    expect(answer).toMatchObject({ status: 200, body: token });
  });

  test.for(['<script>alert(1)</script>', '"onload="', 'a\r\nb', 'ä', 'a'.repeat(513), ''])(
    'gets nothing back of %j',
    async text => {
      const query = `?${new URLSearchParams({ validationToken: text })}`;
      const answered = await send(webhookAt(1).withToken + query, { body: '{}' });
      expect(answered.status).toBe(202);
      expect(answered.body).not.toContain(text === '' ? 'Validation' : text);
    },
  );

  test('delivers with the same URL', async () => {
    const body = '{"value":[{"subscriptionId":"s","changeType":"created"}]}';
    expect(await send(webhookAt(1).withToken, { body })).toMatchObject({ status: 202 });
  });
});

describe('CloudEvents', () => {
  const ask = (name: string): Sent => ({
    method: 'OPTIONS',
    headers: { 'WebHook-Request-Origin': name, 'WebHook-Request-Rate': '120' },
  });
  const allowed = {
    status: 200,
    headers: {
      'webhook-allowed-origin': origin,
      'webhook-allowed-rate': '90',
      allow: 'OPTIONS, POST',
    },
  };

  test('is told the one origin that may deliver, and how often', async () => {
    expect(await send(webhookAt(2).withToken, ask(origin))).toMatchObject(allowed);
    expect(await lastRowOf(2, 'Handshake')).toMatchObject({ authenticatedBy: 'url_token' });
  });

  test('need not send a bearer token with the question', async () => {
    expect(await send(webhookAt(3).url, ask(origin))).toMatchObject(allowed);
    expect((await lastRowOf(3, 'Handshake')).authenticatedBy).toBeUndefined();
    const headers = { ...ask(origin).headers, ...bearerOf(secret) };
    expect(await send(webhookAt(3).url, { method: 'OPTIONS', headers })).toMatchObject(allowed);
  });

  test.for([
    'evil.example',
    `x${origin}`,
    `${origin}.evil.example`,
    'EventGrid.azure.net',
    '*',
    `${origin} `,
  ])('does not allow the origin %j', async name => {
    for (const [url, status] of [
      [webhookAt(2).withToken, 405],
      [webhookAt(3).url, 401],
    ] as const) {
      const answered = await send(url, ask(name.trimEnd() === origin ? `${origin}, ${origin}` : name));
      expect(answered).toMatchObject({ status });
      expect(answered.headers).not.toHaveProperty('webhook-allowed-origin');
    }
  });

  test('is refused with a wrong token, which counts as a failed attempt', async () => {
    const small = await startInProcessDaemon([given[2]], { limits: { failedAuthPerMinute: 2 } });
    try {
      const url = small.webhooks[0]?.url;
      for (const status of [401, 401, 429])
        expect(await send(`${url}/guess`, ask(origin))).toMatchObject({ status });
      expect(await send(`${url}/${secret}`, ask(origin))).toMatchObject({ status: 429 });
    } finally {
      await small.stop();
    }
  });

  test('is asked with OPTIONS only, and only where the definition names it', async () => {
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE'])
      expect(await send(webhookAt(2).withToken, { ...ask(origin), method })).toMatchObject({ status: 405 });
    expect(await send(webhookAt(2).withToken, { ...ask(origin), method: 'POST', body: '{}' })).toMatchObject({
      status: 202,
    });
    for (const index of [0, 1, 5])
      expect(await send(webhookAt(index).withToken, ask(origin))).toMatchObject({ status: 405 });
  });
});
