import { sign as signGithub, verify as verifyGithub } from '@octokit/webhooks-methods';
import fc from 'fast-check';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { describe, expect, it } from 'vitest';
import { schemes } from '../../signatures/schemes.ts';
import { signRequest } from '../../signatures/sign.ts';
import { compileVerifier } from '../../signatures/verify.ts';
import { anyText } from '../support/any-text.ts';
import { bodyFor, credentialsFor, getScheme, nowMs, received, sent, url } from './received.ts';

const whsec = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const text = anyText(40).map(value => JSON.stringify({ value }));

describe('what the official libraries sign is accepted', () => {
  it.each([
    ['standardwebhooks', new StandardWebhook(whsec), 'webhook'],
    ['svix', new SvixWebhook(whsec), 'svix'],
  ])('by %s', (_, library, prefix) => {
    const verifiers = ['standard-webhooks', 'svix', 'clerk', 'openai'].map(id => compileFor(id, whsec));
    fc.assert(
      fc.property(text, body => {
        const headers = {
          [`${prefix}-id`]: 'msg_1',
          [`${prefix}-timestamp`]: String(nowMs / 1000),
          [`${prefix}-signature`]: library.sign('msg_1', new Date(nowMs), body),
        };
        for (const verify of verifiers) {
          expect(verify(received(headers, body), nowMs)).toMatchObject({ ok: true, deliveryId: 'msg_1' });
        }
      }),
    );
  });

  it('by stripe', () => {
    const verify = compileFor('stripe', whsec);
    fc.assert(
      fc.property(text, payload => {
        const signed = Stripe.webhooks.generateTestHeaderString({
          payload,
          secret: whsec,
          timestamp: nowMs / 1000,
        });
        expect(verify(received({ 'Stripe-Signature': signed }, payload), nowMs).ok).toBe(true);
      }),
    );
  });

  it('by @octokit/webhooks-methods', async () => {
    const verify = compileFor('github', 'it is a secret');
    await fc.assert(
      fc.asyncProperty(text, async payload => {
        const headers = { 'X-Hub-Signature-256': await signGithub('it is a secret', payload) };
        expect(verify(received(headers, payload), nowMs).ok).toBe(true);
      }),
    );
  });
});

describe('the official libraries accept what is signed here', () => {
  const body = Buffer.from('{"text":"Zoë"}');
  const request = { body, url, method: 'POST', nowMs: Date.now(), id: 'msg_1' };

  it.each([
    ['standard-webhooks', new StandardWebhook(whsec)],
    ['svix', new SvixWebhook(whsec)],
  ])('%s', (id, library) => {
    const headers = signRequest(getScheme(id), whsec, request);
    expect(() => library.verify(body.toString(), headers)).not.toThrow();
    expect(() => library.verify(`${body} `, headers)).toThrow();
  });

  it('stripe', () => {
    const headers = signRequest(getScheme('stripe'), whsec, request);
    const event = Stripe.webhooks.constructEvent(body, headers['Stripe-Signature'] ?? '', whsec);
    expect(event).toEqual({ text: 'Zoë' });
  });

  it('github', async () => {
    const headers = signRequest(getScheme('github'), whsec, request);
    expect(await verifyGithub(whsec, body.toString(), headers['X-Hub-Signature-256'] ?? '')).toBe(true);
  });
});

describe('signRequest', () => {
  // The example of the Standard Webhooks specification, with the key of the tests of Svix's server.
  it.each([
    [
      'a private key of Standard Webhooks',
      'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==',
    ],
    ['only its seed', 'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbc='],
  ])('signs with %s', (_, secret) => {
    const request = {
      body: Buffer.from('{"test": 2432232314}'),
      url,
      method: 'POST',
      nowMs: 1_614_265_330_000,
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    };
    expect(signRequest(getScheme('standard-webhooks'), secret, request)['webhook-signature']).toBe(
      'v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==',
    );
  });

  it.each(schemes)('makes requests that the receiver of $id accepts', scheme => {
    const verify = compileVerifier(scheme, credentialsFor(scheme).secret);
    fc.assert(
      fc.property(fc.uint8Array(), fc.webUrl(), (bytes, signedUrl) => {
        const body = ['linear', 'twilio', 'mandrill'].includes(scheme.id)
          ? bodyFor(scheme)
          : Buffer.from(bytes);
        expect(verify(sent(scheme, { body, url: signedUrl }), nowMs).ok).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  it.each([
    ['standard-webhooks', 'whsec_!', 'the secret is not valid base64 after whsec_'],
    ['stripe', '', 'the secret is empty'],
    [
      'standard-webhooks',
      'whsk_AAAA',
      "signing requires the sender's private key as PKCS #8 PEM, or as text that starts with whsk_",
    ],
  ])('throws for %s with an unusable secret', (id, secret, problem) => {
    const request = { body: Buffer.from('{}'), url, method: 'POST', nowMs, id: 'msg_1' };
    expect(() => signRequest(getScheme(id), secret, request)).toThrow(new TypeError(problem));
  });
});

function compileFor(id: string, secret: string) {
  return compileVerifier(getScheme(id), secret);
}
