import { rmSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { send } from '../../support/http.ts';
import { openFactory, useManagedDaemon } from '../../support/management.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const shared = useManagedDaemon();

/** A definitions directory without a home, and a command line that works on a factory of a daemon. */
async function remote(given: Parameters<typeof openFactory>[1] = {}) {
  const daemon = shared();
  const { call, env } = await openFactory(daemon, given);
  const workspace = makeWorkspace();
  const hookmill = (...args: string[]) => workspace.hookmill(...args, { env: env.server });
  const json = async (...args: string[]) => JSON.parse((await hookmill(...args, '-o', 'json')).stdout);
  return { daemon, call, workspace, env, hookmill, json };
}

describe('shows the data of a daemon like that of a home:', () => {
  let there: Awaited<ReturnType<typeof remote>>;
  const ids = { delivery: '', run: '' };
  beforeAll(async () => {
    there = await remote();
    const { call } = there;
    const created = (await call('createWebhook', { body: { name: 'deploys' } })).json;
    const { uid, url } = created.webhook;
    const triggers = [{ provider: 'webhook', event: 'received', filter: { webhook_ids: [uid] } }];
    await call('createAutomation', { body: { name: 'triage', prompt: 'Look.', triggers } });
    const headers = { Authorization: `Bearer ${created.revealed.secret}` };
    ids.delivery = (await send(url, { headers, body: '{"a":1}' })).deliveryId ?? '';
    ids.run = (await call('listRuns')).json.runs[0].id;
    const run = async () => (await call('showRun', { params: { run: ids.run } })).json;
    await eventually(async () => (await run()).state === 'succeeded');
    // The daemon looks at the health of webhooks every few seconds.
    const health = async () => (await call('showHealth')).json.webhooks[0].health;
    await eventually(async () => (await health())?.state === 'healthy');
    const output = there.daemon.store.runFiles.appendOutput(ids.run, 'attempt 1', 100);
    await output.write(Buffer.from([0xff, 0x0a, 0x1b]));
    await output.close('ended');
  });

  // transports.test.ts compares the data of every operation: here are the words, and what is not JSON.
  test.for([
    'webhooks show deploys',
    'automations list',
    'deliveries show DELIVERY',
    'deliveries show DELIVERY --payload',
    'automations test triage --last 5',
    'payloads describe deploys -o typescript',
    'runs show RUN --log',
    'status',
  ])('%s', async command => {
    const args = command.replace('DELIVERY', ids.delivery).replace('RUN', ids.run).split(' ');
    const { workspace, hookmill, daemon } = there;
    const env = { ...there.env.home, HOOKMILL_BASE_URL: daemon.ingressUrl };
    const shown = await hookmill(...args);
    expect(shown).toMatchObject({ stderr: '', exitCode: 0 });
    expect(shown.stdout).not.toBe('');
    expect(shown.stdout).toBe((await workspace.hookmill(...args, { env })).stdout);
  });

  test('except for the directory of a run, which is on the daemon’s machine', async () => {
    const shown = await there.hookmill('runs', 'show', ids.run);
    expect(shown.stdout).toContain('directory     -');
  });
});

test('warns in a plan, and in a test, about a filter that the deliveries of the daemon do not fit', async () => {
  const { call, workspace, hookmill, json: read } = await remote();
  const { json } = await call('createWebhook', { body: { name: 'deploys' } });
  const headers = { Authorization: `Bearer ${json.revealed.secret}` };
  for (const level of ['error', 'info', 'fatal']) {
    await send(json.webhook.url, { headers, body: JSON.stringify({ issue: { level } }) });
  }
  const filter = `{ webhook_ids: [${json.webhook.uid}], payload: { issue: { levle: [error] } } }`;
  workspace.write(
    'automations/triage.yaml',
    `prompt: Look.\ntriggers:\n  - { provider: webhook, event: received, filter: ${filter} }\n`,
  );
  const warning = '$.issue.levle occurs in none of the last 3 deliveries; $.issue.level in 3';
  expect((await hookmill('plan')).stderr).toContain(`automations/triage.yaml:3:`);
  expect((await hookmill('plan')).stderr).toContain(`${warning} [filter/field-not-sent]`);
  workspace.write('payload.json', '{}');
  const tested = await read('automations', 'test', 'triage', '--payload', 'payload.json');
  expect(tested.warnings).toMatchObject([{ trigger: 0, message: warning }]);
});

test('refuses unknown names and IDs in the same words as a home', async () => {
  const { call, workspace, hookmill, env } = await remote();
  const { json } = await call('createWebhook', { body: { name: 'deploys' } });
  const headers = { Authorization: `Bearer ${json.revealed.secret}` };
  const id = (await send(json.webhook.url, { headers, body: '{"a":1}' })).deliveryId ?? '';

  for (const args of [
    ['webhooks', 'show', 'deploy'],
    ['automations', 'show', 'triage'],
    ['automations', 'test', 'triage', '--delivery', id],
    ['deliveries', 'list', '--webhook', 'deploy'],
    ['deliveries', 'show', 'dlv_unknown', '--payload'],
    ['deliveries', 'replay', id],
    ['runs', 'list', '--automation', 'triage'],
    ['runs', 'show', 'run_unknown', '--log'],
    ['runs', 'retry', 'run_unknown'],
  ]) {
    const there = await hookmill(...args);
    const here = await workspace.hookmill(...args, { env: env.home });
    expect(there).toMatchObject({ stdout: '', exitCode: 1 });
    expect({ args, ...there }).toEqual({ args, ...here });
  }
});

test('lists deliveries and runs of what no longer exists, and nothing of what was never used', async () => {
  const { call, hookmill } = await remote();
  const { webhook, revealed } = (await call('createWebhook', { body: { name: 'deploys' } })).json;
  const unused = (await call('createWebhook', { body: { name: 'unused' } })).json.webhook;
  for (const { name, uid } of [{ name: 'triage', uid: webhook.uid }, unused]) {
    const triggers = [{ provider: 'webhook', event: 'received', filter: { webhook_ids: [uid] } }];
    await call('createAutomation', { body: { name, prompt: 'Look.', triggers } });
  }
  const headers = { Authorization: `Bearer ${revealed.secret}` };
  const id = (await send(webhook.url, { headers, body: '{"a":1}' })).deliveryId ?? '';
  await call('deleteAutomation', { params: { automation: 'triage' } });
  await call('changeWebhook', { params: { uid: webhook.uid }, body: { name: 'renamed' } });
  const list = async (...words: string[]) => {
    const there = await hookmill(...words);
    expect(there).toMatchObject({ stderr: '', exitCode: 0 });
    return there.stdout;
  };
  for (const name of ['deploys', 'renamed', webhook.uid]) {
    expect(await list('deliveries', 'list', '--webhook', name)).toContain(id);
  }
  await call('deleteWebhook', { params: { uid: webhook.uid } });
  for (const name of ['deploys', webhook.uid]) {
    expect(await list('deliveries', 'list', '--webhook', name)).toContain(id);
  }
  expect(await list('deliveries', 'list', '--webhook', 'deploys', '--outcome', 'duplicate')).toBe(
    'No deliveries.\n',
  );
  expect(await list('deliveries', 'list', '--webhook', 'unused')).toBe('No deliveries.\n');
  expect(await list('runs', 'list', '--automation', 'triage')).toContain(id);
  expect(await list('runs', 'list', '--automation', 'unused')).toBe('No runs.\n');
});

test('replays a delivery, retries a failed run, and tests a draft', async () => {
  const { call, workspace, hookmill, json } = await remote();
  const created = (await call('createWebhook', { body: { name: 'deploys' } })).json;
  const filter = { webhook_ids: [created.webhook.uid] };
  const triggers = [{ provider: 'webhook', event: 'received', filter }];
  await call('createAutomation', { body: { name: 'triage', prompt: 'Look.', triggers } });
  const headers = { Authorization: `Bearer ${created.revealed.secret}` };
  const id = (await send(created.webhook.url, { headers, body: '{"a":1}' })).deliveryId ?? '';

  const [replayed] = await json('deliveries', 'replay', id);
  expect(replayed).toMatchObject({ automation: 'triage' });
  await expect.poll(async () => (await json('runs', 'show', replayed.id)).state).toBe('succeeded');
  const retried = await hookmill('runs', 'retry', replayed.id);
  expect(retried.stderr).toContain(`the run ${replayed.id} has succeeded; only failed runs can be retried`);

  const trigger = { provider: 'webhook', event: 'received', filter: { ...filter, payload: { a: [2] } } };
  workspace.write('automations/triage.yaml', JSON.stringify({ prompt: 'Look.', triggers: [trigger] }));
  const verdict = await json('automations', 'test', 'triage', '--delivery', id);
  expect(verdict).toMatchObject({ automation: 'triage', enabled: true, wouldTrigger: false });
});

test('reads page after page until it has as many deliveries as requested', async () => {
  const { call, json } = await remote();
  const created = (await call('createWebhook', { body: { name: 'deploys' } })).json;
  const headers = { Authorization: `Bearer wrong` };
  for (let count = 0; count < 5; count++) await send(created.webhook.url, { headers, body: '1' });
  const listed = async () => (await call('listDeliveries')).json.deliveries;
  await expect.poll(listed).toHaveLength(5);
  expect(await json('deliveries', 'list')).toHaveLength(5);
  expect(await json('deliveries', 'list', '--limit', '3')).toHaveLength(3);
});

test('plans and applies the definitions of the directory; the secrets stay with the daemon', async () => {
  const { call, workspace, hookmill, json } = await remote();
  await call('createWebhook', { body: { name: 'made-here' } });
  workspace.write('webhooks/pay.yaml', 'secretName: MADE_HERE_TOKEN\n');
  const planned = await hookmill('plan', '--detailed-exitcode');
  expect(planned).toMatchObject({ exitCode: 2 });
  expect(planned.stdout).toContain('Plan: 1 to add, 0 to change, 1 to destroy.');
  expect(planned.stderr).toContain('managed in the dashboard');

  expect(await hookmill('apply', '--adopt')).toMatchObject({ exitCode: 1, stdout: '' });
  const kept = await hookmill('apply', '--yes');
  expect(kept).toMatchObject({ exitCode: 1, stdout: '' });
  expect(kept.stderr).toContain('[factory/dashboard-managed]');
  const applied = await json('apply', '--yes', '--adopt');
  expect(applied).toMatchObject({ serial: 2, summary: { add: 1, change: 0, destroy: 1 } });
  expect(await json('webhooks', 'list')).toMatchObject([{ name: 'pay', url: applied.changes[1].url }]);
  expect(await hookmill('plan', '--detailed-exitcode')).toMatchObject({ exitCode: 0 });
  expect((await json('status')).upToDate).toBe(true);
});

test('what a daemon destroyed answers 404 until it is restored, and then knows its deliveries', async () => {
  const { daemon, workspace, json } = await remote();
  await daemon.store.teamSecrets.set('RESTORED', 'a-secret-of-some-length');
  const headers = { Authorization: 'Bearer a-secret-of-some-length' };
  const apply = async (...args: string[]) => {
    const { changes } = await json('apply', '--yes', ...args);
    const { url } = changes[0];
    return { url, answer: url && (await send(url, { headers, body: '{"id":1}' })) };
  };
  const restore = async (...args: string[]) => {
    rmSync(workspace.path('webhooks/pay.yaml'));
    await apply();
    expect(await send(first.url, { headers, body: '{"id":1}' })).toMatchObject({ status: 404 });
    workspace.write('webhooks/pay.yaml', 'secretName: RESTORED\n');
    return apply(...args);
  };
  for (const name of ['pay', 'stays']) workspace.write(`webhooks/${name}.yaml`, 'secretName: RESTORED\n');
  const first = await apply();
  expect(first.answer).toMatchObject({ status: 202 });
  const { url, answer } = await restore();
  expect([url, answer.status, answer.deliveryId]).toEqual([first.url, 202, first.answer.deliveryId]);
  expect((await restore('--new-uid', 'pay')).url).not.toBe(url);
});

test('asks before another use of a team secret, and sends no confirmation without it', async () => {
  // No other test has a webhook of this name, and so a team secret of its name.
  const { call, workspace, hookmill, json } = await remote();
  await call('createWebhook', { body: { name: 'charges' } });
  workspace.write('webhooks/charges.yaml', 'secretName: CHARGES_TOKEN\n');
  workspace.write('webhooks/orders.yaml', 'authMode: url_token\nsecretName: CHARGES_TOKEN\n');
  const declined = await hookmill('apply', '--adopt');
  expect(declined).toMatchObject({ exitCode: 1, stdout: '' });
  expect(declined.stderr).toContain('To confirm:\n  webhook orders: the webhook charges also uses');
  expect(await json('webhooks', 'list')).toHaveLength(1);
  expect(await json('apply', '--adopt', '--yes')).toMatchObject({ serial: 2, summary: { add: 1 } });
});

test('shows the impact of changes as a home does, when it plans and when it applies', async () => {
  const { daemon, call, workspace, env, hookmill } = await remote();
  const created = (await call('createWebhook', { body: { name: 'builds' } })).json;
  const { uid, url } = created.webhook;
  const headers = { Authorization: `Bearer ${created.revealed.secret}` };
  for (const state of ['failed', 'passed']) {
    await send(url, { headers, body: JSON.stringify({ state }) });
  }
  const write = (state: string) => {
    const filter = { webhook_ids: [uid], payload: { state: [state] } };
    const triggers = [{ provider: 'webhook', event: 'received', filter }];
    workspace.write('automations/triage.yaml', JSON.stringify({ prompt: 'Look.', triggers }));
  };
  workspace.write('webhooks/builds.yaml', 'secretName: BUILDS_TOKEN\n');
  write('failed');
  await hookmill('apply', '--adopt');
  write('passed');
  const planned = await hookmill('plan');
  const change = `\
~ automation triage
    ~ triggers[builds].filter.payload.state: [failed] → [passed]
    ! Of the last 2 deliveries, 1 would start a run (1 before); the outcome of 2 changes
`;
  expect(planned.stdout).toContain(change);
  const here = { ...env.home, HOOKMILL_BASE_URL: daemon.ingressUrl };
  expect((await workspace.hookmill('plan', { env: here })).stdout).toBe(planned.stdout);
  const unexplained = await call('plan', {
    body: {
      impact: false,
      files: [{ path: 'webhooks/builds.yaml', content: 'enabled: false\nsecretName: BUILDS_TOKEN\n' }],
    },
  });
  expect(unexplained.json.changes[0]).not.toHaveProperty('impact');
  expect((await hookmill('apply')).stdout).toContain(change);
});

test('shows errors with their place in the file', async () => {
  const { workspace, hookmill } = await remote({ permission: 'read' });
  const none = await hookmill('plan');
  expect(none).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no-definitions') });
  workspace.write('webhooks/pay.yaml', 'secretName: NO_SUCH_SECRET\n');
  const { stderr, exitCode } = await hookmill('plan');
  expect(exitCode).toBe(1);
  expect(stderr).toContain('webhooks/pay.yaml:1:13: error: there is no team secret NO_SUCH_SECRET');
  expect(stderr).toContain('1 | secretName: NO_SUCH_SECRET');
});

test('finds all mistakes with plan and apply, as on a home', async () => {
  const { workspace, hookmill, env, daemon } = await remote();
  const secretName = 'FOR_MISTAKES';
  await workspace.hookmill('secrets', 'generate', secretName, { env: env.home });
  workspace.write('webhooks/deploys.yaml', `secretName: ${secretName}\n`);
  expect(await hookmill('apply')).toMatchObject({ exitCode: 0 });
  const triggersOf = (name: string) => [
    { provider: 'webhook', event: 'received', filter: { webhook_ids: [name] } },
  ];
  const writeAutomation = (name: string, triggers: object[]) =>
    workspace.write(`automations/${name}.yaml`, JSON.stringify({ prompt: 'Look.', triggers }));
  workspace.write('webhooks/pay.yaml', 'secretName: NO_SUCH_SECRET\n');
  workspace.write('webhooks/Misnamed.yaml', 'secretName: NO_SUCH_SECRET\n');
  writeAutomation('by-file', triggersOf('deploys'));
  writeAutomation('new', triggersOf('pay'));
  writeAutomation('gone', triggersOf(`wh_${'0'.repeat(24)}`));
  for (const words of [['plan'], ['apply']]) {
    const there = await hookmill(...words);
    expect(there.exitCode).toBe(1);
    expect(there.stderr).toContain('hint: write webhook: deploys to select a webhook by its name');
    expect(there.stderr).toContain('hint: write webhook: pay to select a webhook by its name');
    expect(there.stderr).toContain('there is no team secret NO_SUCH_SECRET');
    expect(there.stderr).toContain('webhooks/Misnamed.yaml: error: invalid name');
    const home = { ...env.home, HOOKMILL_BASE_URL: daemon.ingressUrl };
    expect(await workspace.hookmill(...words, { env: home })).toEqual(there);
  }
});

test('says what a token may not do, and that a server is not hookmill', async () => {
  const { workspace, hookmill, env } = await remote({ permission: 'read' });
  workspace.write('webhooks/pay.yaml', 'secretName: PAY\n');
  await workspace.hookmill('secrets', 'declare', 'PAY');
  const other = await hookmill('webhooks', 'list', '--factory', 'other');
  expect(other).toMatchObject({ exitCode: 1, stdout: '' });
  expect(other.stderr).toMatch(/^hookmill: the API token token-\w+ may not read the factory other\n$/);
  const wrong = await workspace.hookmill('status', { env: { ...env.server, HOOKMILL_TOKEN: 'hmk_wrong' } });
  expect(wrong.stderr).toBe('hookmill: The API token is unknown: it is not one of this daemon\n');
  const gone = await workspace.hookmill('status', {
    env: { ...env.server, HOOKMILL_SERVER: 'http://127.0.0.1:1' },
  });
  expect(gone.stderr).toMatch(/^hookmill: http:\/\/127\.0\.0\.1:1 does not answer: /);
});

test.for([
  [
    'a command that needs a home',
    ['secrets', 'list'],
    {},
    'This command needs a local home; it does not work with --server',
  ],
  [
    'a copy between stores of this machine',
    ['store', 'copy', '--from', 'here', '--to', 'there'],
    {},
    'This command needs a local home; it does not work with --server',
  ],
  ['a server without a token', ['status'], { HOOKMILL_TOKEN: '' }, 'requires an API token in HOOKMILL_TOKEN'],
  [
    'an unencrypted connection',
    ['status', '--server', 'http://hooks.example.com'],
    {},
    'must not be sent unencrypted',
  ],
  ['a plan that is written to a file', ['plan', '--out', 'x'], {}, '--out cannot be combined with --server'],
  ['a plan file', ['apply', 'plan.json'], {}, 'A plan file cannot be combined with --server'],
] as const)('takes as wrong usage: %s', async ([_, args, env, message]) => {
  const workspace = makeWorkspace();
  const server = { HOOKMILL_SERVER: 'http://127.0.0.1:1', HOOKMILL_TOKEN: 'hmk_x' };
  const { stdout, stderr, exitCode } = await workspace.hookmill(...args, { env: { ...server, ...env } });
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
  expect(stderr).toContain(message);
});
