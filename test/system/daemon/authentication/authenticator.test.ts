import { randomBytes, randomUUID } from 'node:crypto';
import { sign as signAsGitHub } from '@octokit/webhooks-methods';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bearerOf } from '../../../support/daemon.ts';
import { send } from '../../../support/http.ts';
import { openWebhookDaemon, type WebhookDaemon } from '../../../support/webhook-daemon.ts';

let daemon: WebhookDaemon;
beforeAll(async () => {
  daemon = await openWebhookDaemon({ settings: { logLevel: 'trace' } });
});
afterAll(() => daemon.stop());

describe('token', () => {
  const secret = 'correct-horse battery staple';

  test.each([
    ['the scheme in any case', 'bEARER correct-horse battery staple'],
    ['several spaces', 'Bearer    correct-horse battery staple'],
    ['white space around it all', '  Bearer correct-horse battery staple  '],
  ])('accepts %s', async (_, authorization) => {
    const webhook = await daemon.webhook({ secret });
    expect(await webhook.post('1', { headers: { authorization } })).toMatchObject({ status: 202 });
  });

  test.each([
    ['no header', {}],
    ['an empty header', { authorization: '' }],
    ['no token', { authorization: 'Bearer' }],
    ['no token but spaces', { authorization: 'Bearer   ' }],
    ['only the token', { authorization: secret }],
    ['another scheme', { authorization: `Basic ${secret}` }],
    ['no space after the scheme', { authorization: `Bearer${secret}` }],
    ['a tab after the scheme', { authorization: `Bearer\t${secret}` }],
    ['a beginning of the token', bearerOf(secret.slice(0, -1))],
    ['more than the token', bearerOf(`${secret}x`)],
    ['the token in another case', bearerOf(secret.toUpperCase())],
    ['two tokens in one header', bearerOf(`${secret}, ${secret}`)],
    ['the token in another header', { 'x-authorization': `Bearer ${secret}` }],
    ['a token of 12 KiB', bearerOf('x'.repeat(12 * 1024))],
  ])('refuses %s with 401', async (_, headers) => {
    const webhook = await daemon.webhook({ secret });
    expect(await webhook.post('1', { headers })).toMatchObject({ status: 401 });
    expect(await webhook.rowsOnce(1)).toMatchObject([{ outcome: 'Rejected (auth)' }]);
  });

  test('compares the bytes of a secret that is not ASCII', async () => {
    const webhook = await daemon.webhook({ secret: 'пароль-ключ' });
    expect(await webhook.post('1')).toMatchObject({ status: 202 });
    expect(await webhook.post('2', { headers: bearerOf('пароль-ключа') })).toMatchObject({ status: 401 });
  });
});

