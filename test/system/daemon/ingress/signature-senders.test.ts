import { createHmac, generateKeyPairSync, sign as signWithKey } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { sign as signGithub } from '@octokit/webhooks-methods';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { CustomScheme } from '../../../../schema/definitions/custom-scheme.ts';
import { connectTo, head, send } from '../../../support/http.ts';
import {
  type GivenWebhook,
  type InProcessDaemon,
  type InProcessWebhook,
  startInProcessDaemon,
} from '../../../support/in-process-daemon.ts';

const nowMs = 1_700_000_000_000;
const whsec = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const ed25519 = generateKeyPairSync('ed25519');

const custom: CustomScheme = {
  header: 'X-Acme-Signature',
  hash: 'sha512',
  encoding: 'base64url',
  list: { separator: ';', keyValueSeparator: ':', key: 'sig' },
  content: '{method} {id} {timestamp} {body}',
  timestamp: { field: 'at', unit: 'ms', toleranceSeconds: 60 },
  idHeader: 'X-Acme-Event',
  key: { stripPrefix: 'acme_', encoding: 'hex' },
};

const given = {
  'standard-webhooks': { scheme: 'standard-webhooks', secret: whsec },
  svix: { scheme: 'svix', secret: whsec },
  stripe: { scheme: 'stripe', secret: 'whsec_test_secret' },
  github: { scheme: 'github', secret: "It's a Secret to Everybody" },
  discord: {
    scheme: 'discord',
    secret: ed25519.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex'),
  },
  'gitlab-token': { scheme: 'gitlab-token', secret: 'glpät' },
  custom: { scheme: custom, secret: 'acme_00ff00ff' },
  declared: { scheme: 'github', secret: null },
  named: { scheme: 'github', secret: 'secret', deliveryIdHeader: 'X-Event' },
} satisfies Record<string, GivenWebhook>;
type Name = keyof typeof given;

let daemon: InProcessDaemon;
beforeAll(async () => {
  daemon = await startInProcessDaemon(Object.values(given));
});
beforeEach(() => {
  daemon.clock.nowMs = nowMs;
});
afterAll(() => daemon.stop());

interface Signing {
  readonly body: string | Buffer;
  readonly secret?: string;
  readonly id?: string;
  readonly atMs?: number;
}

/** Headers that each provider's own library sends with a body; for Discord and Acme, an independent signer's. */
const senders: Readonly<Record<string, (signing: Signing) => Promise<Record<string, string>>>> = {
  'standard-webhooks': async ({ body, secret = whsec, id = 'msg_1', atMs = nowMs }) => ({
    'webhook-id': id,
    'webhook-timestamp': String(atMs / 1000),
    'webhook-signature': new StandardWebhook(secret).sign(id, new Date(atMs), body),
  }),
  svix: async ({ body, secret = whsec, id = 'msg_1', atMs = nowMs }) => ({
    'svix-id': id,
    'svix-timestamp': String(atMs / 1000),
    'svix-signature': new SvixWebhook(secret).sign(id, new Date(atMs), body),
  }),
  stripe: async ({ body, secret = given.stripe.secret, atMs = nowMs }) => ({
    'Stripe-Signature': Stripe.webhooks.generateTestHeaderString({
      payload: String(body),
      secret,
      timestamp: atMs / 1000,
    }),
  }),
  github: async ({ body, secret = given.github.secret, id = 'evt-1' }) => ({
    'X-Hub-Signature-256': await signGithub(secret, String(body)),
    'X-GitHub-Delivery': id,
  }),
  discord: async ({ body, atMs = nowMs }) => ({
    'X-Signature-Ed25519': signWithKey(
      null,
      Buffer.from(`${atMs / 1000}${body}`),
      ed25519.privateKey,
    ).toString('hex'),
    'X-Signature-Timestamp': String(atMs / 1000),
  }),
  custom: async ({ body, secret = given.custom.secret, id = 'evt-1', atMs = nowMs }) => {
    const key = Buffer.from(secret.replace('acme_', ''), 'hex');
    const mac = createHmac('sha512', key).update(`POST ${id} ${atMs} ${body}`).digest('base64url');
    return { 'X-Acme-Signature': `at:${atMs};sig:${mac}`, 'X-Acme-Event': id };
  },
};
const names = Object.keys(senders) as Name[];

