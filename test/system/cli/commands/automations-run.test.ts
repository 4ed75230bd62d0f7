import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SqliteDatabase } from '../../../../store/home/sqlite.ts';
import { eventually } from '../../../support/eventually.ts';
import { startManagedDaemon } from '../../../support/management.ts';
import { startWebhookDaemon } from '../../../support/webhook-daemon.ts';
import { makeWorkspace } from '../../../support/workspace.ts';

const payload = ' {"action": "created"}\n';

const draft = (uid: string, prompt: string) =>
  JSON.stringify({
    prompt,
    triggers: [
      { provider: 'webhook', event: 'received', filter: { webhook_ids: [uid], payload: { never: [1] } } },
    ],
  });

const toYaml = (uid: string) =>
  `prompt: Try.\ntriggers:\n  - { provider: webhook, event: received, filter: { webhook_ids: [${uid}] } }\n`;

test('starts a run of a definition that is not applied, and marks it', async () => {
  const workspace = makeWorkspace();
  const { hookmill, write } = workspace;
  write('webhooks/hook.yaml', 'secretName: HOOK\n');
  await hookmill('secrets', 'generate', 'HOOK');
  const [{ uid }] = JSON.parse((await hookmill('apply', '-o', 'json')).stdout).changes;
  write('automations/act.yaml', draft(uid, 'Try this.'));
  write('event.json', payload);
  await startWebhookDaemon({ workspace });
  const words = ['automations', 'run', 'act', '--payload', 'event.json'];
  const started = await hookmill(...words, '--header', 'X-GitHub-Event: push', '-o', 'json');
  const { runId, deliveryId } = JSON.parse(started.stdout);

  const show = async () => JSON.parse((await hookmill('runs', 'show', runId, '-o', 'json')).stdout);
  await eventually(async () => (await show()).state === 'succeeded');
  const { directory, ...run } = await show();
  expect(run).toMatchObject({ automation: 'act', webhook: 'hook', manual: true, replay: false });
  const read = (name: string) => readFileSync(join(directory, name), 'utf8');
  expect(read('prompt.md')).toMatch(/^Try this\.\n/);
  expect(read('prompt.md')).toContain('An operator started this run by hand');
  expect(read('event-payload.json')).toBe(payload);
  expect(JSON.parse(read('event-headers.json'))).toEqual({ 'x-github-event': 'push' });
  expect((await hookmill('runs', 'list')).stdout).toContain(`${deliveryId} (manual)`);
  expect((await hookmill('deliveries', 'list')).stdout).toMatch(/Manual/);
  expect((await hookmill('deliveries', 'show', deliveryId)).stdout).toContain('started a run by hand');
  const [shown] = JSON.parse((await hookmill('webhooks', 'list', '-o', 'json')).stdout);
  expect(shown.lastDelivery ?? null).toBeNull();
  for (const subject of [deliveryId, runId]) {
    const why = await hookmill('why', subject);
    expect(why).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`${runId} of act succeeded`) });
    expect(why.stdout).toMatch(/· automations +somebody started the run by hand/);
  }

  write('bad.json', '{');
  const bad = await hookmill('automations', 'run', 'act', '--payload', 'bad.json');
  expect(bad).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('not JSON') });
  const secret = await hookmill(...words, '--header', 'Authorization: Bearer x');
  expect(secret).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('authorization carries') });
  const unknown = await hookmill('automations', 'run', 'none', '--payload', 'event.json');
  expect(unknown).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('none') });
});

test('runs show --prompt prints the prompt with which the run was recorded, byte for byte', async () => {
  const { hookmill, write, path } = makeWorkspace();
  write('webhooks/hook.yaml', 'secretName: HOOK\n');
  await hookmill('secrets', 'generate', 'HOOK');
  const [{ uid }] = JSON.parse((await hookmill('apply', '-o', 'json')).stdout).changes;
  const prompt = '  Grün \x1b[1m it.\r\n\n\n';
  write('automations/act.yaml', draft(uid, prompt));
  write('event.json', payload);
  const id = (await hookmill('automations', 'run', 'act', '--payload', 'event.json')).stdout.trim();
  write('automations/act.yaml', draft(uid, 'Another.'));
  await hookmill('apply');

  const show = (...words: string[]) => hookmill('runs', 'show', id, ...words);
  expect(await show('--prompt')).toEqual({ exitCode: 0, stdout: prompt, stderr: '' });
  expect(JSON.parse((await show('-o', 'json')).stdout)).toMatchObject({ id, prompt });
  expect(JSON.parse((await hookmill('runs', 'list', '-o', 'json')).stdout)[0]).not.toHaveProperty('prompt');
  expect(await show('--prompt', '--log')).toMatchObject({ exitCode: 2, stdout: '' });

  const database = new SqliteDatabase(path('.hookmill/deliveries.db'));
  database.exec('PRAGMA foreign_keys = off; DELETE FROM snapshots');
  database.close();
  expect(await show('--prompt')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `hookmill: The prompt of the run ${id} is no longer stored.\n`,
  });
  expect(JSON.parse((await show('-o', 'json')).stdout)).not.toHaveProperty('prompt');
});

test('starts no run of a disabled automation, unless that is asked for', async () => {
  const workspace = makeWorkspace();
  const { hookmill, write } = workspace;
  write('webhooks/hook.yaml', 'secretName: HOOK\n');
  await hookmill('secrets', 'generate', 'HOOK');
  const [{ uid }] = JSON.parse((await hookmill('apply', '-o', 'json')).stdout).changes;
  write('automations/act.yaml', `enabled: false\n${toYaml(uid)}`);
  write('event.json', payload);
  const words = ['automations', 'run', 'act', '--payload', 'event.json'];
  const run = async (...more: string[]) => {
    const { exitCode, stderr } = await hookmill(...words, ...more);
    return { exitCode, stderr };
  };
  const refused = {
    exitCode: 1,
    stderr:
      'hookmill: the automation act is disabled; enable it, or add --even-if-disabled for this one run\n',
  };
  expect(await run()).toEqual(refused);
  await hookmill('apply');
  workspace.remove('automations');
  expect(await run()).toEqual(refused);
  expect((await hookmill('runs', 'list')).stdout).toBe('No runs.\n');
  expect(await run('--even-if-disabled')).toMatchObject({ exitCode: 0 });
});

test('sends a draft to a server, which asks for the permission to manage', async () => {
  const daemon = await startManagedDaemon();
  const client = await daemon.client();
  const { uid } = (await client.call('createWebhook', { body: { name: 'hook' } })).json.webhook;
  const workspace = makeWorkspace();
  workspace.write('automations/act.yaml', draft(uid, 'Try this.'));
  workspace.write('event.json', payload);
  const run = async (token: string) => {
    const env = { HOOKMILL_SERVER: daemon.managementUrl, HOOKMILL_TOKEN: token };
    return workspace.hookmill('automations', 'run', 'act', '--payload', 'event.json', { env });
  };
  const { stdout } = await run(client.token);
  const shown = (await client.call('showRun', { params: { run: stdout.trim() } })).json;
  expect(shown).toMatchObject({ automation: 'act', webhook: 'hook', manual: true });
  const { json } = await client.call('showDelivery', { params: { delivery: shown.deliveryId } });
  expect(json).toMatchObject({ outcome: 'Manual', payload });
  const reader = await daemon.client({ permission: 'read' });
  expect(await run(reader.token)).toMatchObject({ exitCode: 1, stdout: '' });
  const invalid = await client.call('runByHand', { body: { automation: 'act', payload: '{' } });
  expect(invalid.json.code).toBe('request-invalid');
});
