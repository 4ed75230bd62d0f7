import { expect, test } from 'vitest';
import {
  buildWebhookBody,
  createWebhookDraft,
  getName,
  listSecretKinds,
} from '../../../../dashboard/state/webhook-draft.ts';

const schemes = [
  {
    id: 'gitlab-token',
    provider: 'GitLab (secret token)',
    secretCommand: 'generate',
    blankSecret: 'declared',
  },
  { id: 'slack', provider: 'Slack', secretCommand: 'set', blankSecret: 'declared' },
  { id: 'stripe', provider: 'Stripe', secretCommand: 'declare', blankSecret: 'declared' },
  { id: 'svix', provider: 'Svix', secretCommand: 'declare', blankSecret: 'generated' },
  {
    ...{ id: 'terraform-cloud', provider: 'HCP Terraform and Terraform Enterprise' },
    ...({ secretCommand: 'generate', blankSecret: 'declared' } as const),
  },
] as const;
const known = { schemes, secrets: [], webhooks: [{ name: 'gitlab' }, { name: 'gitlab-2' }] };

const draftOf = (scheme: string) => createWebhookDraft({ authMode: 'signature', scheme });

test('suggests a free name after the provider, and the ID of its scheme if that name is long', () => {
  expect(getName(draftOf('gitlab-token'), known)).toBe('gitlab-3');
  expect(getName(draftOf('stripe'), known)).toBe('stripe');
  expect(getName(draftOf('terraform-cloud'), known)).toBe('terraform-cloud');
  expect(getName({ ...draftOf('stripe'), name: 'pay' }, known)).toBe('pay');
  expect(getName(createWebhookDraft({ authMode: 'token', scheme: null }), known)).toBe('');
});

test('suggests how the secret comes to the webhook by who creates it', () => {
  const first = (scheme: string) => listSecretKinds({ authMode: 'signature', scheme }, known)[0];
  expect(['gitlab-token', 'slack', 'stripe', 'svix'].map(first)).toEqual([
    'generated',
    'supplied',
    'blank',
    'generated',
  ]);
  expect(listSecretKinds({ authMode: 'oidc', scheme: null }, known)).toEqual([]);
  const withSecrets = { ...known, secrets: [{ name: 'S' }] };
  expect(listSecretKinds({ authMode: 'token', scheme: null }, known)).toEqual(['generated']);
  expect(listSecretKinds({ authMode: 'token', scheme: null }, withSecrets)).toEqual([
    'generated',
    'existing',
  ]);
});

test('builds the request of a webhook, with further keys but never in place of its name', () => {
  const draft = { ...draftOf('slack'), suppliedValue: ' s ', deliveryId: '$.id', keepHeaders: 'X-A, X-B' };
  expect(buildWebhookBody(draft, known, { name: 'other', bodyFormat: 'form' })).toEqual({
    ...{ name: 'slack', authMode: 'signature', signatureScheme: 'slack', bodyFormat: 'form' },
    ...{ deliveryIdField: '$.id', keepHeaders: ['X-A', 'X-B'] },
    secret: { kind: 'supplied', value: 's' },
  });
  const named = buildWebhookBody({ ...draftOf('stripe'), secretName: 'S' }, known, {});
  expect(named.secret).toEqual({ kind: 'blank', name: 'S' });
  const own = createWebhookDraft({ authMode: 'oidc', scheme: null });
  expect(own.keys).toContain('issuer: github-actions');
  expect(buildWebhookBody({ ...own, name: 'ci' }, known, { issuer: 'github' })).toEqual({
    ...{ name: 'ci', authMode: 'oidc', issuer: 'github' },
  });
});
