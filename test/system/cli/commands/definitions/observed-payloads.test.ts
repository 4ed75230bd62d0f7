import { rmSync } from 'node:fs';
import { Ajv } from 'ajv';
import { execa } from 'execa';
import { beforeAll, describe, expect, test } from 'vitest';
import { openDeliveryLog } from '../../../../../store/embedded/delivery-log/write/open-delivery-log.ts';
import { acceptedDelivery } from '../../../../support/deliveries.ts';
import { startLanguageServer } from '../../../../support/language-server.ts';
import { makeWorkspace, type Workspace } from '../../../../support/workspace.ts';

const payloads = Array.from({ length: 20 }, (_, index) => ({
  action: index % 2 ? 'created' : 'closed',
  number: index,
  issue: { ...(index > 1 && { level: 'error' }), labels: [{ name: 'bug' }, { name: 'ci' }] },
  'odd key': null,
  api_key: `plain-${index}`,
  config: { url: 'https://user:hunter2@example.com', note: 'ghp_16C7e42F292c6912E7710c838347Ae178B4a' },
  '*/ process.exit(1) /*': true,
  // A control character that a terminal obeys, and that JSON allows.
  'red \u009b31m key': true,
}));

function automation(uid: string, filter: string): string {
  const trigger = `{ provider: webhook, event: received, filter: { webhook_ids: [${uid}], payload: ${filter} } }`;
  return `prompt: Look.\ntriggers:\n  - ${trigger}\n`;
}

let workspace: Workspace;
let uid: string;
beforeAll(async () => {
  workspace = makeWorkspace();
  workspace.write('webhooks/errors.yaml', 'secretName: TOKEN\n');
  workspace.write('webhooks/idle.yaml', 'secretName: TOKEN\n');
  await workspace.hookmill('secrets', 'generate', 'TOKEN');
  await workspace.hookmill('apply');
  uid = JSON.parse((await workspace.hookmill('webhooks', 'show', 'errors', '-o', 'json')).stdout).uid;
  const log = await openDeliveryLog(`${workspace.home}/deliveries.db`);
  for (const [index, payload] of payloads.entries()) {
    const given = { id: `dlv_${index}`, webhook: 'errors', uid, atMs: Date.now() - index * 1000 };
    await log.recordAccepted(acceptedDelivery({ ...given, payload: Buffer.from(JSON.stringify(payload)) }));
  }
  await log.close();
});

describe('plan', () => {
  test('warns about filters that no stored delivery fits, with the place in the file', async () => {
    workspace.write('automations/typo.yaml', automation(uid, '{ issue: { levle: [error] }, number: ["1"] }'));
    workspace.write('automations/value.yaml', automation(uid, '{ action: [opened] }'));
    workspace.write(
      'automations/right.yaml',
      automation(uid, '{ action: [created], issue: { level: [error] } }'),
    );
    const { stderr, exitCode } = await workspace.hookmill('plan');
    expect(stderr).toContain(
      'automations/typo.yaml:3:124: warning: $.issue.levle occurs in none of the last 20 deliveries; $.issue.level in 18 [filter/field-not-sent]',
    );
    expect(stderr).toContain('$.number: "1" is asked for, but numbers were sent, such as');
    expect(stderr).toContain(
      '$.action is "opened" in none of the last 20 deliveries; it is one of "created", "closed" [filter/value-not-sent]',
    );
    expect(stderr).not.toContain('automations/right.yaml');
    expect(exitCode).toBe(0);
    const markdown = await workspace.hookmill('plan', '-o', 'markdown');
    expect(markdown.stdout).toContain('levle');
  });

  test('warns about paths at which no stored delivery has a value', async () => {
    const flow =
      'order: $.issue.id\nconcurrency: 1\nconcurrencyKey: $.nmber\ndebounce: { for: 30s, key: $.issue }\n';
    workspace.write('automations/flow.yaml', automation(uid, '{ number: [1] }') + flow);
    workspace.write(
      'automations/flowing.yaml',
      `${automation(uid, '{ number: [2] }')}order: $.issue.labels[0].name\n`,
    );
    const { stderr } = await workspace.hookmill('plan');
    expect(stderr).toContain(
      'flow.yaml:4:8: warning: $.issue.id occurs in none of the last 20 deliveries [automation/path-not-sent]',
    );
    expect(stderr).toContain(
      '$.nmber occurs in none of the last 20 deliveries; $.number in 20 [automation/path-not-sent]',
    );
    expect(stderr).toContain('$.issue is an object in the last 20 deliveries, which counts as no value');
    expect(stderr).not.toContain('flowing.yaml');
    rmSync(workspace.path('automations/flow.yaml'));
    rmSync(workspace.path('automations/flowing.yaml'));
  });

  test('repeats only what is certain once the automations are applied', async () => {
    await workspace.hookmill('apply');
    const { stdout, stderr } = await workspace.hookmill('plan');
    expect(stdout).toContain('No changes');
    expect(stderr).toContain('[filter/field-not-sent]');
    expect(stderr).toContain('[filter/type-not-sent]');
    expect(stderr).not.toContain('[filter/value-not-sent]');
  });
});

