import { Webhook as StandardWebhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { chooseSecret, generateSecret } from '../../../../operations/access/new-webhook-secret.ts';
import { newWebhookRequest } from '../../../../schema/api/requests.ts';
import { describeScheme } from '../../../../signatures/schemes.ts';
import { compileVerifier } from '../../../../signatures/verify.ts';

const randomBytes = (count: number) => new Uint8Array(count).fill(7);
const choose = (signatureScheme: string | object) =>
  chooseSecret(
    newWebhookRequest.parse({ name: 'events', authMode: 'signature', signatureScheme }),
    new Set(),
    randomBytes,
  );

test.each([
  'standard-webhooks',
  'svix',
  'gitlab-signing-token',
  'render',
  'incident-io',
  'polar',
  'resend',
  'clerk',
  'openai',
  'lithic',
  'whop',
  'liveblocks',
])('a blank secret is generated for %s, and verifies what a Standard Webhooks library signs', scheme => {
  const chosen = choose(scheme);
  if (chosen.kind !== 'new' || chosen.value === undefined) throw new Error('no secret was generated');
  expect(chosen.generated).toBe(true);

  const body = '{"a":1}';
  const signature = new StandardWebhook(chosen.value).sign('msg_1', new Date(1_700_000_000_000), body);
  const description = describeScheme(scheme);
  const verify = description && compileVerifier(description, chosen.value);
  const headers = {
    'webhook-id': ['msg_1'],
    'webhook-timestamp': ['1700000000'],
    'webhook-signature': [signature],
  };
  const request = { headers, body: Buffer.from(body), url: '', method: 'POST' };
  expect(verify?.(request, 1_700_000_000_000)).toMatchObject({ ok: true, deliveryId: 'msg_1' });
});

test('a blank secret is generated for a custom scheme that signs as Standard Webhooks', () => {
  const custom = {
    header: 'Acme-Signature',
    hash: 'sha256',
    encoding: 'base64',
    list: { separator: ' ', keyValueSeparator: ',', key: 'v1' },
    content: '{id}.{timestamp}.{body}',
    timestamp: { header: 'Acme-Timestamp', unit: 's', toleranceSeconds: 300 },
    idHeader: 'Acme-Id',
  };
  expect(choose(custom)).toMatchObject({ kind: 'new', generated: true });
});

test.each(['stripe', 'github', 'slack'])('a blank secret of %s is supplied later', scheme => {
  expect(choose(scheme)).toEqual({ kind: 'new', name: 'EVENTS_WEBHOOK', generated: false });
});

test('no secret is generated for a provider that issues its own, unless it signs as Standard Webhooks', () => {
  const generate = (signatureScheme: string) =>
    generateSecret({ authMode: 'signature', signatureScheme }, randomBytes, '/secret');
  expect(() => generate('stripe')).toThrow();
  expect(generate('svix')).toMatch(/^whsec_/);
});
