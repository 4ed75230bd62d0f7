import { createHmac, generateKeyPairSync, sign as signWithKey } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Sent, send } from '../../../support/http.ts';
import { type InProcessDaemon, startInProcessDaemon } from '../../../support/in-process-daemon.ts';

const nowMs = 1_700_000_000_000;
const seconds = String(nowMs / 1000);
const secret = 'a secret of thirty-two bytes, ok';
const ed25519 = generateKeyPairSync('ed25519');

const mac = (text: string, encoding: 'hex' | 'base64' = 'hex') =>
  createHmac('sha256', secret).update(text).digest(encoding);

interface Handshake {
  readonly scheme: string;
  /** Below the webhook's URL. */
  readonly query?: string;
  readonly sent: Sent;
  /** Sent too by a provider that signs its question. */
  readonly signature?: Readonly<Record<string, string>>;
  readonly answer: object;
}

const slackBody = '{"token":"t","challenge":"3eZbrw1aBm2rZgRN","type":"url_verification"}';
const zoomBody = '{"event":"endpoint.url_validation","payload":{"plainToken":"qgg8vlvZRS6UYo"},"event_ts":1}';
const twitchBody = '{"challenge":"pogchamp-kappa-360noscope","subscription":{}}';
const twitchTime = new Date(nowMs).toISOString();
const discordBody = '{"version":1,"type":0}';

const handshakes: readonly Handshake[] = [
  {
    scheme: 'slack',
    sent: { body: slackBody },
    signature: {
      'X-Slack-Signature': `v0=${mac(`v0:${seconds}:${slackBody}`)}`,
      'X-Slack-Request-Timestamp': seconds,
    },
    answer: { status: 200, body: '3eZbrw1aBm2rZgRN', headers: { 'content-type': 'text/plain' } },
  },
  {
    scheme: 'zoom',
    sent: { body: zoomBody },
    signature: {
      'x-zm-signature': `v0=${mac(`v0:${seconds}:${zoomBody}`)}`,
      'x-zm-request-timestamp': seconds,
    },
    answer: {
      status: 200,
      body: JSON.stringify({ plainToken: 'qgg8vlvZRS6UYo', encryptedToken: mac('qgg8vlvZRS6UYo') }),
    },
  },
  {
    scheme: 'twitch',
    sent: {
      headers: {
        'Twitch-Eventsub-Message-Type': 'webhook_callback_verification',
        'Twitch-Eventsub-Message-Id': 'evt-1',
        'Twitch-Eventsub-Message-Timestamp': twitchTime,
      },
      body: twitchBody,
    },
    signature: { 'Twitch-Eventsub-Message-Signature': `sha256=${mac(`evt-1${twitchTime}${twitchBody}`)}` },
    answer: { status: 200, body: 'pogchamp-kappa-360noscope', headers: { 'content-type': 'text/plain' } },
  },
  {
    scheme: 'discord',
    sent: { body: discordBody },
    signature: {
      'X-Signature-Ed25519': signWithKey(
        null,
        Buffer.from(seconds + discordBody),
        ed25519.privateKey,
      ).toString('hex'),
      'X-Signature-Timestamp': seconds,
    },
    answer: { status: 204, body: '' },
  },
  {
    scheme: 'asana',
    sent: { headers: { 'X-Hook-Secret': 'b537207f20cbfa02357cf448134da559' } },
    answer: { status: 200, body: '', headers: { 'x-hook-secret': 'b537207f20cbfa02357cf448134da559' } },
  },
  {
    scheme: 'meta',
    query: '?hub.mode=subscribe&hub.verify_token=any&hub.challenge=1158201444',
    sent: { method: 'GET' },
    answer: { status: 200, body: '1158201444', headers: { 'content-type': 'text/plain' } },
  },
  {
    scheme: 'dropbox',
    query: '?challenge=rLm_0-9',
    sent: { method: 'GET' },
    answer: { status: 200, body: 'rLm_0-9', headers: { 'x-content-type-options': 'nosniff' } },
  },
  {
    scheme: 'okta',
    sent: { method: 'GET', headers: { 'X-Okta-Verification-Challenge': 'my-challenge' } },
    answer: { status: 200, body: '{"verification":"my-challenge"}' },
  },
  { scheme: 'trello', sent: { method: 'HEAD' }, answer: { status: 200, body: '' } },
  { scheme: 'woocommerce', sent: { body: 'webhook_id=12' }, answer: { status: 200, body: '' } },
  {
    scheme: 'x',
    query: '?crc_token=challenge_string',
    sent: { method: 'GET' },
    answer: {
      status: 200,
      body: JSON.stringify({ response_token: `sha256=${mac('challenge_string', 'base64')}` }),
    },
  },
];
const signed = handshakes.filter(({ signature }) => signature);
const unsigned = handshakes.filter(({ signature }) => !signature);
const byGet = unsigned.filter(({ sent }) => sent.method === 'GET');
const byGetOrHead = unsigned.filter(({ sent }) => sent.method !== undefined);

