import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { HmacDescription, SignatureDescription } from '../../../signatures/description.ts';
import { explainFailure } from '../../../signatures/explain-failure.ts';
import type { Explanation } from '../../../signatures/explanation.ts';
import { standardWebhooks } from '../../../signatures/schemes/shapes.ts';
import { signRequest } from '../../../signatures/sign.ts';
import type { SignedRequest } from '../../../signatures/signed-request.ts';
import { compileVerifier } from '../../../signatures/verify.ts';
import {
  credentialsFor,
  getScheme,
  nowMs,
  received,
  receivedVector,
  sent,
  url,
  vectors,
} from './received.ts';

const secret = 'it is a secret';
const missing =
  'the header X-Hub-Signature-256 is missing: the sender does not sign, or has no secret configured';
const mac = (body: string, encoding: 'hex' | 'base64' = 'hex', hash = 'sha256') =>
  createHmac(hash, secret).update(body).digest(encoding);

/** Explains why a request does not verify, or throws if it does. */
function explain(...given: Parameters<typeof explainWhole>): string {
  return explainWhole(...given).cause;
}

function explainWhole(
  description: SignatureDescription,
  secret: string,
  request: SignedRequest,
  atMs: number,
): Explanation {
  const verification = compileVerifier(description, secret)(request, atMs);
  if (verification.ok) throw new Error('the request verifies');
  return explainFailure(description, secret, request, verification.reason);
}