test('automations test shows the same, and what validate warns about', async () => {
  workspace.write(
    'automations/typo.yaml',
    automation(uid, '{ issue: { levle: [error] }, action: { nin: [x] } }'),
  );
  const { stdout } = await workspace.hookmill('automations', 'test', 'typo', '--delivery', 'dlv_3');
  expect(stdout).toContain('typo: Would not trigger');
  expect(stdout).toContain('! $.issue.levle occurs in none of the last 20 deliveries; $.issue.level in 18');
  expect(stdout).toContain(
    '! nin is not an operator, so it is the name of a field [filter/unknown-operator]',
  );
  const json = JSON.parse(
    (await workspace.hookmill('automations', 'test', 'typo', '--delivery', 'dlv_3', '-o', 'json')).stdout,
  );
  expect(json.warnings).toMatchObject([
    { trigger: 0, code: 'filter/unknown-operator' },
    { trigger: 0, code: 'filter/field-not-sent' },
  ]);
});

test('automations test --last shows which deliveries match, which nearly, and what repairs that', async () => {
  workspace.write('automations/typo.yaml', automation(uid, '{ action: [Created], number: [15, 17] }'));
  const words = ['automations', 'test', 'typo', '--last', '6'];
  const { stdout, exitCode } = await workspace.hookmill(...words);
  expect(stdout).toMatch(/^typo: of the last 6 deliveries, 0 match; the oldest came 20\S+Z\n/);
  expect(stdout).toMatch(
    / {2}errors {3}near {5}\$\.action: "Created" and "created" differ only in upper and lower case {2}dlv_15\n/,
  );
  expect(stdout).toMatch(/\$\.action in \["Created"\] +0 of 6 +"\w+", "\w+" +\["created"\]: 2 match\n/);
  expect(exitCode).toBe(0);
  const json = JSON.parse((await workspace.hookmill(...words, '-o', 'json')).stdout);
  expect(json).toMatchObject({ matches: 0, deliveries: { length: 6 } });
  const refused = await workspace.hookmill('automations', 'test', 'typo', '--last', '201');
  expect(refused).toMatchObject({ exitCode: 2 });
  expect(refused.stderr).toContain('--last must be a whole number from 1–200, not "201"');
});

