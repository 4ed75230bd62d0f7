import { sign as signGithub, verify as verifyGithub } from '@octokit/webhooks-methods';
import { isValidSlackRequest } from '@slack/bolt';
import fc from 'fast-check';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import twilio from 'twilio';
import { describe, expect, it } from 'vitest';
import { schemes } from '../../../signatures/schemes.ts';
import { addressBody, signRequest } from '../../../signatures/sign.ts';
import { compileVerifier } from '../../../signatures/verify.ts';
import { anyText } from '../../support/any-text.ts';
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

describe('what twilio signs is accepted', () => {
  const token = '12345';
  const verify = compileFor('twilio', token);
  const names = fc.constantFrom('Body', 'From', 'To', 'MediaUrl0', 'a[]', '__proto__', 'Zoë', 'toString');
  const text = anyText(10).map(value => value.toWellFormed());
  const parameters = fc.array(fc.tuple(names, text), { minLength: 1, maxLength: 8 });

  it('with any parameters, some of them repeated', () => {
    fc.assert(
      fc.property(parameters, fields => {
        const body = new URLSearchParams(fields).toString();
        const signature = twilio.getExpectedTwilioSignature(token, url, groupAsExpressDoes(fields));
        const request = received({ 'X-Twilio-Signature': signature }, body);
        expect(verify(request, nowMs).ok).toBe(true);
        expect(verify({ ...request, body: Buffer.from(`${body}x`) }, nowMs).ok).toBe(false);
      }),
    );
  });

  it.each([
    ['https://example.com/a?b=1', 'https://example.com:443/a?b=1'],
    ['https://example.com:8443/a', 'https://example.com/a'],
    ['http://example.com/a', 'http://example.com:80/a'],
    ['http://[::1]:8080/a?c=:1', 'http://[::1]/a?c=:1'],
    ['http://[::1]/a', 'http://[::1]:80/a'],
  ])('over %s, or as %s', (given, other) => {
    for (const signed of [given, other]) {
      const signature = twilio.getExpectedTwilioSignature(token, signed, { Body: 'a' });
      const request = received({ 'X-Twilio-Signature': signature }, 'Body=a', { url: given });
      expect(verify(request, nowMs).ok).toBe(true);
    }
    const signature = twilio.getExpectedTwilioSignature(token, `${given}x`, { Body: 'a' });
    expect(verify(received({ 'X-Twilio-Signature': signature }, 'Body=a', { url: given }), nowMs).ok).toBe(
      false,
    );
  });

  it('unless the body is not the one whose digest the URL has', () => {
    const signed = `${url}?bodySHA256=${'0'.repeat(64)}`;
    const signature = twilio.getExpectedTwilioSignature(token, signed, {});
    for (const body of ['{}', '', 'a=1']) {
      const request = received({ 'X-Twilio-Signature': signature }, body, { url: signed });
      expect(verify(request, nowMs)).toEqual({ ok: false, reason: { code: 'content-missing' } });
    }
  });
});

/** The parameters of a form as twilio gets them from Express. */
function groupAsExpressDoes(fields: readonly (readonly [string, string])[]) {
  const byName = Map.groupBy(fields, ([name]) => name);
  return Object.fromEntries(
    [...byName].map(([name, [first, ...others]]) => [
      name,
      others.length === 0 ? first?.[1] : [first, ...others].map(field => field?.[1]),
    ]),
  );
}

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

  it('twilio, for a form and for JSON', () => {
    const form = { ...request, body: Buffer.from('To=b&To=a&To=a&Body=Zo%C3%AB+%2B1&Empty=') };
    const headers = signRequest(getScheme('twilio'), '12345', form);
    const parameters = { To: ['b', 'a', 'a'], Body: 'Zoë +1', Empty: '' };
    const accepts = (params: object) =>
      twilio.validateRequest('12345', headers['X-Twilio-Signature'] ?? '', url, params);
    expect(accepts(parameters)).toBe(true);
    expect(accepts({ ...parameters, Empty: 'x' })).toBe(false);

    const signedUrl = addressBody(getScheme('twilio'), url, body);
    const signed = signRequest(getScheme('twilio'), '12345', { ...request, url: signedUrl });
    const acceptsBody = (text: string) =>
      twilio.validateRequestWithBody('12345', signed['X-Twilio-Signature'] ?? '', signedUrl, text);
    expect(acceptsBody(body.toString())).toBe(true);
    expect(acceptsBody(`${body} `)).toBe(false);
  });

  it('slack-forms', () => {
    const form = { ...request, body: Buffer.from('command=%2Fdeploy&text=api') };
    const headers = signRequest(getScheme('slack-forms'), 'secret', form);
    const accepts = (text: string) =>
      isValidSlackRequest({
        signingSecret: 'secret',
        body: text,
        headers: {
          'x-slack-signature': headers['X-Slack-Signature'] ?? '',
          'x-slack-request-timestamp': Number(headers['X-Slack-Request-Timestamp']),
        },
      });
    expect(accepts(form.body.toString())).toBe(true);
    expect(accepts('command=%2fdeploy&text=api')).toBe(false);
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