describe('explainFailure', () => {
  it.each<[string, string, Record<string, string>, string, string]>([
    [
      'a missing header',
      'github',
      {},
      '{}',
      'the header X-Hub-Signature-256 is missing: the sender does not sign, or has no secret configured',
    ],
    [
      "another provider's header",
      'github',
      { 'Stripe-Signature': `t=1,v1=${'0'.repeat(64)}` },
      '{}',
      `${missing}; the request has Stripe-Signature, as with signatureScheme: stripe (Stripe)`,
    ],
    [
      'a header that several providers use, without naming only one of them',
      'github',
      { 'X-Hub-Signature': `sha256=${'0'.repeat(64)}` },
      '{}',
      `${missing}; the request has X-Hub-Signature, as with signatureScheme: bitbucket, snyk or jira`,
    ],
    [
      'a header whose value only one of its providers writes',
      'stripe',
      { 'X-Hub-Signature': `sha1=${'0'.repeat(40)}` },
      '{}',
      'the header Stripe-Signature is missing: the sender does not sign, or has no secret configured',
    ],
    [
      'an Authorization header, which says nothing about the provider',
      'github',
      { Authorization: `Bearer ${secret}x` },
      '{}',
      missing,
    ],
    [
      'a header and a form that many schemes use, by the first of them',
      'github',
      {
        'webhook-id': 'msg_1',
        'webhook-timestamp': '1700000000',
        'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
      },
      '{}',
      `${missing}; the request has webhook-signature, as with signatureScheme: standard-webhooks, or another that signs alike`,
    ],
    [
      'the same header in another form',
      'github',
      { 'Webhook-Signature': '0'.repeat(64) },
      '{}',
      `${missing}; the request has Webhook-Signature, as with signatureScheme: gocardless (GoCardless)`,
    ],
    [
      'a signature that fits several schemes of one header',
      'github',
      { 'X-Signature': mac('{}') },
      '{}',
      'the signature would match with signatureScheme: lemonsqueezy, modern-treasury or clickup',
    ],
    [
      "GitHub's older signature",
      'github',
      { 'X-Hub-Signature': `sha1=${mac('{}', 'hex', 'sha1')}` },
      '{}',
      "the signature would match as HMAC-SHA1 in X-Hub-Signature, the sender's older signature; hookmill requires X-Hub-Signature-256",
    ],
    [
      "GitHub's older signature with another secret",
      'github',
      { 'X-Hub-Signature': `sha1=${'0'.repeat(40)}` },
      '{}',
      `${missing}; the request has X-Hub-Signature, the sender's older signature, which is not accepted`,
    ],
    [
      'a sender that signs for several providers, and names all of them',
      'stripe',
      { 'X-Gitea-Signature': mac('{}'), 'X-Hub-Signature-256': `sha256=${mac('{}')}` },
      '{}',
      'the signature would match with signatureScheme: github, meta or gitea',
    ],
    [
      'no signature at all',
      'github',
      { 'X-Hub-Signature-256': 'yes' },
      '{}',
      "the signature header does not have the scheme's format",
    ],
    [
      'another secret',
      'github',
      { 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` },
      '{}',
      'the signature does not match: wrong secret, or the body was modified in transit',
    ],
    [
      'another encoding',
      'github',
      { 'X-Hub-Signature-256': `sha256=${mac('{}', 'base64')}` },
      '{}',
      'the signature would match in base64 instead of hex',
    ],
    [
      'another hash',
      'github',
      { 'X-Hub-Signature-256': `sha256=${mac('{}', 'hex', 'sha1')}` },
      '{}',
      'the signature would match as HMAC-SHA1 instead of HMAC-SHA256',
    ],
    [
      'no prefix',
      'github',
      { 'X-Hub-Signature-256': mac('{}') },
      '{}',
      'the signature would match without the prefix sha256=',
    ],
    [
      'reformatted JSON',
      'github',
      { 'X-Hub-Signature-256': `sha256=${mac('{"a":1}')}` },
      '{ "a": 1 }',
      'the signature would match for the same JSON in compact form: the sender or a proxy reformats the body',
    ],
    [
      'an added line end',
      'github',
      { 'X-Hub-Signature-256': `sha256=${mac('{"a": 1}')}` },
      '{"a": 1}\n',
      'the signature would match for the body without its trailing white space, which was probably added in transit',
    ],
    [
      "another provider's scheme",
      'github',
      { 'X-Razorpay-Signature': mac('{}') },
      '{}',
      'the signature would match with signatureScheme: razorpay (Razorpay)',
    ],
    [
      "another provider's token",
      'github',
      { 'X-Gitlab-Token': secret },
      '{}',
      'the signature would match with signatureScheme: gitlab-token (GitLab (secret token))',
    ],
    [
      'a URL with another end',
      'square',
      { 'x-square-hmacsha256-signature': mac(`${url}/{}`, 'base64') },
      '{}',
      'the signature would match for a URL with a trailing slash: correct the URL at the provider',
    ],
    [
      'a URL with another beginning',
      'square',
      { 'x-square-hmacsha256-signature': mac(`${url.replace('https', 'http')}{}`, 'base64') },
      '{}',
      'the signature would match for an http URL: check the base URL',
    ],
  ])('finds %s', (_, id, headers, body, explanation) => {
    expect(explain(getScheme(id), secret, received(headers, body), nowMs)).toBe(explanation);
  });

  it('finds white space around the secret', () => {
    const request = received({ 'X-Hub-Signature-256': `sha256=${mac('{}')}` }, '{}');
    expect(explain(getScheme('github'), `${secret}\n`, request, nowMs)).toBe(
      'the signature would match without the white space around the team secret',
    );
  });

  const signed: HmacDescription = { ...standardWebhooks };

  it.each<[string, HmacDescription, HmacDescription, string]>([
    [
      'the whole secret',
      { ...signed, key: { stripPrefix: 'whsec_', encoding: 'base64' } },
      { ...signed, key: { encoding: 'utf8' } },
      'used as is, without decoding',
    ],
    [
      'the decoded secret',
      { ...signed, key: { encoding: 'utf8' } },
      { ...signed, key: { stripPrefix: 'whsec_', encoding: 'base64' } },
      'after whsec_ decoded from base64',
    ],
  ])('finds that the key is %s', (_, receiver, sender, how) => {
    const whsec = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const body = Buffer.from('{}');
    const headers = signRequest(sender, whsec, { body, url, method: 'POST', nowMs, id: 'evt_1' });
    expect(explain(receiver, whsec, received(headers, body), nowMs)).toBe(
      `the signature would match with the secret ${how}`,
    );
  });

  it.each([
    [
      301,
      'the timestamp is 301 s old: a replay, a late retry or a wrong clock; the signature itself matches',
    ],
    [-400, 'the timestamp is 400 s in the future: check both clocks; the signature itself matches'],
  ])('explains a timestamp that is %i s old', (seconds, explanation) => {
    const stripe = getScheme('stripe');
    const at = nowMs + seconds * 1000;
    expect(explain(stripe, credentialsFor(stripe).secret, sent(stripe), at)).toBe(explanation);
    expect(explain(stripe, 'another', sent(stripe), at)).toMatch(/does not match either$/);
  });

  const github = (headers: Record<string, string>, body = '{}') =>
    explainWhole(getScheme('github'), secret, received(headers, body), nowMs).remedy;
  const sha256 = (value: string) => ({ 'X-Hub-Signature-256': `sha256=${value}` });

  it.each([
    [
      'another secret',
      github(sha256('0'.repeat(64))),
      /team secret and the signing secret .* the same value/,
    ],
    ['no signature', github({}), /^Configure the value of the team secret as signing secret at the sender$/],
    ['reformatted JSON', github(sha256(mac('{"a":1}')), '{ "a": 1 }'), /^Let neither .* reformat the body/],
    ['an added line end', github(sha256(mac('{"a": 1}')), '{"a": 1}\n'), /^Let no proxy add to the body$/],
    [
      'another hash',
      github(sha256(mac('{}', 'hex', 'sha1'))),
      /^Choose the `signatureScheme` that signs like/,
    ],
    ['another scheme', github({ 'X-Gitlab-Token': secret }), /^Write signatureScheme: gitlab-token/],
    [
      'an older signature',
      github({ 'X-Hub-Signature': `sha1=${mac('{}', 'hex', 'sha1')}` }),
      /^Let the sender send X-Hub-Signature-256$/,
    ],
  ])('says what to do about %s, and nothing of secrets where they are right', (what, remedy, expected) => {
    expect(remedy).toMatch(expected);
    if (!/secret|signature$/.test(what)) expect(remedy).not.toMatch(/team secret/);
  });

  it('says for an old timestamp to correct a clock, unless the secret is wrong too', () => {
    const stripe = getScheme('stripe');
    const at = nowMs + 900_000;
    const { secret: right } = credentialsFor(stripe);
    expect(explainWhole(stripe, right, sent(stripe), at).remedy).toMatch(
      /^Let the sender send the event again/,
    );
    expect(explainWhole(stripe, 'another', sent(stripe), at).remedy).toMatch(/^Set the team secret/);
  });

  it('says why a secret is unusable', () => {
    const standard = getScheme('standard-webhooks');
    expect(explain(standard, 'whsec_!', sent(standard), nowMs)).toBe(
      'the secret is not valid base64 after whsec_',
    );
  });

  it('accepts any bytes as a body', () => {
    const signature = { 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` };
    for (const body of [Buffer.alloc(0), Buffer.from([0xff, 0xfe]), Buffer.from('['.repeat(200_000))]) {
      expect(explain(getScheme('github'), secret, received(signature, body), nowMs)).toMatch(
        /does not match/,
      );
    }
    const deep = Buffer.from('['.repeat(100_000) + ']'.repeat(100_000));
    expect(explain(getScheme('github'), secret, received(signature, deep), nowMs)).toMatch(/does not match/);
  });

  const ordinaryWord = /^[a-z]{1,8}$/;
  const telling = vectors.filter(
    ({ scheme, secret }) => !ordinaryWord.test(secret) && getScheme(scheme).primitive !== 'shared-secret',
  );

  it.each(telling.map((vector, index) => ({ ...vector, index })))(
    'never shows the secret or a signature of $scheme ($index)',
    vector => {
      const request = receivedVector({ ...vector, body: `${vector.body} changed` });
      const explanation = explain(getScheme(vector.scheme), vector.secret, request, vector.nowMs ?? nowMs);
      expect(explanation).not.toContain(vector.secret);
      expect(explanation).not.toMatch(/[0-9a-f]{16}|[0-9A-Za-z+/]{27}=/);
    },
  );

  it('writes no large body in compact form', () => {
    const reformatted = (length: number) => {
      const compact = JSON.stringify({ text: 'x'.repeat(length - 12) });
      const headers = { 'X-Hub-Signature-256': `sha256=${mac(compact)}` };
      return explain(getScheme('github'), secret, received(headers, compact.replace(':', ': ')), nowMs);
    };
    expect(reformatted(64 * 1024)).toMatch(/in compact form/);
    expect(reformatted(64 * 1024 + 1)).toMatch(/does not match/);
  });

  it('stops trying when it has hashed a megabyte, so the largest body gets the first few trials', () => {
    const explained = (body: string) => {
      // Signed as the last provider in the list whose header has no other form.
      const headers = {
        'X-Razorpay-Signature': mac(body),
        'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}`,
      };
      return explain(getScheme('github'), secret, received(headers, body), nowMs);
    };
    expect(explained('x'.repeat(40 * 1024))).toMatch(/signatureScheme: razorpay/);
    expect(explained('x'.repeat(256 * 1024))).toMatch(/does not match/);
    const spaced = `${'x'.repeat(255 * 1024)}\n`;
    const headers = { 'X-Hub-Signature-256': `sha256=${mac(spaced.trimEnd())}` };
    expect(explain(getScheme('github'), secret, received(headers, spaced), nowMs)).toMatch(/white space/);
  });
});
