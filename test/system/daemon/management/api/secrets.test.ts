import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeUpstream, secret, webhook } from '../../../../support/git-samples.ts';
import { useManagedDaemon } from '../../../../support/management.ts';

const upstream = makeUpstream(mkdtempSync(join(tmpdir(), 'hookmill-git-')));
upstream.commit({ 'webhooks/pay.yaml': webhook() }, 'Add pay');
const repositories = [{ factory: 'followed', repository: upstream.bare, interval: '1h' }];
const shared = useManagedDaemon({ repositories });

test('lists team secrets that webhooks name and that do not exist, as missing', async () => {
  const daemon = shared();
  const [manager, reader] = [await daemon.client(), await daemon.client({ permission: 'read' })];
  const sender = { provider: 'github', repository: 'acme/shop', credentialSecret: 'GITHUB_TOKEN' };
  const signed = { authMode: 'signature', signatureScheme: 'github' };
  const created = await manager.call('createWebhook', { body: { name: 'shop', ...signed, sender } });
  const { secretName } = created.json.webhook;
  await daemon.store.teamSecrets.set('UNUSED', secret, 'default');
  await daemon.store.teamSecrets.set('ELSEWHERE', secret, 'other');
  const uses = { usedBy: ['shop'], usedByBranch: false, usedElsewhere: false };
  const missing = { name: 'GITHUB_TOKEN', state: 'missing', updatedAt: null, ...uses };
  const declared = { name: secretName, state: 'declared', updatedAt: expect.any(String), ...uses };
  const unused = { name: 'UNUSED', state: 'set', usedBy: [] };
  const listFor = async ({ call }: typeof manager) => (await call('listSecrets')).json.secrets;
  expect(await listFor(manager)).toEqual([missing, declared, expect.objectContaining(unused)]);
  expect(await listFor(reader)).toEqual([missing, declared]);
});

test('lists what a refused commit names as missing, until it is applied, and the credential of the branch', async () => {
  const daemon = shared();
  const manager = await daemon.client({ factory: 'followed' });
  const list = async () =>
    (await manager.call('listSecrets')).json.secrets.map(
      ({ name, state, usedBy, usedByBranch }: Record<string, string | string[] | boolean>) => {
        return [name, state, ...(usedBy as string[]), ...(usedByBranch ? ['the branch'] : [])];
      },
    );
  await expect.poll(list, { timeout: 30_000 }).toEqual([['S', 'missing', 'pay']]);
  await daemon.store.teamSecrets.set('S', secret, 'followed');
  expect(await list()).toEqual([['S', 'set']]);
  daemon.clock.nowMs += 1;
  await manager.call('requestReconcile');
  await expect.poll(list, { timeout: 30_000 }).toEqual([['S', 'set', 'pay']]);

  const credential = { username: 'git', secretName: 'GIT_TOKEN' };
  await daemon.store.reconcileStatuses.change('followed', status => {
    return { ...status, followed: status.followed && { ...status.followed, credential } };
  });
  expect(await list()).toEqual([
    ['GIT_TOKEN', 'missing', 'the branch'],
    ['S', 'set', 'pay'],
  ]);
});
