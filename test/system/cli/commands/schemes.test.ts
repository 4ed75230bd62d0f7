import { expect, test } from 'vitest';
import { schemes } from '../../../../signatures/schemes.ts';
import { makeWorkspace } from '../../../support/workspace.ts';

const workspace = makeWorkspace();

test('schemes list names every scheme, its provider and kind, and when it was checked against what', async () => {
  const [text, json] = await Promise.all([
    workspace.hookmill('schemes', 'list'),
    workspace.hookmill('schemes', 'list', '-o', 'json'),
  ]);
  const lines = text.stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(schemes.length + 1);
  expect(lines.find(line => line.startsWith('pagerduty '))).toMatch(
    /^pagerduty +PagerDuty +incident management +2026-11-21 +PagerDuty's documentation at [0-9a-f]{7}$/,
  );
  expect(JSON.parse(json.stdout)).toEqual(
    schemes.map(({ id, provider, kind, page, checked }) => ({ id, provider, kind, page, checked })),
  );
});

test.each([
  ['an ID', 'gitlab-tok', ['gitlab-token']],
  ['a provider, in any case', 'incident.IO', ['incident-io']],
  ['a kind', 'error tracking', ['sentry']],
  ['words of several of them', 'grafana incident', ['grafana', 'grafana-timestamp']],
])('schemes list finds the schemes by %s', async (_, text, ids) => {
  const { stdout } = await workspace.hookmill('schemes', 'list', text, '-o', 'json');
  expect(JSON.parse(stdout).map(({ id }: { id: string }) => id)).toEqual(ids);
});

test('schemes list says that no scheme matches', async () => {
  const { stdout, stderr, exitCode } = await workspace.hookmill('schemes', 'list', 'nobody', '-o', 'json');
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '[]\n' });
  expect(stderr).toBe(
    'No signature scheme matches "nobody". A definition can describe any other HMAC scheme.\n',
  );
});

test('schemes show says what is signed and where the secret is, and ends with a definition', async () => {
  const { stdout, stderr, exitCode } = await workspace.hookmill('schemes', 'show', 'stripe');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toMatchInlineSnapshot(`
    "scheme             stripe
    provider           Stripe
    kind               payment
    header             Stripe-Signature
    algorithm          HMAC-SHA256
    signature          t=<timestamp>,v1=<hex>
    signed content     {timestamp}.{body}
    timestamp          field t, in seconds
    replay window      300 s
    delivery identity  $.id in the body
    why this identity  Stripe calls it the unique ID of the event; \`pending_webhooks\` may differ in a retry (https://docs.stripe.com/api/events/object, 2026-11-25)
    retries            for up to 3 days; \`GET /v1/events?delivery_success=false\` lists what did not arrive, for 30 days (https://docs.stripe.com/webhooks/process-undelivered-events, 2026-11-27)
    captured request   sent again, it is a duplicate; after 300 s, it is refused
    secret             the endpoint's page in Workbench, under "Signing secret"
    key                the secret's UTF-8 bytes
    note               The key is the whole secret, including whsec_.
    page               https://docs.stripe.com/webhooks/signature
    last checked       2026-11-21, against stripe 23.1.0

    webhooks/stripe.yaml:

      authMode: signature
      signatureScheme: stripe
      secretName: STRIPE_WEBHOOK
    "
  `);
});

test('schemes show suggests the scheme that was meant', async () => {
  expect(await workspace.hookmill('schemes', 'show', 'strip')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'hookmill: unknown signature scheme "strip"; did you mean stripe?\n',
  });
});

test('a definition may describe its own HMAC; validate says what is wrong with one that covers no body', async () => {
  const definition = (content: string) => `authMode: signature
secretName: ACME
signatureScheme:
  header: X-Acme-Signature
  hash: sha256
  encoding: hex
  content: '${content}'
  timestamp: { header: X-Acme-Time, unit: s, toleranceSeconds: 60 }
`;
  workspace.write('webhooks/acme.yaml', definition('{timestamp}.{body}'));
  expect(await workspace.hookmill('validate')).toMatchObject({ exitCode: 0 });
  workspace.write('webhooks/acme.yaml', definition('{timestamp}'));
  const { stdout, exitCode } = await workspace.hookmill('validate');
  expect(exitCode).toBe(1);
  expect(stdout).toMatchInlineSnapshot(`
    "webhooks/acme.yaml:7:12: error: the signature does not cover the body [webhook/scheme-invalid]
      7 |   content: '{timestamp}'
        |            ^^^^^^^^^^^^^
      hint: put {body} where the sender puts the request body, as in "{timestamp}.{body}"
    "
  `);
});
