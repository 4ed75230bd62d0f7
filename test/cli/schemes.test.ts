import { expect, test } from 'vitest';
import { schemes } from '../../schema/signature/scheme.ts';
import { makeWorkspace } from '../support/workspace.ts';

const workspace = makeWorkspace();

test('schemes list names every scheme, its provider and kind', async () => {
  const [text, json] = await Promise.all([
    workspace.hookmill('schemes', 'list'),
    workspace.hookmill('schemes', 'list', '-o', 'json'),
  ]);
  const lines = text.stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(schemes.length + 1);
  expect(lines.find(line => line.startsWith('pagerduty '))).toMatch(
    /^pagerduty +PagerDuty +incident management$/,
  );
  expect(JSON.parse(json.stdout)).toEqual(
    schemes.map(({ id, provider, kind, page }) => ({ id, provider, kind, page })),
  );
});

test('schemes show tells what is signed and where the secret is, and ends with a definition', async () => {
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
    timestamp          the field t, in seconds
    replay window      300 s
    delivery identity  a hash of the body
    secret             the endpoint's page in Workbench, under "Signing secret"
    key                the secret as it stands
    note               The key is the whole secret, whsec_ included.
    page               https://docs.stripe.com/webhooks/signature

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
    stderr: 'hookmill: there is no signature scheme "strip"; did you mean stripe?\n',
  });
});
