import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HmacDescription, SignatureScheme } from '../../../signatures/description.ts';
import { checkSecret } from '../../../signatures/key.ts';
import { schemes } from '../../../signatures/schemes.ts';
import type { SignedRequest } from '../../../signatures/signed-request.ts';
import { compileVerifier, type Verification } from '../../../signatures/verify.ts';
import { bodyFor, credentialsFor, getScheme, nowMs, received, sent } from './received.ts';

const github = getScheme('github');
const stripe = getScheme('stripe');
const standard = getScheme('standard-webhooks');

describe('one flipped bit', () => {
  const bit = fc.record({ at: fc.nat(), bit: fc.nat(6) });

  it.each(schemes.filter(({ primitive }) => primitive !== 'shared-secret'))(
    'in the body is refused by $id',
    scheme => {
      fc.assert(
        fc.property(fc.string(), fc.nat(), fc.nat(7), (text, at, bit) => {
          const request = sent(scheme, { body: bodyFor(scheme, nowMs, text) });
          const verify = compileVerifier(scheme, credentialsFor(scheme).secret);
          expect(verify(request, nowMs).ok).toBe(true);
          const body = Buffer.from(request.body);
          body[at % body.length] = (body[at % body.length] ?? 0) ^ (1 << bit);
          expect(verify({ ...request, body }, nowMs).ok).toBe(false);
        }),
        { numRuns: 25 },
      );
    },
  );

  it.each(schemes)('in any header that $id reads is refused', scheme => {
    const request = sent(scheme);
    const verify = compileVerifier(scheme, credentialsFor(scheme).secret);
    const names = Object.keys(request.headers).filter(name => name !== unsignedHeader(scheme));
    fc.assert(
      fc.property(fc.constantFrom(...names), bit, (name, { at, bit }) => {
        const value = request.headers[name]?.[0] ?? '';
        const flipped = flip(value, at, bit);
        // Hex is read in either case.
        fc.pre(!(isHex(scheme) && flipped.toLowerCase() === value.toLowerCase()));
        const headers = { ...request.headers, [name]: [flipped] };
        expect(verify({ ...request, headers }, nowMs).ok).toBe(false);
      }),
      { numRuns: 200 },
    );
  });

  it.each(schemes)('in the secret of $id is refused', scheme => {
    const { secret } = credentialsFor(scheme);
    const request = sent(scheme);
    const hexKey = 'key' in scheme && scheme.key?.encoding === 'hex';
    fc.assert(
      fc.property(bit, ({ at, bit }) => {
        const flipped = flip(secret, at, bit);
        fc.pre(!(hexKey && flipped.toLowerCase() === secret.toLowerCase()));
        // A point on a curve has a second, hybrid form (SEC 1 section 2.3.3), one bit away: it is the same key.
        fc.pre(scheme.primitive !== 'ecdsa-p256' || pointOf(flipped) !== pointOf(secret));
        expect(compileVerifier(scheme, flipped)(request, nowMs).ok).toBe(false);
      }),
      { numRuns: 100 },
    );
  });

  it.each(['square', 'hubspot', 'contentful'])('in the URL is refused by %s, which signs it', id => {
    const request = sent(getScheme(id));
    const other = { ...request, url: request.url.replace('wh_0', 'wh_1') };
    expect(compileVerifier(getScheme(id), credentialsFor(getScheme(id)).secret)(other, nowMs).ok).toBe(false);
  });
});