describe.each(names)('what the sender of %s signs', name => {
  const headersFor = (signing: Signing) => senders[name]?.(signing) ?? Promise.reject(new Error(name));
  let unique = 0;
  const freshBody = () => JSON.stringify({ type: 'test', name: 'Zoë', n: ++unique });

  test('is accepted, whatever the case of its header names', async () => {
    for (const change of [same, upper, lower, mixed]) {
      const body = freshBody();
      const headers = renamed(await headersFor({ body, id: `id-${unique}` }), change);
      expect(await post(name, headers, body)).toMatchObject({ status: 202 });
    }
    expect(await webhook(name).rows()).toMatchObject(Array(4).fill({ outcome: 'Accepted' }));
  });

  test('is refused with one bit flipped in the body', async () => {
    const body = Buffer.from(freshBody());
    const headers = await headersFor({ body });
    for (let at = 0; at < body.length; at++) {
      const flipped = Buffer.from(body);
      flipped[at] = (body[at] ?? 0) ^ (1 << (at % 8));
      expect(await post(name, headers, flipped), String(flipped)).toMatchObject({ status: 401 });
    }
  });

  test('is refused with one bit flipped in any signed header: signature, timestamp, id', async () => {
    const body = freshBody();
    const headers = await headersFor({ body });
    for (const [header, value] of Object.entries(headers)) {
      if (header === 'X-GitHub-Delivery') continue;
      for (let at = 0; at < value.length; at++) {
        const flipped =
          value.slice(0, at) + String.fromCharCode(value.charCodeAt(at) ^ 1) + value.slice(at + 1);
        const answer = await post(name, { ...headers, [header]: flipped }, body);
        expect(answer.status, `${header}: ${flipped}`).toBe(401);
      }
    }
  });

  test('is refused without any one of its headers', async () => {
    const body = freshBody();
    const headers = await headersFor({ body });
    for (const header of Object.keys(headers)) {
      if (header === 'X-GitHub-Delivery') continue;
      const { [header]: _, ...others } = headers;
      expect(await post(name, others, body), header).toMatchObject({ status: 401 });
    }
    expect(await post(name, {}, body)).toMatchObject({ status: 401 });
  });

  test('is refused with a header of it sent twice', async () => {
    const body = freshBody();
    const headers = await headersFor({ body });
    for (const [header, value] of Object.entries(headers)) {
      if (header === 'X-GitHub-Delivery') continue;
      expect(await post(name, { ...headers, [header]: [value, value] }, body), header).toMatchObject({
        status: 401,
      });
    }
  });

  test('is refused with its signature cut short or followed by anything', async () => {
    const body = freshBody();
    const headers = await headersFor({ body });
    const [header = ''] = Object.keys(headers).filter(header => /signature(-256|-ed25519)?$/i.test(header));
    const value = headers[header] ?? '';
    const changes = [
      ...[1, 2, 3, 4, 20].map(count => value.slice(0, -count)),
      ...['A', '=', '==', '00', ' ', '.', '!', '\u00e9'].map(junk => value + junk),
      value.slice(0, 4),
      'v1,',
      'v1=',
      'sha256=',
    ];
    for (const changed of changes) {
      const answer = await post(name, { ...headers, [header]: changed }, body);
      // White space at its end is no part of a header's value (RFC 9110 section 5.5).
      expect(answer.status, changed).toBe(changed.trim() === value ? 202 : 401);
    }
  });
});

