import { afterAll, beforeAll, expect, test } from 'vitest';
import { signDelivery } from '../../../../operations/sending/sign-delivery.ts';
import { send } from '../../../support/http.ts';
import {
  type GivenWebhook,
  type InProcessDaemon,
  startInProcessDaemon,
} from '../../../support/in-process-daemon.ts';

const secret = 'sëcret: of the sender';
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const inHeader: GivenWebhook = { secret, tokenHeader: 'X-Gitlab-Token' };
const withPrefix: GivenWebhook = { secret, tokenHeader: 'Authorization', tokenPrefix: 'Token ' };
const byBasic: GivenWebhook = { secret, tokenScheme: 'basic', tokenUser: 'azure' };

let daemon: InProcessDaemon;
beforeAll(async () => {
  daemon = await startInProcessDaemon([inHeader, withPrefix, byBasic]);
});
afterAll(() => daemon.stop());

const sent = Buffer.from(secret).toString('latin1');

test.each([
  ['a header of its own', 0, { 'x-gitlab-token': sent }, { 'x-gitlab-token': `${sent}.` }, 'Header-Token'],
  ['a prefix', 1, { authorization: `Token ${sent}` }, { authorization: `Bearer ${sent}` }, 'Header-Token'],
  ['no prefix', 1, { authorization: `Token ${sent}` }, { authorization: sent }, 'Header-Token'],
  ['HTTP Basic', 2, { authorization: basic(`azure:${secret}`) }, {}, 'Basic realm="hookmill"'],
  [
    'another user',
    2,
    { authorization: `basic ${basic(`azure:${secret}`).slice(6)}` },
    { authorization: basic(`other:${secret}`) },
    'Basic realm="hookmill"',
  ],
  [
    'another password',
    2,
    { authorization: basic(`azure:${secret}`) },
    { authorization: basic('azure:wrong') },
    'Basic realm="hookmill"',
  ],
])('a token webhook with %s', async (_, index, right, wrong, challenge) => {
  const webhook = daemon.webhooks[index];
  if (!webhook) throw new Error('no webhook');
  expect(await send(webhook.url, { headers: right, body: `{"n":${Math.random()}}` })).toMatchObject({
    status: 202,
  });
  const refused = await send(webhook.url, { headers: wrong, body: '{}' });
  expect(refused).toMatchObject({ status: 401, headers: { 'www-authenticate': challenge } });
  const [accepted] = (await webhook.rows()).filter(({ outcome }) => outcome === 'Accepted');
  expect(JSON.stringify(accepted)).not.toContain('cret: of');
});

test.each([
  [0, 'no token in the header X-Gitlab-Token'],
  [1, 'no token in the header Authorization after "Token "'],
  [2, 'no password of the user "azure" in the Authorization header (HTTP Basic)'],
])('webhook %i says what is missing', async (index, reason) => {
  const { url, rows } = daemon.webhooks[index] ?? {};
  await send(url ?? '', { body: '{}' });
  await expect.poll(async () => (await rows?.())?.[0]?.reason).toBe(reason);
});

test.each([inHeader, withPrefix, byBasic])('takes what `send` and a test send for %j', async webhook => {
  const { url = '' } = daemon.webhooks[[inHeader, withPrefix, byBasic].indexOf(webhook)] ?? {};
  const body = { bytes: Buffer.from('{"sent":true}'), contentType: 'application/json' };
  const event = { body: body.bytes, id: 'evt_1', isIdGiven: false };
  const latin1 = webhook.tokenHeader === undefined ? secret : sent;
  const { headers } = signDelivery({ ...webhook, authMode: 'token' }, latin1, { url, body }, event, 0);
  expect(await send(url, { headers: Object.fromEntries(headers), body: body.bytes })).toMatchObject({
    status: 202,
  });
});