describe('schema automation --observed', () => {
  test('lets an editor complete what the webhook of a trigger received, and accepts the same files', async () => {
    const { stdout } = await workspace.hookmill('schema', 'automation', '--observed');
    expect(stdout).not.toMatch(/plain-|hunter2|ghp_|\u009b/);
    expect(stdout).toContain('red \\u009b31m key');
    workspace.write('automation.schema.json', stdout);
    const editor = await startLanguageServer(workspace.directory);
    const modeline = '# yaml-language-server: $schema=./automation.schema.json\n';
    const start = (selected: string) =>
      `${modeline}prompt: Look.\ntriggers:\n  - provider: webhook\n    event: received\n    filter:\n      webhook_ids: [${selected}]\n      payload:\n`;
    const complete = async (name: string, text: string) => {
      const path = workspace.path(name);
      await editor.open(path, text);
      const lines = text.split('\n');
      return editor.complete(path, { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 });
    };
    expect(await complete('1.yaml', `${start(uid)}        `)).toEqual(
      expect.arrayContaining(['action', 'issue']),
    );
    expect(await complete('2.yaml', `${start(uid)}        issue:\n          `)).toEqual(
      expect.arrayContaining(['level', 'labels']),
    );
    const named = start(uid).replace(`webhook_ids: [${uid}]`, 'webhook: errors');
    expect(await complete('named.yaml', `${named}        `)).toEqual(
      expect.arrayContaining(['action', 'issue']),
    );
    const [beforeName] = named.split('errors');
    expect(await complete('name.yaml', beforeName ?? '')).toEqual(expect.arrayContaining(['errors', 'idle']));
    expect(await complete('3.yaml', `${start(`wh_${'0'.repeat(24)}`)}        `)).not.toContain('issue');
    const free =
      '        action: { not_in: [other] }\n        new: { a: [1] }\n        issue: { exists: true }\n';
    expect(await editor.open(workspace.path('4.yaml'), `${start(uid)}${free}`)).toEqual([]);
    await editor.stop();
  });

  test('refuses other kinds', async () => {
    const { stderr, exitCode } = await workspace.hookmill('schema', 'webhook', '--observed');
    expect(stderr).toContain('--observed works only with automation');
    expect(exitCode).toBe(2);
  });
});

describe('payloads describe', () => {
  test('shows each path with its types, how often it occurs, and values', async () => {
    const { stdout, exitCode } = await workspace.hookmill('payloads', 'describe', 'errors');
    const rows = stdout.split('\n').map(row => row.replaceAll(/ {2,}/g, ' | '));
    expect(rows).toContain('$.action | 20 of 20 | string | only "created", "closed"');
    expect(rows).toContain('$.issue.level | 18 of 20 | string | only "error"');
    expect(rows).toContain('$.issue.labels[*].name | 20 of 20 | string | only "bug", "ci"');
    expect(rows).toContain('$["odd key"] | 20 of 20 | null | only null');
    expect(exitCode).toBe(0);
  });

  test('shows nothing secret, and nothing that a terminal obeys, in any format', async () => {
    for (const format of ['text', 'json', 'json-schema', 'typescript']) {
      const { stdout } = await workspace.hookmill('payloads', 'describe', 'errors', '-o', format);
      expect(stdout).toContain('api_key');
      expect(stdout).not.toMatch(/plain-|hunter2|ghp_|\u009b/);
    }
  });

  test('-o json-schema describes every payload that was observed', async () => {
    const { stdout } = await workspace.hookmill('payloads', 'describe', 'errors', '-o', 'json-schema');
    const schema = JSON.parse(stdout);
    const validate = new Ajv().compile(schema);
    expect(payloads.filter(payload => !validate(payload))).toEqual([]);
    expect(schema).toMatchObject({ title: 'ErrorsPayload', properties: { issue: { required: ['labels'] } } });
    expect(validate({ ...payloads[0], action: 1 })).toBe(false);
  });

  test('-o typescript is a type that the payloads have', async () => {
    const { stdout } = await workspace.hookmill('payloads', 'describe', 'errors', '-o', 'typescript');
    expect(stdout).toContain('export interface ErrorsPayload');
    expect(stdout).toMatch(/level\?: string/);
    const seen = `export const seen: ErrorsPayload[] = ${JSON.stringify(payloads)};`;
    // tsc reports this directive if the next line has no error.
    const unseen = '// @ts-expect-error\nexport const unseen: ErrorsPayload = { action: 1 };';
    workspace.write('payload.ts', `${stdout}\n${seen}\n${unseen}\n`);
    const words = ['--noEmit', '--strict', '--ignoreConfig', workspace.path('payload.ts')];
    const checked = await execa('tsc', words, { preferLocal: true, reject: false });
    expect(checked).toMatchObject({ stdout: '', exitCode: 0 });
  });

  test('says that a webhook without deliveries has none, and suggests the name that was meant', async () => {
    const idle = await workspace.hookmill('payloads', 'describe', 'idle');
    expect(idle).toMatchObject({
      stdout: '',
      stderr: 'No accepted delivery is in the log yet.\n',
      exitCode: 0,
    });
    const unknown = await workspace.hookmill('payloads', 'describe', 'erors');
    expect(unknown.stderr).toContain('did you mean errors?');
    expect(unknown.exitCode).toBe(1);
  });

  test('has formats that other commands refuse', async () => {
    const { stderr, exitCode } = await workspace.hookmill('status', '-o', 'typescript');
    expect(stderr).toContain('-o typescript works only with hookmill payloads describe; use text or json');
    expect(exitCode).toBe(2);
  });
});

