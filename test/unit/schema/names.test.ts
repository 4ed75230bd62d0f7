import { expect, test } from 'vitest';
import { suggestSecretName } from '../../../schema/names.ts';

test('suggests a name after the webhook and the kind of its secret', () => {
  expect(suggestSecretName('deploys', 'token')).toBe('DEPLOYS_TOKEN');
  expect(suggestSecretName('status-page', 'url_token')).toBe('STATUS_PAGE_TOKEN');
  expect(suggestSecretName('github', 'signature')).toBe('GITHUB_WEBHOOK');
});

test('numbers the name while it is taken', () => {
  const taken = new Set(['DEPLOYS_TOKEN', 'DEPLOYS_TOKEN_2']);
  expect(suggestSecretName('deploys', 'token', taken)).toBe('DEPLOYS_TOKEN_3');
});
