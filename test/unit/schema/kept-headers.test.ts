import { expect, test } from 'vitest';
import { parseWebhook } from '../../../schema/definitions/parse-webhook.ts';
import { listKeptHeaders } from '../../../schema/kept-headers.ts';
import { isCredentialHeader, schemes } from '../../../signatures/schemes.ts';
import { listCredentialHeaders } from '../../../signatures/signature-parts.ts';

test('the event and ID headers of the scheme, the deliveryIdHeader and keepHeaders are kept, each once', () => {
  expect(listKeptHeaders({})).toEqual(['Content-Type', 'User-Agent']);
  expect(
    listKeptHeaders({
      signatureScheme: 'github',
      deliveryIdHeader: 'X-Event-Id',
      keepHeaders: ['x-github-event', 'X-Tenant'],
    }),
  ).toEqual(['Content-Type', 'User-Agent', 'X-GitHub-Event', 'X-GitHub-Delivery', 'X-Event-Id', 'X-Tenant']);
  expect(listKeptHeaders({ signatureScheme: 'standard-webhooks' })).toEqual([
    'Content-Type',
    'User-Agent',
    'webhook-id',
    'svix-id',
  ]);
});

test.each(schemes)('$id keeps its event headers and IDs, and no credential, at most 16 in all', scheme => {
  const keepHeaders = Array.from({ length: 8 }, (_, index) => `X-More-${index}`);
  const kept = listKeptHeaders({ signatureScheme: scheme.id, deliveryIdHeader: 'X-Id', keepHeaders });
  expect(kept).toEqual(expect.arrayContaining([...(scheme.eventHeaders ?? [])]));
  if (scheme.deliveryIdHeader) expect(kept).toContain(scheme.deliveryIdHeader);
  expect(kept.filter(isCredentialHeader)).toEqual([]);
  expect(kept.length).toBeLessThanOrEqual(16);
});

test('a deliveryIdHeader that is a signature header is not kept', () => {
  expect(listKeptHeaders({ deliveryIdHeader: 'X-Hub-Signature-256' })).toEqual([
    'Content-Type',
    'User-Agent',
  ]);
});

test('the header with the token is not kept', () => {
  expect(listKeptHeaders({ tokenHeader: 'user-agent' })).toEqual(['Content-Type']);
});

test('the header in which hookmill keeps a trace is never taken from a request', () => {
  const keepHeaders = ['Traceparent', 'Hookmill-Traceparent'];
  const deliveryIdHeader = 'hookmill-traceparent';
  expect(listKeptHeaders({ keepHeaders, deliveryIdHeader })).toEqual([
    ...['Content-Type', 'User-Agent', 'Traceparent'],
  ]);
});

const refused = [
  ...schemes.flatMap(listCredentialHeaders),
  ...['Authorization', 'authorization', 'Proxy-Authorization', 'Cookie', 'Set-Cookie', 'X-Api-Key', 'apikey'],
  ...[
    'X-Auth-Token',
    'X-Access-Token',
    'Private-Token',
    'X-CSRF-Token',
    'X-Amz-Security-Token',
    'X-Auth-Key',
  ],
  ...['Ocp-Apim-Subscription-Key', 'X-Functions-Key', 'X-Secret', 'X-Shared-Secret', 'X-User-Password'],
  ...['Signature', 'Signature-Input', 'X-Sign', 'X-Session-Id', 'X-Goog-IAP-JWT-Assertion', 'X-Client-Cert'],
];

test.each([...new Set(refused)])('keepHeaders refuses %s', name => {
  const text = `secretName: A\nkeepHeaders:\n  - X-Tenant\n  - ${name}\n`;
  const { definition, diagnostics } = parseWebhook('a', 'webhooks/a.yaml', Buffer.from(text));
  expect(definition).toBeUndefined();
  expect(diagnostics).toMatchObject([
    { code: 'webhook/header-secret', range: { start: { line: 4, column: 5 } }, hint: expect.any(String) },
  ]);
});

const allowed = [
  ...[
    'X-Tenant',
    'X-Shopify-Shop-Domain',
    'X-Gitlab-Instance',
    'X-Forwarded-For',
    'traceparent',
    'Idempotency-Key',
  ],
  ...[
    'X-Event-Key',
    'X-Routing-Key',
    'X-Author',
    'X-Design',
    'X-Signal',
    'Content-Digest',
    'Webhook-Timestamp',
  ],
];

test.each(allowed)('keepHeaders takes %s', name => {
  const text = `secretName: A\nkeepHeaders: [${name}]\n`;
  expect(parseWebhook('a', 'webhooks/a.yaml', Buffer.from(text))).toMatchObject({
    definition: { keepHeaders: [name] },
    diagnostics: [],
  });
});

test.each([
  ['keepHeaders: X-Tenant', 'definition/type'],
  ['keepHeaders: ["X Tenant"]', 'definition/value'],
  ['keepHeaders: [X-Tenant, x-tenant]', 'definition/value'],
  ['keepHeaders: [a, b, c, d, e, f, g, h, i]', 'definition/value'],
  [
    'authMode: signature\nsignatureScheme: { header: X-Acme, hash: sha256, encoding: hex, content: "{body}" }\nkeepHeaders: [x-acme]',
    'webhook/header-secret',
  ],
])('keepHeaders refuses what is no list of different headers: %s', (lines, code) => {
  const { diagnostics } = parseWebhook('a', 'webhooks/a.yaml', Buffer.from(`secretName: A\n${lines}\n`));
  expect(diagnostics.map(diagnostic => diagnostic.code)).toEqual([code]);
});
