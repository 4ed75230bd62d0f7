import { expect, test } from 'vitest';
import { openFactory, startManagedDaemon, useManagedDaemon } from '../../../support/management.ts';
import { makeWorkspace } from '../../../support/workspace.ts';

const shared = useManagedDaemon();
const workspace = makeWorkspace();
workspace.write('failed.json', '{"state":"failed"}');

async function ready(running = shared()) {
  const { call, env } = await openFactory(running);
  const body = {
    name: 'github',
    authMode: 'signature',
    signatureScheme: 'github',
    secret: { kind: 'generated' },
  };
  const { uid } = (await call('createWebhook', { body })).json.webhook;
  const filter = {
    webhook_ids: [uid],
    payload: { state: ['failed'] },
    headers: { 'X-GitHub-Event': ['status'] },
  };
  const triggers = [{ provider: 'webhook', event: 'received', filter }];
  await call('createAutomation', { body: { name: 'triage', prompt: 'Look.', triggers } });
  return { call, env, uid };
}

test('sends a test to a webhook by its name or UID', async () => {
  const { call, env, uid } = await ready();
  const run = (...words: string[]) => workspace.hookmill('webhooks', 'test', ...words, { env: env.server });
  const { stdout, stderr, exitCode } = await run('github');
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  expect(stdout).toMatch(
    /^status {4}202 after [\d.]+ ms\noutcome {3}Accepted\ndelivery {2}dlv_\w+\nruns {6}0\n$/,
  );
  const words = [uid, '--payload', 'failed.json', '--header', 'X-GitHub-Event: status', '-o', 'json'];
  const sent = JSON.parse((await run(...words)).stdout);
  expect(sent).toMatchObject({ status: 202, outcome: 'Accepted', reason: null, runs: 1 });
  await call('changeWebhook', { params: { uid }, body: { enabled: false } });
  const refused = await run('github');
  expect(refused.exitCode).toBe(1);
  expect(refused.stdout).toMatch(/^status {4}404 after/);
  expect(refused.stdout).toContain('reason    the webhook github is disabled, so its URL answers 404\n');
  expect(await run('gitlab')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('has no webhook gitlab; did you mean github?'),
  });
});

test('says to start a daemon if none answers, and that an automation would start', async () => {
  const daemon = await startManagedDaemon();
  const { call, env, uid } = await ready(daemon);
  const run = (...words: string[]) =>
    workspace.hookmill('webhooks', 'test', 'github', ...words, { env: env.home });
  const triggers = [{ provider: 'webhook', event: 'received', filter: { webhook_ids: [uid] } }];
  await call('createAutomation', { body: { name: 'all', prompt: 'Look.', triggers } });
  const refused = await run();
  expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
  expect(refused.stderr).toContain('the test event would start runs of all;');
  expect((await run('--may-start-runs')).stdout).toContain('runs      1\n');
  await daemon.stop();
  const alone = await run('--may-start-runs');
  expect(alone).toMatchObject({ exitCode: 1, stdout: '' });
  expect(alone.stderr).toContain('no daemon answers; start one with `hookmill serve`');
});
