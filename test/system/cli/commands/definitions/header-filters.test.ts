import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../../../support/eventually.ts';
import { send } from '../../../../support/http.ts';
import { openWebhookDaemon, type WebhookDaemon } from '../../../../support/webhook-daemon.ts';
import { makeWorkspace } from '../../../../support/workspace.ts';

const workspace = makeWorkspace();
const { hookmill, write } = workspace;
const secret = 'a secret of github';

let daemon: WebhookDaemon;
let uid = '';
beforeAll(async () => {
  webhook('keepHeaders: [X-Tenant]');
  await hookmill('secrets', 'set', 'GITHUB_WEBHOOK', { stdin: secret });
  await hookmill('apply');
  uid = JSON.parse((await hookmill('webhooks', 'show', 'github', '-o', 'json')).stdout).uid;
  automation('pushed', 'headers: { X-GitHub-Event: [push] }');
  automation('both', 'headers: { X-Tenant: { not_in: [test] } }\n      payload: { ref: [main] }');
  automation('any', '');
  automation(
    'released',
    'headers: { X-Tenant: { $compare: { at_least: 7 } } }\n      payload: { ref: { $like: ["refs/tags/*"] }, files: { $compare: { below: 9 } } }',
  );
  const { stderr, exitCode } = await hookmill('apply');
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  daemon = await openWebhookDaemon({ workspace });
});
afterAll(() => daemon.stop());

function webhook(line: string): void {
  write(
    'webhooks/github.yaml',
    `authMode: signature\nsignatureScheme: github\nsecretName: GITHUB_WEBHOOK\n${line}\n`,
  );
}

function automation(name: string, filter: string): void {
  write(
    `automations/${name}.yaml`,
    `prompt: Do ${name}.
triggers:
  - provider: webhook
    event: received
    filter:
      webhook_ids: [${uid}]
      ${filter}
`,
  );
}

async function deliver(body: string, headers: Record<string, string>): Promise<string> {
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const url = `${daemon.ingressUrl}/webhooks/w/${uid}`;
  const answer = await send(url, { headers: { 'X-Hub-Signature-256': signature, ...headers }, body });
  expect(answer.status).toBe(202);
  return answer.deliveryId ?? '';
}

async function show(id: string) {
  const { stdout } = await hookmill('deliveries', 'show', id, '-o', 'json');
  return JSON.parse(stdout);
}

const startedBy = ({ runs }: { runs: { automation: string }[] }) => runs.map(run => run.automation).sort();

test('a delivery starts the automations whose headers and payload match', async () => {
  const push = await deliver('{"ref":"main","n":1}', { 'X-GitHub-Event': 'push', 'x-tenant': 'shop' });
  const issue = await deliver('{"ref":"main","n":2}', { 'X-GitHub-Event': 'issues', 'X-Tenant': 'test' });
  expect(startedBy(await show(push))).toEqual(['any', 'both', 'pushed']);
  expect(startedBy(await show(issue))).toEqual(['any']);
  const { stdout } = await hookmill('deliveries', 'show', issue);
  expect(stdout).toContain('pushed: Would not trigger\n  ✓ webhook: matches\n  ✗ headers: do not match\n');
  expect(stdout).toContain('✗ X-GitHub-Event in ["push"] · header was "issues"');
  expect(stdout).toContain('✗ X-Tenant not_in ["test"] · header was "test"');
  expect(stdout).toContain('\nHeaders:\n  x-github-event: issues\n  x-tenant: test\n');
});

test('a delivery starts the automation whose patterns and ranges it fits, and the others say why not', async () => {
  const tag = await deliver('{"ref":"refs/tags/v1","files":2}', { 'X-Tenant': '7.5' });
  expect(startedBy(await show(tag))).toEqual(['any', 'released']);
  const branch = await deliver('{"ref":"refs/heads/main","files":"2"}', { 'X-Tenant': '6' });
  expect(startedBy(await show(branch))).toEqual(['any']);
  const { stdout } = await hookmill('deliveries', 'show', branch);
  expect(stdout).toContain('✗ X-Tenant $compare at least 7 · header was "6"\n');
  expect(stdout).toContain(
    '✗ $.ref $like ["refs/tags/*"] · payload has "refs/heads/main" ("refs/tags/*" matches as far as "refs/")',
  );
  expect(stdout).toContain(
    '✗ $.files $compare below 9 · payload has "2" (only numbers are compared, and "2" is a string)',
  );
  write(
    'automations/released.fixtures/branch.json',
    '{"expect": "trigger", "headers": {"X-Tenant": "8"}, "payload": {"ref": "Refs/tags/1", "files": 1}}',
  );
  const tested = await hookmill('automations', 'test', 'released', '--fixtures');
  expect(tested.stdout).toContain('differs only in upper and lower case');
  for (const path of ['released.fixtures', 'released.yaml']) workspace.remove(`automations/${path}`);
  expect(await hookmill('apply', '--yes')).toMatchObject({ exitCode: 0 });
});