describe('url_token', () => {
  const secret = 'tok~en_0123456789.-ABCdef';
  const statusAt = async (target: (path: string) => string) => {
    const webhook = await daemon.webhook({ authMode: 'url_token', secret });
    const answer = await send(webhook.url, { target: target(`/webhooks/w/${webhook.uid}`), body: '1' });
    return answer.status;
  };

  test.each<[string, (path: string) => string]>([
    ['the token', path => `${path}/${secret}`],
    ['a query after it', path => `${path}/${secret}?a=b/c`],
    ['an empty query', path => `${path}/${secret}?`],
    ['%7E for ~', path => `${path}/${secret.replace('~', '%7E')}`],
    ['%7e for ~', path => `${path}/${secret.replace('~', '%7e')}`],
    ['a target with scheme and host', path => `http://example.com${path}/${secret}`],
  ])('accepts %s', async (_, target) => {
    expect(await statusAt(target)).toBe(202);
  });

  test.each<[string, number, (path: string) => string]>([
    ['another token', 401, path => `${path}/${secret}x`],
    ['no token', 401, path => path],
    ['the token as a query', 401, path => `${path}?token=${secret}`],
    ['the token with %00 after it', 401, path => `${path}/${secret}%00`],
    ['the token with %2F after it', 401, path => `${path}/${secret}%2F`],
    ['the token with an escape that is cut off', 401, path => `${path}/${secret}%7`],
    ['an empty token', 404, path => `${path}/`],
    ['a slash after the token', 404, path => `${path}/${secret}/`],
    ['a segment after the token', 404, path => `${path}/${secret}/more`],
    ['two slashes before the token', 404, path => `${path}//${secret}`],
    ['two slashes at the start', 404, path => `/${path}/${secret}`],
    ['%2F for the slash', 404, path => `${path}%2F${secret}`],
    ['a UID in upper case', 404, path => `/webhooks/w/${path.slice(-27).toUpperCase()}/${secret}`],
    ['the path in upper case', 404, path => `${path.replace('webhooks', 'WEBHOOKS')}/${secret}`],
    ['an escaped UID', 404, path => `${path.replace('wh_', '%77h_')}/${secret}`],
    ['%00 after the UID', 404, path => `${path}%00/${secret}`],
    ['a dot segment', 404, path => `${path}/../${path.slice(-27)}/${secret}`],
  ])('refuses %s with %i', async (_, expected, target) => {
    expect(await statusAt(target)).toBe(expected);
  });

  test('takes no bearer token, and a token webhook no path segment', async () => {
    const byUrl = await daemon.webhook({ authMode: 'url_token', secret });
    const headers = bearerOf(secret);
    const bare = `${daemon.ingressUrl}/webhooks/w/${byUrl.uid}`;
    expect(await send(bare, { headers, body: '1' })).toMatchObject({ status: 401 });
    const byHeader = await daemon.webhook({ secret });
    expect(await send(`${byHeader.url}/${secret}`, { headers, body: '1' })).toMatchObject({ status: 404 });
  });

  test('never shows a token that was presented, a wrong one included', async () => {
    const webhook = await daemon.webhook({ authMode: 'url_token', secret });
    const wrong = 'nearly-the-right-token';
    const answers = await Promise.all([
      webhook.post('1'),
      webhook.post('not json'),
      webhook.post(`"${'x'.repeat(300_000)}"`),
      send(webhook.url.replace(secret, wrong), { body: '1' }),
      send(`${webhook.url}/more`, { body: '1' }),
      send(webhook.url, { method: 'GET' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([202, 400, 413, 401, 404, 405]);
    const rows = await webhook.rowsOnce(4);
    const shown = JSON.stringify([
      answers,
      rows,
      await daemon.metrics(),
      await daemon.readyz(),
      daemon.logged(),
    ]);
    expect(shown).toContain(webhook.factory);
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain(wrong);
  });
});

describe('signature', () => {
  const body = '{"action":"opened","text":"zażółć"}';

  test('github: accepts what its SDK signs and nothing that differs', async () => {
    const secret = randomUUID();
    const webhook = await daemon.webhook({ authMode: 'signature', signatureScheme: 'github', secret });
    const signature = await signAsGitHub(secret, body);
    const accepted = await webhook.post(body, { headers: { 'X-Hub-Signature-256': signature } });
    expect(accepted.status).toBe(202);
    expect(await webhook.rows()).toMatchObject([{ outcome: 'Accepted', authenticatedBy: 'github' }]);
    const refused: [string, Record<string, string>][] = [
      [`${body} `, { 'X-Hub-Signature-256': signature }],
      [body, { 'X-Hub-Signature-256': await signAsGitHub('another secret', body) }],
      [body, { 'X-Hub-Signature-256': signature.slice(0, -1) }],
      [body, { 'X-Hub-Signature': signature }],
      [body, bearerOf(secret)],
      [body, {}],
    ];
    for (const [sent, headers] of refused) {
      expect(await webhook.post(sent, { headers })).toMatchObject({ status: 401 });
    }
  });

  test('github: checks the signature before the JSON', async () => {
    const secret = randomUUID();
    const webhook = await daemon.webhook({ authMode: 'signature', signatureScheme: 'github', secret });
    const headers = { 'X-Hub-Signature-256': await signAsGitHub(secret, 'not json') };
    expect(await webhook.post('not json', { headers })).toMatchObject({ status: 400 });
    expect(await webhook.post('not json', { headers: {} })).toMatchObject({ status: 401 });
  });

  test('standard-webhooks: accepts what the SDKs of both header families sign, and nothing stale', async () => {
    const secret = `whsec_${randomBytes(24).toString('base64')}`;
    const given = { authMode: 'signature', signatureScheme: 'standard-webhooks', secret };
    const webhook = await daemon.webhook(given);
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);
    const unixTime = (date: Date) => String(Math.floor(date.getTime() / 1_000));
    const standard = (id: string, date: Date, signed = body) => ({
      'webhook-id': id,
      'webhook-timestamp': unixTime(date),
      'webhook-signature': new StandardWebhook(secret).sign(id, date, signed),
    });
    const svix = (id: string, date: Date) => ({
      'svix-id': id,
      'svix-timestamp': unixTime(date),
      'svix-signature': new SvixWebhook(secret).sign(id, date, body),
    });
    const accepted = [standard('msg_1', ago(0)), svix('msg_2', ago(0)), standard('msg_3', ago(290))];
    for (const headers of accepted)
      expect(await webhook.post(body, { headers })).toMatchObject({ status: 202 });
    expect(await webhook.rows()).toMatchObject([
      { identity: 'msg_3' },
      { identity: 'msg_2' },
      { identity: 'msg_1' },
    ]);

    const refused = [
      standard('msg_4', ago(310)),
      standard('msg_5', ago(-310)),
      { ...standard('msg_6', ago(0)), 'webhook-id': 'msg_7' },
      { ...standard('msg_8', ago(0)), 'webhook-timestamp': unixTime(ago(5)) },
      standard('msg_9', ago(0), '{}'),
      {},
    ];
    for (const headers of refused)
      expect(await webhook.post(body, { headers })).toMatchObject({ status: 401 });
  });
});

test.each(['token', 'url_token', 'signature'])(
  'answers 401 to everything while the secret of a %s webhook is declared and has no value',
  async authMode => {
    const scheme = authMode === 'signature' ? { signatureScheme: 'github' } : {};
    const webhook = await daemon.webhook({ authMode, secret: null, ...scheme });
    const bare = `${daemon.ingressUrl}/webhooks/w/${webhook.uid}`;
    const signed = { 'X-Hub-Signature-256': await signAsGitHub('null', '1') };
    for (const headers of [{}, bearerOf(''), bearerOf('null'), bearerOf('undefined'), signed]) {
      expect(await send(bare, { headers, body: '1' })).toMatchObject({ status: 401 });
    }
    const [row] = await webhook.rowsOnce(5);
    expect(row?.reason).toContain('the team secret had no value');
  },
);