const publicKey = ed25519.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');
const webhooks = handshakes.map(({ scheme }) => ({
  scheme,
  secret: scheme === 'discord' ? publicKey : secret,
}));

let daemon: InProcessDaemon;
beforeAll(async () => {
  const undeclared = unsigned.map(({ scheme }) => ({ scheme, secret: null }));
  daemon = await startInProcessDaemon([...webhooks, ...undeclared]);
});
beforeEach(() => {
  daemon.clock.nowMs = nowMs;
});
afterAll(() => daemon.stop());

function webhookOf(scheme: string, among: readonly Handshake[] = handshakes, from = 0) {
  const webhook = daemon.webhooks[from + among.findIndex(handshake => handshake.scheme === scheme)];
  if (!webhook) throw new Error(`no webhook of ${scheme}`);
  return webhook;
}

test.each(handshakes)(
  '$scheme is answered as it demands; the log has it as a handshake that started nothing',
  async ({ scheme, query = '', sent, signature, answer }) => {
    const webhook = webhookOf(scheme);
    const headers = { ...sent.headers, ...signature };
    const answered = await send(webhook.url + query, { ...sent, headers });
    expect(answered).toMatchObject(answer);
    expect(String(answered.headers['content-type'])).not.toMatch(/html/);
    await expect.poll(async () => (await webhook.rows())[0]?.outcome).toBe('Handshake');
    const [row] = await webhook.rows();
    expect(row).toMatchObject(signature ? { authenticatedBy: scheme } : {});
    expect(row?.authenticatedBy === undefined).toBe(!signature);
    expect(row?.identity).toBeUndefined();
    expect(await daemon.runsOf(row?.id ?? '')).toEqual([]);
  },
);

test('a delivery under a scheme with a handshake starts a run like any other', async () => {
  const body = '{"type":"event_callback"}';
  const headers = {
    'X-Slack-Signature': `v0=${mac(`v0:${seconds}:${body}`)}`,
    'X-Slack-Request-Timestamp': seconds,
  };
  const { status, deliveryId = '' } = await send(webhookOf('slack').url, { headers, body });
  expect(status).toBe(202);
  expect(await daemon.runsOf(deliveryId)).toHaveLength(1);
});

test.each(signed)('$scheme, which signs its question, is refused without a signature', async handshake => {
  const { scheme, sent } = handshake;
  expect(await send(webhookOf(scheme).url, sent)).toMatchObject({ status: 401 });
});

test.each(signed)('$scheme is refused with the signature of another body', async handshake => {
  const { scheme, sent, signature } = handshake;
  const headers = { ...sent.headers, ...signature };
  const answered = await send(webhookOf(scheme).url, { headers, body: `${sent.body} ` });
  expect(answered).toMatchObject({ status: 401 });
});

