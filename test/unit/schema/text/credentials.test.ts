import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { appliedStateShape, emptyAppliedState } from '../../../../schema/applied-state.ts';
import { isCredential, maskCredentials, maskLine } from '../../../../schema/text/credentials.ts';

/** The same texts in each run: `count` digests, each as 32 bytes. */
const digests = (count: number) =>
  Array.from({ length: count }, (_, index) => createHash('sha256').update(String(index)).digest());

const credentials = [
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  'sk_live_51H8aBcDeFgHiJkLm',
  'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  'github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz',
  'glpat-xxxxxxxxxxxxxxxxxxxx',
  'xoxb-123456789012-1234567890123-AbCdEfGhIjKl',
  'AKIAIOSFODNN7EXAMPLE',
  'SG.ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf09kqeF8tAmbihYzrnopKc1s5cr',
  'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=',
  '9f86d081884c7d659a2feaa0c55ad015',
  '550e8400-e29b-41d4-a716-446655440000',
  'k3j9x0q7m2w8z5v1b6n4c3l0p9o8i7u6',
];

const names = [
  'GITHUB_WEBHOOK_SECRET_FOR_PRODUCTION_2',
  'STRIPE_WEBHOOK_SECRET_EU_2024Q1_LIVE_V2',
  'productionGithubWebhookSecretV2024',
  'myAppProdGhookSecKeyForEuWestOne',
  'Prod-Gh-Wh-01-Eu-West-1-Tenant-42-Key',
  'acme-shop-eu-west-1-prod-github-webhook-2024-01',
  'k8s-prod-eu1-github-app-webhook-secret-v2',
  'githubwebhooksecretforproduction2024',
  'sk_webhook_production_2',
  'npm_token',
  'github_pat_readonly',
  'SG.EU.PRODUCTION',
  'A',
];

describe('a name that is a credential', () => {
  test.for(credentials)('%s', text => expect(isCredential(text)).toBe(true));

  test('is nearly every generated text', () => {
    const generated = digests(500).flatMap(digest => [
      digest.toString('base64url'),
      digest.toString('base64'),
      digest.toString('hex'),
    ]);
    expect(generated.filter(text => !isCredential(text)).length).toBeLessThan(8);
  });

  test.for(names)('is not %s', name => expect(isCredential(name)).toBe(false));

  test('is no reason not to read an applied state', () => {
    const [secretName, credentialSecret] = credentials;
    const webhook = { name: 'a', uid: `wh_${'0'.repeat(24)}`, credential: { kind: 'unset' }, secretName };
    const sender = { provider: 'github', repository: 'acme/shop', credentialSecret };
    const state = { ...emptyAppliedState('default'), webhooks: [{ ...webhook, sender }] };
    expect(appliedStateShape.safeParse(state).error).toBeUndefined();
  });
});

describe('masking', () => {
  test.for([
    ['authMode cannot be "ghp_16C7e42F292c6912"', 'authMode cannot be "********************"'],
    ['url: https://ada:hunter2@example.com', 'url: https://***********@example.com'],
    ['there is no secret: look', 'there is no secret: look'],
  ] as const)('hides the credentials of %j, and keeps its length', ([text, masked]) => {
    expect(maskCredentials(text)).toBe(masked);
  });

  test.for([
    ['secret: hunter2', 'secret: *******'],
    ['  - { name: a, "clientSecret": "a, b" }', '  - { name: a, "clientSecret": *** ** *'],
    ['api_key:   x', 'api_key:   *'],
    ['"token": "abc",', '"token": ******'],
    ['password: [x]', 'password: [x]'],
    ['token: { in: [x] }', 'token: { in: [x] }'],
    ['secret: DEPLOYS_TOKEN # its name', 'secret: DEPLOYS_TOKEN # its name'],
    ['authMode: token # default', 'authMode: token # default'],
    ['secretName: deploys', 'secretName: deploys'],
    ['credentialSecret: deploys', 'credentialSecret: deploys'],
    ['webhook_ids: [wh_ev4mqusrdqkzo5q0zmzfykrx]', 'webhook_ids: [wh_ev4mqusrdqkzo5q0zmzfykrx]'],
  ] as const)('of the line %j is %j', ([line, masked]) => expect(maskLine(line)).toBe(masked));
});
