import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../support/eventually.ts';
import { send as post } from '../../../support/http.ts';
import { openWebhookDaemon, type WebhookDaemon } from '../../../support/webhook-daemon.ts';
import { makeWorkspace } from '../../../support/workspace.ts';

const workspace = makeWorkspace();
const secret = 'a-token-of-the-sender-of-forms';
let daemon: WebhookDaemon;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  workspace.write('webhooks/forms.yaml', 'bodyFormat: form\nsecretName: FORMS\n');
  workspace.write('webhooks/fields.yaml', 'bodyFormat: form\npayloadField: payload\nsecretName: FORMS\n');
  for (const name of ['forms', 'fields']) {
    workspace.write(
      `automations/on-${name}.yaml`,
      `prompt: Look.\ntriggers:\n  - provider: webhook\n    event: received\n    filter:\n      webhook: ${name}\n      payload:\n        command: [/deploy]\n`,
    );
  }
  await workspace.hookmill('secrets', 'set', 'FORMS', { stdin: secret });
  const applied = await workspace.hookmill('apply', '--yes');
  expect(applied).toMatchObject({ exitCode: 0, stderr: '' });
  const settings = { runs: { runner: { kind: 'command', argv: ['true'] } } };
  daemon = await openWebhookDaemon({ workspace, settings });
  const token =
    (await workspace.hookmill('tokens', 'create', 'reader')).stdout.trim().split(/\s/).at(-1) ?? '';
  env = { HOOKMILL_SERVER: daemon.managementUrl, HOOKMILL_TOKEN: token };
});
afterAll(() => daemon.stop());

/** Sends a file as the sender of a webhook; returns the ID of the delivery. */
async function send(webhook: string, body: string, ...words: string[]): Promise<string> {
  workspace.write('body', body);
  const given = { env: { HOOKMILL_BASE_URL: daemon.ingressUrl } };
  const sent = await workspace.hookmill('send', webhook, '--payload', 'body', '-o', 'json', ...words, given);
  expect(sent).toMatchObject({ exitCode: 0, stderr: '' });
  return JSON.parse(sent.stdout).deliveryId;
}

async function show(id: string) {
  return JSON.parse((await workspace.hookmill('deliveries', 'show', id, '-o', 'json')).stdout);
}

async function readBody(id: string): Promise<string> {
  return (await workspace.hookmill('deliveries', 'show', id, '--payload')).stdout;
}

const raw = `command=%2fdeploy&text=it's+"%24(touch pwned)"+%0A&text=Zo%C3%AB&a[]=1&percent=%zz`;
const payload = { command: '/deploy', text: [`it's "$(touch pwned)" \n`, 'Zoë'], 'a[]': '1', percent: '%zz' };

test('a form is sent byte for byte, shown as JSON, and gives the run JSON', async () => {
  const id = await send('forms', raw);
  expect(await readBody(id)).toBe(raw);
  const delivery = await show(id);
  expect(delivery).toMatchObject({ outcome: 'Accepted', form: {} });
  expect(delivery.headers['content-type']).toBe('application/x-www-form-urlencoded');
  expect(JSON.parse(delivery.payload)).toEqual(payload);
  const [verdict] = delivery.evaluation.automations;
  expect(verdict).toMatchObject({ automation: 'on-forms', wouldTrigger: true });
  const { stdout } = await workspace.hookmill('deliveries', 'show', id);
  expect(stdout).toMatch(/^body +a form, shown as JSON$/m);
  expect(stdout).toContain('  "command": "/deploy"');

  const [run] = delivery.runs;
  await eventually(async () => (await show(id)).runs[0].state === 'succeeded');
  const file = workspace.path(`.hookmill/runs/${run.id}/event-payload.json`);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(payload);
});

test('JSON is sent as a form to a webhook of forms, or in the field that it names', async () => {
  const fields = await send('forms', '{"command":"/deploy","n":1,"list":["a","b"],"no":false}');
  expect(await readBody(fields)).toBe('command=%2Fdeploy&n=1&list=a&list=b&no=false');
  const json = '{ "command": "/deploy", "id": 12345678901234567890 }';
  const id = await send('fields', json);
  expect((await show(id)).payload).toBe(json);
  expect(await readBody(id)).toBe(`${new URLSearchParams({ payload: json })}`);

  workspace.write('body', '{"a":{"b":1}}');
  const refused = await workspace.hookmill('send', 'forms', '--payload', 'body', {
    env: { HOOKMILL_BASE_URL: daemon.ingressUrl },
  });
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('does not fit into a form') });
});