test.each(names.filter(name => !['discord', 'svix'].includes(name)))(
  'a secret of %s with one bit flipped signs for nobody',
  async name => {
    const { secret } = given[name];
    const body = '{"flipped":"secret"}';
    for (let at = 0; at < (secret ?? '').length; at++) {
      if (/^(whsec_|acme_)/.exec(secret ?? '')?.[0]?.charAt(at)) continue;
      const flipped = flipIn(secret ?? '', at);
      if (name === 'standard-webhooks' && !/^whsec_[A-Za-z0-9+/]+$/.test(flipped)) continue;
      const headers = await senders[name]?.({ body, secret: flipped });
      expect((await post(name, headers ?? {}, body)).status, flipped).toBe(401);
    }
  },
);

test.each(['standard-webhooks', 'svix', 'stripe'] as const)(
  'a signature of %s in whole seconds is good for 300 of them, both ways, and no longer',
  async name => {
    const body = JSON.stringify({ window: name });
    const headers = (await senders[name]?.({ body })) ?? {};
    for (const [offsetMs, status] of [
      [300_999, 202],
      [301_000, 401],
      [-300_000, 202],
      [-300_001, 401],
    ] as const) {
      daemon.clock.nowMs = nowMs + offsetMs;
      expect(await post(name, headers, body), String(offsetMs)).toMatchObject({ status });
    }
  },
);

describe('many signatures in one header', () => {
  const body = '{"many":1}';

  test.each([
    ['standard-webhooks', 'webhook-signature', ' '],
    ['svix', 'svix-signature', ' '],
    ['stripe', 'Stripe-Signature', ','],
  ] as const)('are refused by %s, even if one is right', async (name, header, separator) => {
    const headers = (await senders[name]?.({ body })) ?? {};
    const own = headers[header] ?? '';
    const junk = name === 'stripe' ? 'v1=00' : 'v1,AAAA';
    const many = (count: number) => [...Array<string>(count - 1).fill(junk), own].join(separator);
    for (const count of [17, 1_500]) {
      const answer = await post(name, { ...headers, [header]: many(count) }, body);
      expect(answer.status, String(count)).toBe(401);
    }
    // Node refuses headers of more than 16 KiB by itself; a sender still writing may see the connection reset instead.
    const { url } = webhook(name);
    const connection = await connectTo(url);
    const lines = Object.entries({ ...headers, [header]: many(10_000) }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    connection.write(head(url, [...lines, `Content-Length: ${body.length}`]) + body);
    expect(await connection.closed).toMatch(/^(HTTP\/1\.1 431 |$)/);
    expect(await post(name, headers, body)).toMatchObject({ status: 202 });
  });

  test('are accepted as long as they can be those of a rotation', async () => {
    const headers = (await senders['standard-webhooks']?.({ body })) ?? {};
    const other = new StandardWebhook('whsec_c2VjcmV0c2VjcmV0c2VjcmV0').sign('msg_1', new Date(nowMs), body);
    const both = `${other} ${headers['webhook-signature']}`;
    const answer = await post('standard-webhooks', { ...headers, 'webhook-signature': both }, body);
    expect(answer.status).toBe(202);
  });
});

describe('signs bytes, not text', () => {
  const github = (body: Buffer) => {
    const mac = createHmac('sha256', given.github.secret).update(body).digest('hex');
    return post('github', { 'X-Hub-Signature-256': `sha256=${mac}` }, body);
  };

  test.each([
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), 400],
    ['an encoded surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 400],
    ['a raw NUL in a string', Buffer.from('"\0"'), 400],
    ['a byte order mark', Buffer.from('\ufeff1'), 202],
    ['nothing', Buffer.alloc(0), 400],
    ['an escaped NUL', Buffer.from('"\\u0000"'), 202],
    ['an escaped lone surrogate', Buffer.from('"\\ud800"'), 202],
  ])('a body with %s is verified, and then answered as JSON has it', async (_, body, status) => {
    expect(await github(body)).toMatchObject({ status });
    await expect
      .poll(async () => (await webhook('github').rows())[0])
      .toMatchObject({
        outcome: status === 202 ? 'Accepted' : 'Rejected (invalid JSON)',
        size: body.length,
        authenticatedBy: 'github',
      });
  });

  test('bodies that decode to the same text share neither a signature nor an identity', async () => {
    const [invalid, replaced] = [Buffer.from([0x22, 0xff, 0x22]), Buffer.from('"\ufffd"')];
    expect(invalid.toString()).toBe(replaced.toString());
    const mac = createHmac('sha256', given.github.secret).update(invalid).digest('hex');
    const headers = { 'X-Hub-Signature-256': `sha256=${mac}` };
    expect(await post('github', headers, replaced)).toMatchObject({ status: 401 });

    const spellings = ['"\ufffd"', '"\\ufffd"', '"\\uFFFD"', '"\\ud801"', '"\\udc01"'];
    const answers = await Promise.all(spellings.map(spelling => github(Buffer.from(spelling))));
    expect(new Set(answers.map(({ deliveryId }) => deliveryId)).size).toBe(spellings.length);
  });
});

