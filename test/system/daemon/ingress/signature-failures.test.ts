import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { splitReason } from '../../../../signatures/explanation.ts';
import { variablesOfHome } from '../../../support/home-place.ts';
import { send } from '../../../support/http.ts';
import { type InProcessDaemon, startInProcessDaemon } from '../../../support/in-process-daemon.ts';
import { makeWorkspace } from '../../../support/workspace.ts';

const nowMs = 1_700_000_000_000;
const secret = 'an-ordinary-secret';
const whsec = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const body = '{"a": 1, "b": [true]}';
const given = [
  { scheme: 'github', secret },
  { scheme: 'stripe', secret },
  { scheme: 'standard-webhooks', secret: whsec },
];

let daemon: InProcessDaemon;
beforeAll(async () => {
  daemon = await startInProcessDaemon(given);
  daemon.clock.nowMs = nowMs;
});
afterAll(() => daemon.stop());

const mac = (text: string, key: string | Buffer = secret) => createHmac('sha256', key).update(text);
const standard = (signature: string) => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': String(nowMs / 1000),
  'webhook-signature': `v1,${signature}`,
});
const old = nowMs / 1000 - 301;

/** Mistakes of senders, and the reason that the webhook's owner reads. */
const mistakes: [scheme: string, headers: Record<string, string>, reason: RegExp][] = [
  ['github', {}, /^the header X-Hub-Signature-256 is missing/],
  ['github', { 'X-Hub-Signature-256': 'sha256=xyz' }, /does not have the scheme's format$/],
  ['github', { 'X-Hub-Signature-256': `sha256=${mac(body, 'other').digest('hex')}` }, /wrong secret/],
  ['github', { 'X-Hub-Signature-256': `sha256=${mac(body).digest('base64')}` }, /in base64 instead of hex$/],
  ['github', { 'X-Hub-Signature-256': mac(body).digest('hex') }, /without the prefix sha256=$/],
  [
    'github',
    { 'X-Hub-Signature-256': `sha256=${mac('{"a":1,"b":[true]}').digest('hex')}` },
    /for the same JSON in compact form/,
  ],
  [
    'github',
    { 'Stripe-Signature': `t=1,v1=${mac(`1.${body}`).digest('hex')}` },
    /with signatureScheme: stripe \(Stripe\)$/,
  ],
  [
    'github',
    { 'Stripe-Signature': `t=1,v1=${'0'.repeat(64)}` },
    /the request has Stripe-Signature, as with signatureScheme: stripe \(Stripe\)$/,
  ],
  [
    'stripe',
    { 'Stripe-Signature': `t=${old},v1=${mac(`${old}.${body}`).digest('hex')}` },
    /^the timestamp is 301 s old.*the signature itself matches$/,
  ],
  [
    'stripe',
    { 'Stripe-Signature': `t=${old},v1=${'0'.repeat(64)}` },
    /301 s old.*the signature does not match either$/,
  ],
  [
    'standard-webhooks',
    standard(mac(`msg_1.${nowMs / 1000}.${body}`, whsec).digest('base64')),
    /with the secret used as is, without decoding$/,
  ],
];

describe.each(mistakes)('%s with %j', (scheme, headers, reason) => {
  test('gets the same answer as every failure; the log has the reason', async () => {
    const webhook = daemon.webhooks[given.findIndex(one => one.scheme === scheme)];
    if (!webhook) throw new Error(`no webhook of ${scheme}`);
    const before = (await webhook.rows()).length;
    const answer = await send(webhook.url, { headers, body });
    expect(answer).toMatchObject({ status: 401, headers: { 'content-type': 'application/problem+json' } });
    await expect.poll(async () => (await webhook.rows()).length).toBe(before + 1);
    const [row] = await webhook.rows();
    expect(row?.outcome).toBe('Rejected (auth)');
    expect(splitReason(row?.reason ?? '')).toEqual({
      cause: expect.stringMatching(reason),
      remedy: expect.any(String),
    });

    const plain = await send(webhook.url, { headers: {}, body });
    expect(answer.body).toBe(plain.body);
    expect(Object.keys(answer.headers)).toEqual(Object.keys(plain.headers));
    await expect.poll(async () => (await webhook.rows()).length).toBe(before + 2);
  });
});

test('hookmill deliveries list and show print the reasons', async () => {
  const [webhook] = daemon.webhooks;
  const before = (await webhook?.rows())?.length ?? 0;
  await send(webhook?.url ?? '', {
    headers: { 'X-Hub-Signature-256': `sha256=${mac(body).digest('base64')}` },
    body,
  });
  await expect.poll(async () => (await webhook?.rows())?.length).toBe(before + 1);
  const [{ id = '', reason: logged = '' } = {}] = (await webhook?.rows()) ?? [];
  const { cause: reason, remedy } = splitReason(logged);
  const { hookmill } = makeWorkspace();
  const { directory } = daemon.home;
  const options = ['--home', directory, '--factory', webhook?.factory ?? ''];
  const env = variablesOfHome(directory);
  const [list, json, show, shown] = await Promise.all([
    hookmill(...options, 'deliveries', 'list', { env }),
    hookmill(...options, 'deliveries', 'list', '-o', 'json', { env }),
    hookmill(...options, 'deliveries', 'show', id, { env }),
    hookmill(...options, 'deliveries', 'show', id, '-o', 'json', { env }),
  ]);
  expect(list.stdout.split('\n').find(line => line.startsWith(id))).toContain(reason);
  expect(JSON.parse(json.stdout)[0]).toMatchObject({ id, reason, remedy, outcome: 'Rejected (auth)' });
  expect(show.stdout).toContain(`\nreason   ${reason}\nremedy   ${remedy}\n`);
  expect(JSON.parse(shown.stdout)).toMatchObject({ id, reason, payload: null, evaluation: null, runs: [] });
});