test('an ID that seems to repeat is pointed out with the line to add, until a field is named', async () => {
  const workspace = makeWorkspace();
  workspace.write('webhooks/videos.yaml', 'secretName: TOKEN\n');
  await workspace.hookmill('secrets', 'generate', 'TOKEN');
  await workspace.hookmill('apply');
  const { uid } = JSON.parse((await workspace.hookmill('webhooks', 'show', 'videos', '-o', 'json')).stdout);
  const log = await openDeliveryLog(`${workspace.home}/deliveries.db`);
  for (const [attempt, id] of ['evt_1', 'evt_2', 'evt_2', 'evt_3'].entries()) {
    const payload = Buffer.from(JSON.stringify({ id, attempt }));
    await log.recordAccepted(acceptedDelivery({ webhook: 'videos', uid, atMs: Date.now(), payload }));
  }
  await log.close();
  const found = '1 of the last 4 deliveries has the same $.id as an earlier one, and was accepted again';
  const warning = `webhooks/videos.yaml:1:1: warning: ${found} [webhook/identity-repeated]`;
  const observed = await workspace.hookmill('validate', '--observed');
  expect(observed.stdout).toContain(warning);
  expect(observed.stdout).toContain('if $.id is the ID of the event, add deliveryIdField: $.id');
  expect(observed.exitCode).toBe(0);
  expect((await workspace.hookmill('plan')).stderr).toContain(warning);
  const remedy = `${found}. If $.id is the ID of the event, add \`deliveryIdField: $.id\` to the webhook`;
  expect((await workspace.hookmill('webhooks', 'show', 'videos')).stdout).toContain(remedy);
  expect((await workspace.hookmill('why', 'videos')).stdout).toContain(`✗ identity        ${found}`);
  expect((await workspace.hookmill('validate', '--observed', '.')).exitCode).toBe(2);

  workspace.write('webhooks/videos.yaml', 'secretName: TOKEN\ndeliveryIdField: $.id\n');
  const named = await workspace.hookmill('plan');
  expect(named.stderr).not.toContain('identity-repeated');
  expect(named.stdout).toContain(
    'the identity of 4 of the last 4 deliveries changes; 1 of them would have been a duplicate',
  );
});

test('conditions that only exclude elements of a list get a warning with the line to write', async () => {
  const message = '$.issue.labels is a list, and one element that is not excluded is enough to match';
  const commands = [['plan'], ['validate', '--observed'], ['automations', 'test', 'labels', '--last', '3']];
  const printed = async (filter: string) => {
    workspace.write('automations/labels.yaml', automation(uid, filter));
    const results = await Promise.all(commands.map(words => workspace.hookmill(...words)));
    return results.map(({ stdout, stderr }) => stdout + stderr);
  };
  for (const text of await printed('{ issue: { labels: { name: { not_in: [wip] } } } }')) {
    expect(text).toContain(message);
    expect(text).toContain('write labels: { $none: { name: [wip] } }');
  }
  for (const text of await printed('{ issue: { labels: { $none: { name: [wip] } } } }'))
    expect(text).not.toContain('filter/any-element');
  rmSync(workspace.path('automations/labels.yaml'));
});