describe('signs bytes, not text', () => {
  it.each([
    ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
    ['a NUL', Buffer.from('{"a":"\0"}')],
    ['a lone surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['nothing', Buffer.alloc(0)],
  ])('accepts a body with %s', (_, body) => {
    expect(verified(github, sent(github, { body })).ok).toBe(true);
  });

  it('distinguishes bodies that decode to the same text', () => {
    const request = sent(github, { body: Buffer.from([0x22, 0xff, 0x22]) });
    const lookalike = { ...request, body: Buffer.from([0x22, 0xfe, 0x22]) };
    expect(lookalike.body.toString()).toBe(request.body.toString());
    expect(verified(github, lookalike)).toEqual({ ok: false, reason: { code: 'signature-mismatch' } });
  });

  it('signs the timestamp as it was sent, leading zeros and all', () => {
    const request = sent(stripe);
    const padded = changed(request, 'stripe-signature', value => value.replace('t=', 't=0'));
    expect(verified(stripe, padded).ok).toBe(false);
  });
});

describe('headers', () => {
  it('refuses a request without a signature, and names the header', () => {
    expect(verified(github, received({}, '{}'))).toEqual({
      ok: false,
      reason: { code: 'header-missing', header: 'X-Hub-Signature-256' },
    });
  });

  it.each(schemes)('refuses a signature of $id that is sent twice', scheme => {
    const request = sent(scheme);
    const name = scheme.header.toLowerCase();
    const [value = ''] = request.headers[name] ?? [];
    const twice = { ...request, headers: { ...request.headers, [name]: [value, value] } };
    expect(verified(scheme, twice)).toEqual({ ok: false, reason: { code: 'header-repeated', header: name } });
  });

  it('refuses a timestamp or an id that is missing or sent twice', () => {
    const request = sent(standard);
    for (const header of ['webhook-timestamp', 'webhook-id']) {
      const [value = ''] = request.headers[header] ?? [];
      const without = { ...request, headers: { ...request.headers, [header]: undefined } };
      const twice = { ...request, headers: { ...request.headers, [header]: [value, value] } };
      expect(verified(standard, without)).toEqual({ ok: false, reason: { code: 'header-missing', header } });
      expect(verified(standard, twice)).toEqual({ ok: false, reason: { code: 'header-repeated', header } });
    }
  });

  it("accepts the standard's signatures under Svix's names and the other way round", () => {
    expect(verified(standard, sent(getScheme('svix')), credentialsFor(standard).secret).ok).toBe(true);
    expect(verified(getScheme('svix'), sent(standard), credentialsFor(standard).secret).ok).toBe(true);
  });

  it('does not mix the names of two sets', () => {
    const { headers, ...request } = sent(standard);
    const mixed = { 'svix-signature': headers['webhook-signature'], 'webhook-id': headers['webhook-id'] };
    const result = verified(standard, {
      ...request,
      headers: { ...mixed, 'webhook-timestamp': headers['webhook-timestamp'] },
    });
    expect(result).toEqual({ ok: false, reason: { code: 'header-missing', header: 'svix-timestamp' } });
  });

  it('accepts either of two numbered signatures', () => {
    const docusign = getScheme('docusign');
    const request = sent(docusign);
    const [value = ''] = request.headers['x-docusign-signature-1'] ?? [];
    const headers = { 'x-docusign-signature-1': [`A${value.slice(1)}`], 'x-docusign-signature-2': [value] };
    expect(verified(docusign, { ...request, headers }).ok).toBe(true);
  });
});

describe('the form of a signature', () => {
  const hex = sent(github);
  const base64 = sent(getScheme('shopify'));

  it.each<[string, (value: string) => string]>([
    ['empty', () => 'sha256='],
    ['truncated', value => value.slice(0, -2)],
    ['one byte', value => value.slice(0, 9)],
    ['longer', value => `${value}00`],
    ['followed by a space', value => `${value} `],
    ['after a space', value => value.replace('=', '= ')],
    ['not hex', value => `${value.slice(0, -1)}g`],
    ['with a character beyond ASCII', value => `${value.slice(0, -1)}\u0161`],
    ['another prefix', value => value.replace('sha256', 'sha1')],
    ['a prefix in capitals', value => value.replace('sha256', 'SHA256')],
    ['no prefix', value => value.slice(7)],
  ])('refuses hex that is %s', (_, change) => {
    expect(verified(github, changed(hex, 'x-hub-signature-256', change))).toEqual({
      ok: false,
      reason: { code: 'signature-malformed' },
    });
  });

  it('reads hex in capitals', () => {
    const request = changed(hex, 'x-hub-signature-256', value => `sha256=${value.slice(7).toUpperCase()}`);
    expect(verified(github, request).ok).toBe(true);
  });

  it.each<[string, (value: string) => string]>([
    ['empty', () => ' '],
    ['without its padding', value => value.slice(0, -1)],
    ['followed by anything', value => `${value}A`],
    ['followed by a line', value => `${value}\n`],
    ['with bits in its padding', value => `${value.slice(0, -2)}${next(value.at(-2) ?? '')}=`],
    ['in another alphabet', value => `${value.slice(0, 5)}-_${value.slice(7)}`],
    ['in lower case', value => value.toLowerCase()],
  ])('refuses base64 that is %s', (_, change) => {
    const result = verified(getScheme('shopify'), changed(base64, 'x-shopify-hmac-sha256', change));
    expect(result.ok).toBe(false);
  });

  it('does not remember the signature before', () => {
    const verify = compileVerifier(github, credentialsFor(github).secret);
    expect(verify(hex, nowMs).ok).toBe(true);
    const shortened = changed(hex, 'x-hub-signature-256', value => `${value.slice(0, -1)}é`);
    expect(verify(shortened, nowMs).ok).toBe(false);
  });
});

describe('a list of signatures', () => {
  const request = sent(stripe);
  const wrong = `v1=${'0'.repeat(64)}`;

  it('accepts the right one at any place among several, as while a secret is rotated', () => {
    for (const change of [
      (own: string) => `${own},${wrong}`,
      (own: string) => own.replace(',', `,${wrong},`),
    ]) {
      expect(verified(stripe, changed(request, 'stripe-signature', change)).ok).toBe(true);
    }
  });

  it('accepts white space around items and ignores versions that it does not know', () => {
    const spaced = changed(
      request,
      'stripe-signature',
      value => `v0=00, ${value.replace(',', ' ,\t')},junk,=`,
    );
    expect(verified(stripe, spaced).ok).toBe(true);
  });

  it.each<[string, (value: string) => string]>([
    ['an empty signature', value => value.replace(/v1=.*/, 'v1=')],
    ['no signature', value => value.replace(/,v1=.*/, '')],
    ['only versions that are not known', value => value.replace('v1=', 'v2=')],
    ['a version in capitals', value => value.replace('v1=', 'V1=')],
    ['two timestamps', value => `t=1,${value}`],
  ])('refuses %s', (_, change) => {
    expect(verified(stripe, changed(request, 'stripe-signature', change))).toEqual({
      ok: false,
      reason: { code: 'signature-malformed' },
    });
  });

  it('refuses an empty signature of Standard Webhooks', () => {
    const empty = changed(sent(standard), 'webhook-signature', () => 'v1,');
    expect(verified(standard, empty)).toEqual({ ok: false, reason: { code: 'signature-malformed' } });
  });

  it('refuses a header without a timestamp', () => {
    const without = changed(request, 'stripe-signature', value => value.replace(/t=\d+,/, ''));
    expect(verified(stripe, without)).toEqual({ ok: false, reason: { code: 'timestamp-missing' } });
  });

  it('refuses 10,000 items of versions that it does not know, even if one is right', () => {
    const many = changed(request, 'stripe-signature', value => `${value}${',v9=00'.repeat(10_000)}`);
    expect(verified(stripe, many)).toEqual({ ok: false, reason: { code: 'signatures-too-many' } });
  });

  it.each([17, 10_000])('refuses %i signatures without trying them, even if one is right', count => {
    const many = changed(request, 'stripe-signature', value => `${value}${`,${wrong}`.repeat(count - 1)}`);
    expect(verified(stripe, many)).toEqual({ ok: false, reason: { code: 'signatures-too-many' } });
  });
});

describe('a list without keys', () => {
  const cronofy = getScheme('cronofy');
  const recurly = getScheme('recurly');
  const wrong = 'A'.repeat(43);

  it('accepts the right one at any place among several', () => {
    for (const change of [(own: string) => `${own},${wrong}=`, (own: string) => `${wrong}=, ${own}`]) {
      expect(verified(cronofy, changed(sent(cronofy), 'cronofy-hmac-sha256', change)).ok).toBe(true);
    }
  });

  it('takes only the first item for the timestamp', () => {
    const rotated = (value: string) => value.replace(',', `,${'0'.repeat(64)},`);
    expect(verified(recurly, changed(sent(recurly), 'recurly-signature', rotated)).ok).toBe(true);
    const swapped = (value: string) => value.split(',').reverse().join(',');
    expect(verified(recurly, changed(sent(recurly), 'recurly-signature', swapped)).ok).toBe(false);
  });

  it.each([
    ['only a timestamp', (value: string) => value.split(',')[0] ?? ''],
    ['no timestamp', (value: string) => value.split(',')[1] ?? ''],
  ])('refuses %s', (_, change) => {
    expect(verified(recurly, changed(sent(recurly), 'recurly-signature', change)).ok).toBe(false);
  });
});

describe('a time without a zone', () => {
  const orb = getScheme('orb');

  it('is in UTC, wherever the receiver is', () => {
    expect(sent(orb).headers['x-orb-timestamp']).toEqual(['2023-11-14T22:13:20.000']);
    expect(verified(orb, sent(orb)).ok).toBe(true);
    expect(verified(orb, sent(orb), undefined, nowMs + 301_000)).toMatchObject({
      reason: { code: 'timestamp-too-old' },
    });
  });
});

describe('the replay window', () => {
  const windowed = schemes.flatMap(scheme =>
    'timestamp' in scheme && scheme.timestamp?.toleranceSeconds !== undefined
      ? [{ ...scheme, timestamp: scheme.timestamp, seconds: scheme.timestamp.toleranceSeconds }]
      : [],
  );

  it.each(windowed)(
    'of $id includes $seconds s and ends with the next step of its unit, both ways',
    ({ seconds, ...scheme }) => {
      const verify = compileVerifier(scheme, credentialsFor(scheme).secret);
      const request = sent(scheme);
      const at = (offsetMs: number) => verify(request, nowMs + offsetMs);
      const windowMs = seconds * 1000;
      const stepMs = scheme.timestamp.unit === 's' ? 1000 : 1;
      expect(at(windowMs).ok).toBe(true);
      expect(at(-windowMs).ok).toBe(true);
      expect(at(windowMs + stepMs)).toEqual({
        ok: false,
        reason: { code: 'timestamp-too-old', seconds: seconds + 1 },
      });
      expect(at(-windowMs - stepMs)).toEqual({
        ok: false,
        reason: { code: 'timestamp-ahead', seconds: seconds + 1 },
      });
    },
  );

  it('of a timestamp in whole seconds counts the current second as a whole, as Stripe’s library does', () => {
    const verify = compileVerifier(getScheme('stripe'), credentialsFor(getScheme('stripe')).secret);
    const request = sent(getScheme('stripe'));
    expect(verify(request, nowMs + 300_999).ok).toBe(true);
    expect(verify(request, nowMs - 299_001).ok).toBe(true);
    expect(verify(request, nowMs - 300_001).ok).toBe(false);
  });

  it.each([
    '123junk',
    '1700000000.5',
    '1.7e9',
    '-1700000000',
    '+1700000000',
    ' 1700000000',
    '0x6553f100',
    '9'.repeat(400),
  ])('refuses %j as seconds, even if it is signed', text => {
    const { secret } = credentialsFor(getScheme('slack'));
    const mac = createHmac('sha256', secret).update(`v0:${text}:{}`).digest('hex');
    const headers = { 'X-Slack-Signature': `v0=${mac}`, 'X-Slack-Request-Timestamp': text };
    const result = verified(getScheme('slack'), received(headers, '{}'));
    expect(result).toEqual({ ok: false, reason: { code: 'timestamp-malformed' } });
  });

  it('refuses an empty timestamp', () => {
    const request = changed(sent(getScheme('slack')), 'x-slack-request-timestamp', () => '');
    expect(verified(getScheme('slack'), request).ok).toBe(false);
  });

  it.each([
    '2023-11-14',
    '2023-11-14T22:13:20',
    '2023-13-14T22:13:20Z',
    '2023-11-14T22:13:20Z ',
    '1700000000',
    'now',
  ])('refuses %j as ISO 8601', text => {
    const request = changed(sent(getScheme('zendesk')), 'x-zendesk-webhook-signature-timestamp', () => text);
    expect(verified(getScheme('zendesk'), request)).toEqual({
      ok: false,
      reason: { code: 'timestamp-malformed' },
    });
  });

  it.each([
    '{}',
    '[]',
    'null',
    '{"webhookTimestamp":null}',
    '{"webhookTimestamp":"soon"}',
    '{"webhookTimestamp":1.5}',
    '{',
  ])('refuses the signed body %s, in which no timestamp stands', body => {
    expect(verified(getScheme('linear'), sent(getScheme('linear'), { body: Buffer.from(body) })).ok).toBe(
      false,
    );
  });

  it('has a timestamp signed: changing only the window does not help a replay', () => {
    const later = { ...sent(getScheme('slack')) };
    const request = changed(later, 'x-slack-request-timestamp', () => String(nowMs / 1000 + 3600));
    expect(verified(getScheme('slack'), request, undefined, nowMs + 3_600_000)).toEqual({
      ok: false,
      reason: { code: 'signature-mismatch' },
    });
  });
});

describe('the delivery id', () => {
  it.each([
    ['standard-webhooks', 'evt_1'],
    ['github', 'evt_1'],
    ['gitlab-token', 'evt_1'],
    ['twitch', 'evt_1'],
    ['bitbucket', 'evt_1'],
    ['zendesk', 'evt_1'],
    ['sanity', 'evt_1'],
    ['contentful', 'evt_1'],
    ['stripe', undefined],
    ['sentry', undefined],
  ])('of %s is %s', (id, deliveryId) => {
    expect(deliveryIdOf(verified(getScheme(id), sent(getScheme(id))))).toBe(deliveryId);
  });

  it('comes from the headers of the set that was verified', () => {
    const { headers, ...request } = sent(getScheme('shopify'));
    const renamed = {
      'shopify-hmac-sha256': headers['x-shopify-hmac-sha256'],
      'shopify-webhook-id': ['evt_2'],
    };
    expect(deliveryIdOf(verified(getScheme('shopify'), { ...request, headers: renamed }))).toBe('evt_2');
  });

  it('is absent if its header is sent twice', () => {
    const request = sent(github);
    const headers = { ...request.headers, 'x-github-delivery': ['a', 'b'] };
    expect(deliveryIdOf(verified(github, { ...request, headers }))).toBeUndefined();
  });
});

describe('secrets', () => {
  it.each(schemes)('an empty one never verifies for $id', scheme => {
    expect(compileVerifier(scheme, '')(sent(scheme), nowMs)).toEqual({
      ok: false,
      reason: { code: 'secret-unusable' },
    });
  });

  it.each([
    ['standard-webhooks', 'whsec_', 'the secret is empty after whsec_'],
    ['standard-webhooks', 'whsec_not base64!', 'the secret is not valid base64 after whsec_'],
    ['standard-webhooks', 'whsec_YWJj\n', 'the secret is not valid base64 after whsec_'],
    ['adyen-platform', 'xyz', 'the secret is not valid hex'],
    ['adyen-platform', 'abc', 'the secret is not valid hex'],
    ['discord', 'abcd', 'the public key is not a 32-byte Ed25519 key'],
    ['discord', 'ab'.repeat(33), 'the public key is not a 32-byte Ed25519 key'],
    ['sendgrid', p384Key(), 'the public key is not a P-256 key'],
    ['sendgrid', 'AAAA', 'the public key is not a P-256 key'],
    ['github', '', 'the secret is empty'],
    [
      'standard-webhooks',
      'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==',
      "the secret is the sender's private key; use its public key, which starts with whpk_",
    ],
    ['svix', 'whpk_AAAA', 'the public key is not a 32-byte Ed25519 key'],
  ])('%s refuses %j: %s', (id, secret, problem) => {
    expect(checkSecret(getScheme(id), secret)).toBe(problem);
    expect(compileVerifier(getScheme(id), secret)(sent(getScheme(id)), nowMs).ok).toBe(false);
  });

  it.each(schemes)('what the provider of $id issues is accepted', scheme => {
    expect(checkSecret(scheme, credentialsFor(scheme).secret)).toBeUndefined();
  });

  it('takes a whsec_ secret with or without its prefix', () => {
    const { secret } = credentialsFor(standard);
    expect(verified(standard, sent(standard), secret.replace('whsec_', '')).ok).toBe(true);
  });

  it('takes characters beyond ASCII as UTF-8, in a header too', () => {
    const token = getScheme('gitlab-token');
    const request = received({ 'X-Gitlab-Token': Buffer.from('pässword').toString('latin1') }, '{}');
    expect(verified(token, request, 'pässword').ok).toBe(true);
    expect(verified(token, received({ 'X-Gitlab-Token': 'pässword' }, '{}'), 'pässword').ok).toBe(false);
  });
});

describe('Contentful', () => {
  it('signs the named headers in the order of their names, however they are listed', () => {
    const contentful = getScheme('contentful');
    const { secret } = credentialsFor(contentful);
    const list = 'x-contentful-timestamp, X-Contentful-Signed-Headers,content-type';
    const signed = [
      'content-type:application/json',
      `x-contentful-signed-headers:${list}`,
      `x-contentful-timestamp:${nowMs}`,
    ];
    const content = `POST\n/webhooks/w/wh_0123456789abcdefghijklmn\n${signed.join(';')}\n{}`;
    const headers = {
      'Content-Type': 'application/json',
      'x-contentful-signed-headers': list,
      'x-contentful-timestamp': String(nowMs),
      'x-contentful-signature': createHmac('sha256', secret).update(content).digest('hex'),
    };
    expect(verified(contentful, received(headers, '{}')).ok).toBe(true);
  });

  it.each([
    ['the list of signed headers', 'x-contentful-timestamp'],
    ['the timestamp', 'x-contentful-signed-headers'],
  ])('refuses a request that does not sign %s', (_, list) => {
    const contentful = getScheme('contentful');
    const request = changed(sent(contentful), 'x-contentful-signed-headers', () => list);
    expect(verified(contentful, request)).toEqual({ ok: false, reason: { code: 'content-missing' } });
  });
});

describe('an HMAC described by its user', () => {
  const custom: HmacDescription = {
    primitive: 'hmac',
    hash: 'sha512',
    encoding: 'base64url',
    header: 'X-Acme-Signature',
    prefix: 'v=',
    content: '{method}\n{url}\n{id}\n{timestamp}\n{body}',
    timestamp: { header: 'X-Acme-Time', unit: 'iso8601', toleranceSeconds: 60 },
    idHeader: 'X-Acme-Id',
    key: { encoding: 'hex' },
  };

  it('verifies what openssl signs', () => {
    // printf 'POST\nhttps://acme.example/in\nevt_1\n2023-11-14T22:13:20Z\n{"a":1}' |
    //   openssl dgst -sha512 -mac HMAC -macopt hexkey:00ff00ff -binary | basenc --base64url -w0 | tr -d =
    const request = received(
      {
        'X-Acme-Signature':
          'v=AKSC-OKbibI9sRC6TbRrm0nvY6PI9J9sST4BBxuchGcuYJ-Tyja_ydXLyFTkUfLx3tqT63XM3bcerO7T5iQAqA',
        'X-Acme-Time': '2023-11-14T22:13:20Z',
        'X-Acme-Id': 'evt_1',
      },
      '{"a":1}',
      { url: 'https://acme.example/in' },
    );
    expect(deliveryIdOf(compileVerifier(custom, '00ff00ff')(request, nowMs))).toBe('evt_1');
  });
});

function verified(
  description: SignatureScheme,
  request: SignedRequest,
  secret = credentialsFor(description).secret,
  atMs = nowMs,
): Verification {
  return compileVerifier(description, secret)(request, atMs);
}

function deliveryIdOf(verification: Verification): string | undefined {
  if (!verification.ok) throw new Error(`not verified: ${verification.reason.code}`);
  return verification.deliveryId;
}

function changed(request: SignedRequest, name: string, change: (value: string) => string): SignedRequest {
  return { ...request, headers: { ...request.headers, [name]: [change(request.headers[name]?.[0] ?? '')] } };
}

function flip(text: string, at: number, bit: number): string {
  const index = at % text.length;
  const code = text.charCodeAt(index) ^ (1 << bit);
  return text.slice(0, index) + String.fromCharCode(code) + text.slice(index + 1);
}

function next(character: string): string {
  return String.fromCharCode(character.charCodeAt(0) + 1);
}

function isHex(scheme: SignatureScheme): boolean {
  return scheme.encoding === 'hex';
}

function p384Key(): string {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  return publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
}

function unsignedHeader(scheme: SignatureScheme): string | undefined {
  return scheme.deliveryIdHeader?.toLowerCase();
}

/** Returns the point of a public key, independent of its form; undefined for other text. */
function pointOf(secret: string): string | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(secret, 'base64'), format: 'der', type: 'spki' });
    const { x, y } = key.export({ format: 'jwk' });
    return `${x} ${y}`;
  } catch {
    return undefined;
  }
}
