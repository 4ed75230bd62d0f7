import { createHmac, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startDaemonForTest, type TestWebhook } from '../../support/daemon.ts';
import { type Answer, type Sent, send } from '../../support/http.ts';

const hmac = (secret: string, text: string, hash = 'sha256') =>
  createHmac(hash, secret).update(text).digest();
const formsOf = (bytes: Buffer) => [
  bytes.toString('hex'),
  bytes.toString('base64').replace(/=+$/, ''),
  bytes.toString('base64url'),
];

test('secrets, presented credentials and expected signatures stand in no answer, log line or file', async () => {
  const daemon = await startDaemonForTest({ settings: { logLevel: 'trace' } });
  const { workspace } = daemon;
  const secret = () => `canary-${randomBytes(18).toString('base64url')}`;
  const token = await daemon.webhook({ secret: secret() });
  const urlToken = await daemon.webhook({ secret: secret(), authMode: 'url_token' });
  const signed = (signatureScheme: string, value = secret()) =>
    daemon.webhook({ secret: value, authMode: 'signature', signatureScheme });
  const github = await signed('github');
  const stripe = await signed('stripe');
  const standard = await signed('standard-webhooks', `whsec_${randomBytes(24).toString('base64')}`);
  const gitlab = await signed('gitlab-token');
  const webhooks = [token, urlToken, github, stripe, standard, gitlab];
  const needles = webhooks.flatMap(({ secret }) => [secret, ...formsOf(Buffer.from(secret))]);
  needles.push(standard.secret.replace('whsec_', ''));

  const answers: Answer[] = [];
  const post = async (webhook: TestWebhook, sent: Sent) => {
    answers.push(await send(webhook.url, { body: '{"a":1}', ...sent }));
  };
  /** The sender's credential is wrong, but it may be a secret somewhere else. */
  const presenting = (value: string) => {
    needles.push(value);
    return value;
  };
  await token.post('{"a":1}');
  await urlToken.post('{"a":1}');
  await post(token, { headers: { authorization: `Bearer ${presenting(secret())}` } });
  await post(token, { headers: { authorization: presenting(`Basic ${secret()}`) } });
  await post(token, { method: 'GET' });
  answers.push(await send(urlToken.url.replace(/[^/]+$/, presenting(secret())), { body: '{}' }));
  answers.push(await send(`${urlToken.url}?${presenting(secret())}`, { body: '{' }));
  answers.push(await send(urlToken.url, { method: 'PUT' }));
  answers.push(await send(`${urlToken.url}/x`, { body: '{}' }));
  answers.push(await send(urlToken.url, { body: 'x'.repeat(300_000) }));
  for (const webhook of [github, stripe, standard, gitlab]) {
    const right = formsOf(hmac(webhook.secret, '{"a":1}'));
    const other = formsOf(hmac(webhook.secret, '{"a":1}', 'sha1'));
    const timed = formsOf(hmac(webhook.secret, '1.{"a":1}'));
    needles.push(...right, ...other, ...timed);
    const [hex = '', base64 = ''] = right;
    const [timedHex = ''] = timed;
    for (const headers of [
      {},
      { 'X-Hub-Signature-256': `sha256=${webhook === github ? base64 : hex}` },
      { 'X-Hub-Signature-256': `sha256=${hex}`, 'X-Forwarded-For': '10.0.0.1' },
      { 'Stripe-Signature': `t=1,v1=${timedHex}` },
      { 'webhook-id': 'a', 'webhook-timestamp': '1', 'webhook-signature': `v1,${base64}` },
      { 'X-Gitlab-Token': `${webhook.secret} ` },
      { 'X-Gitlab-Token': webhook.secret.slice(0, -1) },
    ]) {
      await post(webhook, { headers });
    }
    await post(webhook, { body: 'x'.repeat(300_000) });
  }
  for (const webhook of webhooks)
    await expect.poll(async () => (await webhook.rows()).length).toBeGreaterThan(0);
  const deliveries = (await Promise.all([...webhooks, github].map(webhook => webhook.rows()))).flat();
  expect(deliveries.filter(({ reason }) => reason !== undefined).length).toBeGreaterThan(20);

  const output: string[] = [];
  const run = async (...words: string[]) => {
    const { stdout, stderr } = await workspace.hookmill(...words);
    output.push(stdout, stderr);
  };
  for (const { factory } of [token, urlToken, standard]) {
    const here = ['--factory', factory, '-C', factory, '--home', workspace.home];
    const [row] = deliveries.filter(
      delivery => delivery.factory === factory && delivery.reason !== undefined,
    );
    for (const words of [
      ['webhooks', 'list', '-o', 'json'],
      ['webhooks', 'show', 'hook'],
      ['deliveries', 'list', '-o', 'json'],
      ['deliveries', 'show', row?.id ?? ''],
      ['plan', '-o', 'json'],
      ['apply'],
      ['status', '-o', 'json'],
      ['secrets', 'list', '-o', 'json'],
    ])
      await run(...here, ...words);
  }
  const metrics = await daemon.metrics();
  const readyz = JSON.stringify(await daemon.readyz());
  await daemon.stop();
  const texts = new Map([
    ['the answers', JSON.stringify(answers)],
    ['the command line', output.join('')],
    ["the daemon's output", daemon.stdout() + daemon.stderr()],
    ['the metrics', metrics + readyz],
    ...filesBelow(workspace.home).map(file => [file, readFileSync(file, 'latin1')] as const),
  ]);
  expect(texts.get("the daemon's output")).toContain('unauthorized');
  expect(texts.get('the command line')).toContain('Rejected (auth)');
  for (const [place, text] of texts) {
    expect(
      needles.filter(needle => text.includes(needle)),
      place,
    ).toEqual([]);
  }
});

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name));
}