test('its run gets them as event-headers.json, and a replay judges the stored ones', async () => {
  const headers = { 'X-GitHub-Event': 'push', 'X-GitHub-Delivery': 'guid-7', 'X-Tenant': 'test' };
  const id = await deliver('{"ref":"main","n":3}', headers);
  await eventually(async () =>
    (await show(id)).runs.every((run: { state: string }) => run.state === 'succeeded'),
  );
  const { runs } = await show(id);
  expect(startedBy({ runs })).toEqual(['any', 'pushed']);
  expect(JSON.parse(workspace.read(`.hookmill/runs/${runs[0].id}/event-headers.json`))).toEqual({
    'x-github-delivery': 'guid-7',
    'x-github-event': 'push',
    'x-tenant': 'test',
  });
  const replayed = JSON.parse((await hookmill('deliveries', 'replay', id, '-o', 'json')).stdout);
  expect(startedBy({ runs: replayed.runs ?? replayed })).toEqual(['any', 'pushed']);
});

test('automations test judges stored headers, given ones, and those of fixtures', async () => {
  const id = await deliver('{"ref":"main","n":4}', { 'X-GitHub-Event': 'push' });
  const json = async (...words: string[]) =>
    JSON.parse((await hookmill('automations', 'test', 'pushed', '-o', 'json', ...words)).stdout);
  expect(await json('--delivery', id)).toMatchObject({ wouldTrigger: true });
  write('event.json', '{}');
  const payload = ['--payload', 'event.json'];
  expect(await json(...payload)).toMatchObject({ wouldTrigger: false });
  expect(await json(...payload, '--header', 'x-github-event: push')).toMatchObject({ wouldTrigger: true });
  const twice = await json(...payload, '--header', 'X-GitHub-Event: push', '--header', 'X-GitHub-Event: b');
  expect(twice.triggers[0].headers.clauses[0].found).toBe('"push, b"');
  const wrong = await hookmill('automations', 'test', 'pushed', ...payload, '--header', 'push');
  expect(wrong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('"push" is not a header') });

  const fixture = (event: string) =>
    JSON.stringify({ expect: 'trigger', headers: { 'X-GitHub-EVENT': event }, payload: {} });
  write('automations/pushed.fixtures/push.json', fixture('push'));
  expect(await hookmill('automations', 'test', 'pushed', '--fixtures')).toMatchObject({ exitCode: 0 });
  write('automations/pushed.fixtures/push.json', fixture('issues'));
  const { stdout } = await hookmill('automations', 'test', 'pushed', '--fixtures');
  expect(stdout).toContain('header X-GitHub-Event was "issues", asked for in ["push"]');
  workspace.remove('automations/pushed.fixtures');
});

test('send gives headers, which the daemon keeps', async () => {
  write('event.json', '{"ref":"main","n":5}');
  const words = [
    '--payload',
    'event.json',
    '--header',
    'X-GitHub-Event: push',
    '--header',
    'X-Tenant: Grüße',
  ];
  const { stdout } = await hookmill('send', 'github', ...words, '-o', 'json');
  const { deliveryId } = JSON.parse(stdout);
  expect(await show(deliveryId)).toMatchObject({
    headers: {
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^hookmill\//),
      'x-github-event': 'push',
      'x-tenant': 'Grüße',
    },
  });
});

describe('plan', () => {
  test('shows a change of headers and of keepHeaders, and the deliveries that it affects', async () => {
    await deliver('{"n":6}', { 'X-GitHub-Event': 'push' });
    automation('pushed', 'headers: { X-GitHub-Event: [push, release] }');
    webhook('keepHeaders: [X-Tenant, X-Region]');
    const { stdout } = await hookmill('plan');
    expect(stdout).toContain('~ keepHeaders: [X-Tenant] → [X-Tenant, X-Region]\n');
    expect(stdout).toContain('filter.headers["X-GitHub-Event"]: [push] → [push, release]\n');
    automation('pushed', 'headers: { X-GitHub-Event: [release] }');
    const narrowed = JSON.parse((await hookmill('plan', '-o', 'json')).stdout);
    const { impact } = narrowed.changes.find(({ name }: { name: string }) => name === 'pushed');
    expect(impact.startedBefore).toBeGreaterThan(0);
    expect(impact.startedAfter).toBe(0);
  });

  test('refuses a filter on a header that the webhook does not keep, and names the way out', async () => {
    webhook('keepHeaders: [X-Tenant]');
    automation('pushed', 'headers: { X-Region: [eu] }');
    const unkept = await hookmill('plan');
    expect(unkept.exitCode).toBe(1);
    expect(unkept.stderr).toMatch(
      /^automations\/pushed\.yaml:7:\d+: error: the webhook github does not keep the header X-Region, so filters never see it/,
    );
    expect(unkept.stderr).toContain('add it to keepHeaders of the webhook, as in keepHeaders: [X-Region]');
    webhook('keepHeaders: [x-region]');
    automation('both', '');
    expect(await hookmill('plan')).toMatchObject({ exitCode: 0, stderr: '' });
    automation('pushed', 'headers: { X-GitHub-Evnt: [push] }');
    expect((await hookmill('plan')).stderr).toContain('did you mean X-GitHub-Event?');
  });

  test('and validate refuse a filter on a credential, once', async () => {
    automation('pushed', 'headers: { Authorization: { exists: true } }');
    for (const command of ['plan', 'validate']) {
      const { stdout, stderr, exitCode } = await hookmill(command);
      expect(exitCode).toBe(1);
      const found = `${stdout}${stderr}`.match(/Authorization carries a credential or a signature/g);
      expect(found).toHaveLength(1);
      expect(stderr).not.toContain('keepHeaders');
    }
  });
});
