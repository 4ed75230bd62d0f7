import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { SignatureScheme } from '../../signatures/description.ts';
import { diagnoseSignature } from '../../signatures/explain-failure.ts';
import { findScheme, schemes } from '../../signatures/schemes.ts';
import { signRequest } from '../../signatures/sign.ts';
import { credentialsFor, nowMs, received, receivedVector, sent, url, vectors } from './received.ts';

const secret = 'it is a secret';
const mac = (body: string, encoding: 'hex' | 'base64' = 'hex', hash = 'sha256') =>
  createHmac(hash, secret).update(body).digest(encoding);

describe('diagnoseSignature', () => {
  it.each<[string, string, Record<string, string>, string, string]>([
    [
      'a missing header',
      'github',
      {},
      '{}',
      'the header X-Hub-Signature-256 is missing: the sender does not sign, or has no secret set',
    ],
    [
      "another provider's header",
      'github',
      { 'Stripe-Signature': 't=1,v1=00' },
      '{}',
      'the header X-Hub-Signature-256 is missing: the sender does not sign, or has no secret set; it has Stripe-Signature, as signatureScheme: stripe',
    ],
    [
      'no signature at all',
      'github',
      { 'X-Hub-Signature-256': 'yes' },
      '{}',
      "the signature header does not have the scheme's form",
    ],
    [
      'another secret',
      'github',
      { 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` },
      '{}',
      'the signature does not match: the secret is another, or the body was changed on the way',
    ],
    [
      'another encoding',
      'github',
      { 'X-Hub-Signature-256': `sha256=${mac('{}', 'base64')}` },
      '{}',
      'the signature would match in base64, not hex',
    ],
    [
      'another hash',
      'github',
      { 'X-Hub-Signature-256': `sha256=${mac('{}', 'hex', 'sha1')}` },
      '{}',
      'the signature would match as HMAC-SHA1',
    ],
    [
      'no prefix',
      'github',
      { 'X-Hub-Signature-256': mac('{}') },
      '{}',
      'the signature would match without the prefix sha256=',
    ],
    [
      'JSON written anew',
      'github',
      { 'X-Hub-Signature-256': `sha256=${mac('{"a":1}')}` },
      '{ "a": 1 }',
      'the signature would match over the JSON written anew: the sender, or something on the way, rewrites the body',
    ],
    [
      'a line end added',
      'github',
      { 'X-Hub-Signature-256': `sha256=${mac('{"a": 1}')}` },
      '{"a": 1}\n',
      'the signature would match over the body without the white space at its end: something on the way adds it',
    ],
    [
      "another provider's scheme",
      'github',
      { 'X-Razorpay-Signature': mac('{}') },
      '{}',
      'the signature would match under signatureScheme: razorpay (Razorpay)',
    ],
    [
      "another provider's token",
      'github',
      { 'X-Gitlab-Token': secret },
      '{}',
      'the signature would match under signatureScheme: gitlab-token (GitLab (secret token))',
    ],
    [
      'a URL with another end',
      'square',
      { 'x-square-hmacsha256-signature': mac(`${url}/{}`, 'base64') },
      '{}',
      'the signature would match for a URL that ends with a slash: the provider has another URL on file',
    ],
    [
      'a URL with another beginning',
      'square',
      { 'x-square-hmacsha256-signature': mac(`${url.replace('https', 'http')}{}`, 'base64') },
      '{}',
      'the signature would match for a URL that begins with http: check the base URL',
    ],
  ])('finds %s', (_, id, headers, body, diagnosis) => {
    expect(diagnoseSignature(scheme(id), secret, received(headers, body), nowMs)).toBe(diagnosis);
  });

  it('finds white space around the secret', () => {
    const request = received({ 'X-Hub-Signature-256': `sha256=${mac('{}')}` }, '{}');
    expect(diagnoseSignature(scheme('github'), `${secret}\n`, request, nowMs)).toBe(
      "the signature would match without the white space at the secret's ends",
    );
  });

  it.each([
    [
      'standard-webhooks',
      'polar',
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      'taken as it stands, not decoded',
    ],
    [
      'polar',
      'standard-webhooks',
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      'less its whsec_, decoded from base64',
    ],
  ])('finds that the key of %s is made as for %s', (id, signer, whsec, how) => {
    const body = Buffer.from('{}');
    const headers = signRequest(scheme(signer), whsec, { body, url, method: 'POST', nowMs, id: 'evt_1' });
    const signed = received(headers, body);
    expect(diagnoseSignature(scheme(id), whsec, signed, nowMs)).toBe(
      `the signature would match with the secret ${how}`,
    );
  });

  it.each([
    [
      301,
      'the timestamp is 301 s old: a replay, a late retry, or a clock that differs; the signature itself matches',
    ],
    [-400, 'the timestamp is 400 s ahead: a clock differs; the signature itself matches'],
  ])('tells a timestamp %i s off', (seconds, diagnosis) => {
    const stripe = scheme('stripe');
    const at = nowMs + seconds * 1000;
    expect(diagnoseSignature(stripe, credentialsFor(stripe).secret, sent(stripe), at)).toBe(diagnosis);
    expect(diagnoseSignature(stripe, 'another', sent(stripe), at)).toMatch(/does not match either$/);
  });

  it('says what is wrong with an unusable secret', () => {
    const standard = scheme('standard-webhooks');
    expect(diagnoseSignature(standard, 'whsec_!', sent(standard), nowMs)).toBe(
      'the secret is not base64 after whsec_',
    );
  });

  it('takes any bytes for a body', () => {
    const signature = { 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` };
    for (const body of [Buffer.alloc(0), Buffer.from([0xff, 0xfe]), Buffer.from('['.repeat(200_000))]) {
      expect(diagnoseSignature(scheme('github'), secret, received(signature, body), nowMs)).toMatch(
        /does not match/,
      );
    }
    const deep = Buffer.from('['.repeat(100_000) + ']'.repeat(100_000));
    expect(diagnoseSignature(scheme('github'), secret, received(signature, deep), nowMs)).toMatch(
      /does not match/,
    );
  });

  it.each(vectors.filter(({ valid }) => !valid).map((vector, index) => ({ ...vector, index })))(
    'never shows the secret or a signature of $scheme ($index)',
    vector => {
      const request = receivedVector(vector);
      const diagnosis = diagnoseSignature(
        scheme(vector.scheme),
        vector.secret,
        request,
        vector.nowMs ?? nowMs,
      );
      expect(diagnosis).not.toContain(vector.secret);
      expect(diagnosis).not.toMatch(/[0-9a-f]{16}|[0-9A-Za-z+/]{27}=/);
    },
  );

  it.each(schemes)('says that what $id sends matches', scheme => {
    expect(diagnoseSignature(scheme, credentialsFor(scheme).secret, sent(scheme), nowMs)).toBe(
      'the signature matches',
    );
  });
});

function scheme(id: string): SignatureScheme {
  const found = findScheme(id);
  if (!found) throw new Error(`no scheme ${id}`);
  return found;
}
