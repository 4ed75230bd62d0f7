import { expect, test } from 'vitest';
import { findRenames } from '../../../../operations/checks/rename-diagnostics.ts';
import type { AppliedWebhook } from '../../../../schema/applied-state.ts';
import type { WebhookDefinition } from '../../../../schema/definitions/webhook-definition.ts';

const job = (name: string, repository: string, keys: Partial<WebhookDefinition> = {}): WebhookDefinition => {
  const claims = { repository: [repository] };
  return { name, authMode: 'oidc', issuer: 'github-actions', claims, enabled: true, ...keys };
};

function rename(before: WebhookDefinition, after: WebhookDefinition) {
  const uid = 'wh_0123456789abcdefghijklmn';
  const applied: AppliedWebhook = { ...before, uid, credential: { kind: 'issuer' } };
  return findRenames({ webhooks: [after] }, { webhooks: [applied] });
}

test('a webhook for tokens of the same caller is renamed, also with another key beside', () => {
  const renamed = [{ from: 'nightly', to: 'builds' }];
  expect(rename(job('nightly', 'acme/shop'), job('builds', 'acme/shop'))).toEqual(renamed);
  const after = job('builds', 'acme/shop', { deliveryIdField: '$.id' });
  expect(rename(job('nightly', 'acme/shop'), after)).toEqual(renamed);
});

test.each([
  ['another repository', {}, 'acme/blog'],
  ['another issuer', { issuer: 'gitlab' }, 'acme/shop'],
])('a webhook for tokens of %s is another one, not a renamed one', (_, keys, repository) => {
  expect(rename(job('nightly', 'acme/shop'), job('builds', repository, keys))).toEqual([]);
});
