import { describe, expect, test } from 'vitest';
import { findUnpinned } from '../../../../schema/definitions/oidc-keys.ts';
import { parseWebhook } from '../../../../schema/definitions/parse-webhook.ts';
import { explainClaims } from '../../../../schema/oidc/claims.ts';
import {
  findIssuerMistake,
  issuerPresets,
  listIssuerNames,
  resolveIssuer,
} from '../../../../schema/oidc/issuers.ts';

const azure = 'https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000/v2.0';

describe('claims that pin the caller', () => {
  test.each([
    ['github-actions', { repository: ['acme/shop'] }],
    ['github-actions', { repository_owner_id: { in: ['1'] } }],
    ['https://token.actions.githubusercontent.com', { sub: ['repo:acme/shop:ref:refs/heads/main'] }],
    ['gitlab', { project_path: ['acme/shop'] }],
    ['google', { email: ['push@acme.iam.gserviceaccount.com'], email_verified: [true] }],
    ['google', { sub: ['113774264463038321964'] }],
    ['buildkite', { organization_slug: ['acme'], pipeline_slug: ['deploy'] }],
    ['https://oidc.circleci.com/org/5f2c', { 'oidc.circleci.com/project-id': ['8a1f'] }],
    [azure, { azp: ['11111111'] }],
    ['https://sts.windows.net/0000/', { appid: ['11111111'] }],
    ['https://login.example.com', { team: ['payments'] }],
  ])('of %s may be %j', (issuer, claims) => {
    expect(findUnpinned(issuer, claims)).toBeUndefined();
  });

  test.each([
    ['github-actions', { ref: ['refs/heads/main'] }, /repository, repository_id, .* or sub/],
    ['https://token.actions.githubusercontent.com', { environment: ['production'] }, /repository/],
    ['github-actions', { repository: { not_in: ['evil/shop'] } }, /repository/],
    ['github-actions', { repository: { exists: true } }, /repository/],
    ['github-actions', { repository: [true] }, /repository/],
    ['github-actions', { repository: [''] }, /repository/],
    ['github-actions', { job_workflow_ref: ['acme/ci/.github/workflows/x.yml@main'] }, /repository/],
    ['google', { email: ['push@acme.iam.gserviceaccount.com'] }, /email and email_verified: \[true\] or sub/],
    ['google', { email: ['a@acme.com'], email_verified: [true, false] }, /email_verified/],
    ['google', { email: ['a@acme.com'], email_verified: ['true'] }, /email_verified/],
    ['buildkite', { pipeline_slug: ['deploy'] }, /organization_slug/],
    ['https://oidc.circleci.com/org/5f2c', { 'oidc.circleci.com/org-id': ['5f2c'] }, /project-id/],
    ['https://login.example.com', { email_verified: [true] }, /only your caller has, such as sub/],
    ['https://login.example.com', { jti: ['1'] }, /such as sub/],
    ['https://login.example.com', { team: { exists: true } }, /such as sub/],
  ])('of %s are not %j', (issuer, claims, hint) => {
    expect(findUnpinned(issuer, claims)?.hint).toMatch(hint);
  });
});

describe('an issuer', () => {
  test('is one that hookmill knows by a name, if all customers have the same', () => {
    const named = issuerPresets.filter(preset => !findIssuerMistake(preset));
    expect(named).toEqual(['github-actions', 'gitlab', 'google', 'buildkite']);
    expect(resolveIssuer('gitlab')).toBe('https://gitlab.com');
    expect(listIssuerNames('google')).toEqual(['https://accounts.google.com', 'accounts.google.com']);
    expect(listIssuerNames('https://accounts.google.com')).toHaveLength(2);
  });

  test.each([
    ['circleci', 'write the URL of yours: https://oidc.circleci.com/org/ORGANIZATION_ID'],
    ['azure', 'write the URL of yours: https://login.microsoftonline.com/TENANT_ID/v2.0'],
    ['github', 'did you mean github-actions?'],
    ['login.example.com', /write an https URL without query/],
    ['https://login.example.com/?x=1', /write an https URL/],
    ['https://user@login.example.com', /write an https URL/],
    ['ftp://login.example.com', /write an https URL/],
    [`https://login.example.com/${'a'.repeat(500)}`, /write an https URL/],
  ])('is not %s', (text, hint) => {
    const found = findIssuerMistake(text)?.hint;
    if (typeof hint === 'string') expect(found).toBe(hint);
    else expect(found).toMatch(hint);
  });
});

test.each([
  [{ a: ['x'] }, { a: 'x' }, undefined],
  [{ a: ['x', 'y'] }, { a: ['z', 'y'] }, undefined],
  [{ a: [true] }, { a: true }, undefined],
  [{ a: [true] }, { a: 'true' }, 'the claim a is "true", not true'],
  [{ a: ['true'] }, { a: true }, 'the claim a is true, not "true"'],
  [{ a: ['x'] }, {}, 'the token has no claim a'],
  [{ toString: ['x'] }, {}, 'the token has no claim toString'],
  [{ a: { exists: true } }, {}, 'the token has no claim a'],
  [{ a: { exists: false } }, { a: null }, 'the token has a claim a'],
  [{ a: { not_in: ['x'] } }, { a: 'x' }, 'the claim a is x, which is excluded'],
  [{ a: { not_in: ['x'] } }, { a: ['y', 'x'] }, 'the claim a is ["y","x"], which is excluded'],
  [{ a: { not_in: ['x'] } }, {}, undefined],
  [{ a: ['x'] }, { a: 'x\n\u202e\u001b[2J' }, String.raw`the claim a is "x\n\u202e\u001b[2J", not x`],
  [{ a: ['x'] }, { a: 'y'.repeat(300) }, `the claim a is ${'y'.repeat(200)}…, not x`],
  [
    { a: ['1', '2', '3', '4', '5', '6', '7'] },
    { a: '8' },
    'the claim a is "8", not "1", "2", "3", "4", "5" or one of 2 others',
  ],
])('the claims %j of the token %j: %s', (filter, token, expected) => {
  expect(explainClaims(filter as never, token)).toBe(expected);
});

test('all operators of a claim hold together', () => {
  const filter = { a: { exists: true, not_in: ['x'] } };
  expect(explainClaims(filter, { a: 'y' })).toBeUndefined();
  expect(explainClaims(filter, {})).toBe('the token has no claim a');
  expect(explainClaims(filter, { a: 'x' })).toBe('the claim a is x, which is excluded');
});

test.each([
  ['{ sub: { in: [a], not_in: [a] } }', 'error', 'in and not_in both list "a"'],
  ['{ sub: { exists: false, in: [a] } }', 'error', 'exists: false and in contradict each other'],
  ['{ sub: { in: [a], name: [b] } }', 'error', '"name" is no operator'],
  ['{ sub: { $like: ["a*"] } }', 'error', 'claims have no operator $like'],
  ['{ sub: ["repo:acme/*"] }', 'warning', 'looks like a wildcard'],
])('the claims %s are reported', (claims, severity, message) => {
  const text = `authMode: oidc\nissuer: https://login.example.com\nclaims: ${claims}\n`;
  const { diagnostics } = parseWebhook('ci', 'webhooks/ci.yaml', Buffer.from(text));
  expect(diagnostics).toMatchObject([
    { severity, message: expect.stringContaining(message), hint: expect.any(String) },
  ]);
});

test('a condition that no check knows lets nobody in', () => {
  expect(explainClaims({ a: { $like: ['*'] } } as never, { a: 'x' })).toBe('the claim a has no condition');
});