test('the rendered curl command sends the same bytes, which are accepted', async () => {
  const id = await send('forms', `${raw}&curl=1`);
  const { stdout } = await workspace.hookmill('deliveries', 'show', id, '-o', 'curl', { env });
  const input = `${stdout.trimEnd()} -H 'X-Service-Delivery-Id: again'\n`;
  const sent = await execa('sh', { cwd: workspace.directory, env: { WEBHOOK_SECRET: secret }, input });
  const { delivery_id: again } = JSON.parse(sent.stdout);
  expect(again).not.toBe(id);
  expect(await readBody(again)).toBe(`${raw}&curl=1`);
  expect((await show(again)).headers['content-type']).toBe('application/x-www-form-urlencoded');
  expect(() => workspace.read('pwned')).toThrow('ENOENT');
});

test('listen forwards the same bytes as a form, also if its sender named no content type', async () => {
  const received: { readonly type: string | undefined; readonly body: string }[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    received.push({ type: request.headers['content-type'], body });
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  await send('forms', `${raw}&listen=1`);
  const { uid } = JSON.parse((await workspace.hookmill('webhooks', 'show', 'forms', '-o', 'json')).stdout);
  const headers = { authorization: `Bearer ${secret}` };
  const sent = { headers, body: `${raw}&listen=2` };
  expect(await post(`${daemon.ingressUrl}/webhooks/w/${uid}`, sent)).toMatchObject({ status: 202 });

  const to = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const words = ['listen', '--webhook', 'forms', '--forward', to, '--replay-last', '2'];
  const listening = workspace.start(words, { env: { ...env, XDG_STATE_HOME: workspace.path('state') } });
  onTestFinished(() => void listening.kill('SIGKILL'));
  await eventually(() => received.length === 2);
  expect(received.map(({ body }) => body)).toEqual([`${raw}&listen=1`, `${raw}&listen=2`]);
  expect(received.map(({ type }) => type)).toEqual([
    'application/x-www-form-urlencoded',
    'application/x-www-form-urlencoded',
  ]);
});

test('filters, searches, observations and fixtures see the payload of a form', async () => {
  const id = await send('forms', 'command=%2Fdeploy&user=Zo%C3%AB+M.&n=1');
  const tested = await workspace.hookmill('automations', 'test', 'on-forms', '--delivery', id);
  expect(tested).toMatchObject({ exitCode: 0 });
  const found = await workspace.hookmill('deliveries', 'list', '--search', 'Zoë M.', '-o', 'json');
  expect(JSON.parse(found.stdout).map((row: { id: string }) => row.id)).toEqual([id]);
  const described = await workspace.hookmill('payloads', 'describe', 'forms', '-o', 'json');
  const paths = JSON.parse(described.stdout).paths;
  expect(paths).toContainEqual(expect.objectContaining({ path: '$.n', types: expect.anything() }));

  const exported = await workspace.hookmill('export', '--fixtures', 'exported');
  expect(exported.exitCode, exported.stderr).toBe(0);
  expect(workspace.read('exported/webhooks/forms.yaml')).toBe('secretName: FORMS\nbodyFormat: form\n');
  const fixtures = await workspace.hookmill('validate', '-C', 'exported');
  expect(fixtures).toMatchObject({ exitCode: 0 });
  const files = readdirSync(workspace.path('exported'), { recursive: true }).map(String);
  const fixture =
    files.find(
      file => /on-forms.*\.(json|yaml)$/.test(file) && !file.startsWith('automations/on-forms.yaml'),
    ) ?? '';
  expect(workspace.read(`exported/${fixture}`)).toContain('/deploy');
  const replayed = await workspace.hookmill('deliveries', 'replay', id);
  expect(replayed).toMatchObject({ exitCode: 0 });
});

test('the plan says what another format does to senders and filters', async () => {
  workspace.write('webhooks/forms.yaml', 'secretName: FORMS\n');
  const { stdout } = await workspace.hookmill('plan');
  workspace.write('webhooks/forms.yaml', 'bodyFormat: form\nsecretName: FORMS\n');
  expect(stdout).toContain(
    'bodies in the format of before are answered 400, and filters see another payload',
  );
});

test('the webhook says what it expects', async () => {
  const { stdout } = await workspace.hookmill('webhooks', 'show', 'fields');
  expect(stdout).toMatch(/^bodies +forms with JSON in the field payload$/m);
});