test('a token in a header is compared byte for byte, UTF-8 included', async () => {
  const token = Buffer.from(given['gitlab-token'].secret).toString('latin1');
  expect(await post('gitlab-token', { 'X-Gitlab-Token': token }, '{}')).toMatchObject({ status: 202 });
  for (const wrong of [`${token}x`, token.slice(0, -1), token.toUpperCase(), 'glpät', '']) {
    expect(await post('gitlab-token', { 'X-Gitlab-Token': wrong }, '{}'), wrong).toMatchObject({
      status: 401,
    });
  }
});

test.each(['', 'null', 'undefined'])(
  'a secret that is only declared never verifies: signed with %j',
  async secret => {
    const mac = createHmac('sha256', secret).update('{}').digest('hex');
    expect(await post('declared', { 'X-Hub-Signature-256': `sha256=${mac}` }, '{}')).toMatchObject({
      status: 401,
    });
  },
);

describe('the identity of a signed delivery', () => {
  test.each([
    ['standard-webhooks', 'scheme', 'identity-1'],
    ['svix', 'scheme', 'identity-1'],
    ['github', 'scheme', 'identity-1'],
    ['custom', 'scheme', 'identity-1'],
    ['stripe', 'schemeField', 'evt_stripe'],
  ] as const)('of %s comes from the %s', async (name, identitySource, identity) => {
    const body = JSON.stringify({ id: `evt_${name}` });
    const headers = (await senders[name]?.({ body, id: 'identity-1' })) ?? {};
    const first = await post(name, headers, body);
    const [row] = await webhook(name).rows();
    expect(row).toMatchObject({ outcome: 'Accepted', identity, identitySource });
    expect(await post(name, headers, body)).toMatchObject({ status: 202, deliveryId: first.deliveryId });
  });

  test('comes from the header that the webhook names before the scheme has its say', async () => {
    const body = '{"identity":"named"}';
    const headers = (await senders.github?.({ body, id: 'of-scheme', secret: 'secret' })) ?? {};
    await post('named', { ...headers, 'X-Event': 'of-webhook' }, body);
    const [row] = await webhook('named').rows();
    expect(row).toMatchObject({ identity: 'of-webhook', identitySource: 'deliveryIdHeader' });
  });
});

function webhook(name: Name): InProcessWebhook {
  const found = daemon.webhooks[Object.keys(given).indexOf(name)];
  if (!found) throw new Error(`no webhook ${name}`);
  return found;
}

function post(name: Name, headers: OutgoingHttpHeaders, body: string | Uint8Array) {
  return send(webhook(name).url, { headers, body });
}

const same = (text: string) => text;
const upper = (text: string) => text.toUpperCase();
const lower = (text: string) => text.toLowerCase();
const mixed = (text: string) =>
  text.replaceAll(/./g, (c, at) => (at % 2 ? c.toUpperCase() : c.toLowerCase()));

function renamed(headers: Record<string, string>, change: (name: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [change(name), value]));
}

function flipIn(text: string, at: number): string {
  return text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1);
}