test.each(unsigned)(
  '$scheme asks before there is a secret, and is answered where no answer takes one',
  async ({ scheme, query = '', sent, answer }) => {
    const webhook = webhookOf(scheme, unsigned, handshakes.length);
    expect(await send(webhook.url + query, sent)).toMatchObject(scheme === 'x' ? { status: 405 } : answer);
  },
);

test('what X is made to sign by a stranger is no delivery, and takes nothing from the budget of deliveries', async () => {
  const webhook = webhookOf('x');
  const asked = await send(`${webhook.url}?crc_token=abc`, { method: 'GET' });
  const headers = { 'x-twitter-webhooks-signature': JSON.parse(asked.body).response_token };
  for (let i = 0; i < 3; i++) {
    expect(await send(webhook.url, { headers, body: 'abc' })).toMatchObject({ status: 401 });
  }
  await expect
    .poll(async () => (await webhook.rows())[0])
    .toMatchObject({
      outcome: 'Rejected (auth)',
      reason: expect.stringContaining('signs for anyone'),
    });
  for (const body of ['{"for_user_id":"1"}', '1', 'true', '"abc"']) {
    const own = { 'x-twitter-webhooks-signature': `sha256=${mac(body, 'base64')}` };
    expect(await send(webhook.url, { headers: own, body }), body).toMatchObject({ status: 200 });
  }
});

describe('GET', () => {
  test.each(byGet)('of $scheme without a question is not allowed', async ({ scheme }) => {
    for (const query of ['', '?', '?challenge=%3Cscript%3E', '?hub.challenge=1', '?crc_token=1']) {
      const answered = await send(webhookOf(scheme).url + query, { method: 'GET' });
      expect(answered, query).toMatchObject({ status: 405, headers: { allow: 'POST' } });
    }
  });

  test.each(handshakes.filter(handshake => !byGet.includes(handshake)))(
    'is not allowed on a webhook of $scheme, whatever it asks',
    async ({ scheme }) => {
      const headers = { 'X-Okta-Verification-Challenge': 'c', 'X-Hook-Secret': 's' };
      const query = '?challenge=a&hub.mode=subscribe&hub.challenge=a&crc_token=a';
      const answered = await send(webhookOf(scheme).url + query, { method: 'GET', headers });
      expect(answered).toMatchObject({ status: 405, headers: { allow: 'POST' } });
    },
  );

  test.each(byGetOrHead)(
    'or HEAD, only one is a handshake of $scheme',
    async ({ scheme, query = '', sent }) => {
      for (const method of ['GET', 'HEAD', 'PUT', 'OPTIONS', 'DELETE'].filter(name => name !== sent.method)) {
        const answered = await send(webhookOf(scheme).url + query, { ...sent, method });
        expect(answered, method).toMatchObject({ status: 405 });
      }
      const posted = await send(webhookOf(scheme).url + query, { ...sent, method: 'POST', body: '{}' });
      expect(posted).toMatchObject({ status: 401 });
    },
  );
});

test('handshakes that nobody signed draw on the budget of failed attempts, signed ones on that of deliveries', async () => {
  const limits = { failedAuthPerMinute: 2, deliveriesPerMinute: 1 };
  const small = await startInProcessDaemon(webhooks, { limits });
  try {
    small.clock.nowMs = nowMs;
    const ask = ({ scheme, query = '', sent, signature }: Handshake) => {
      const { url = '' } = small.webhooks[handshakes.findIndex(one => one.scheme === scheme)] ?? {};
      return send(url + query, { ...sent, headers: { ...sent.headers, ...signature } });
    };
    for (const handshake of unsigned) {
      for (const status of [200, 200, 429, 429]) {
        expect(await ask(handshake), handshake.scheme).toMatchObject({ status });
      }
      expect((await ask(handshake)).headers['retry-after']).toMatch(/^\d+$/);
    }
    for (const handshake of signed) {
      expect((await ask(handshake)).status, handshake.scheme).toBeLessThan(300);
      expect(await ask(handshake), handshake.scheme).toMatchObject({ status: 429 });
    }
  } finally {
    await small.stop();
  }
});
