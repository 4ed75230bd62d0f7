import { expect, test } from 'vitest';
import { renderAutomationYaml } from '../../../../schema/definitions/definition-yaml.ts';
import { parseAutomation } from '../../../../schema/definitions/parse-automation.ts';

const uid = 'wh_0123456789abcdefghijklmn';

function parse(text: string) {
  return parseAutomation('triage', 'automations/triage.yaml', Buffer.from(text));
}

function problems(text: string): string[] {
  return parse(text).diagnostics.map(
    ({ code, range }) => `${range?.start.line}:${range?.start.column} ${code}`,
  );
}

function withFilter(filter: string): string {
  return `prompt: Triage.\ntriggers:\n  - provider: webhook\n    event: received\n    filter: ${filter}\n`;
}

test('reads prompt, triggers and payload filter', () => {
  const filter = `{webhook_ids: [${uid}], payload: {action: [opened], issue: {muted: {exists: false}}}}`;
  expect(parse(withFilter(filter)).definition).toEqual({
    name: 'triage',
    enabled: true,
    prompt: 'Triage.',
    triggers: [
      {
        provider: 'webhook',
        event: 'received',
        filter: { webhook_ids: [uid], payload: { action: ['opened'], issue: { muted: { exists: false } } } },
      },
    ],
  });
});

test.for([
  ['no webhook', '{webhook_ids: []}', ['5:27 automation/webhook-id']],
  ['two webhooks', `{webhook_ids: [${uid}, ${uid}]}`, ['5:27 automation/webhook-id']],
  ['a file name for a UID', '{webhook_ids: [pay]}', ['5:28 automation/webhook-id']],
  ['a UID in upper case', `{webhook_ids: [${uid.toUpperCase()}]}`, ['5:28 automation/webhook-id']],
  ['a bare UID', `{webhook_ids: ${uid}}`, ['5:27 definition/type']],
  ['neither a name nor a UID', '{}', ['5:13 automation/webhook-id']],
  ['a name and a UID', `{webhook: pay, webhook_ids: [${uid}]}`, ['5:28 automation/webhook-id']],
  ['a UID for a name', `{webhook: ${uid}}`, ['5:23 automation/webhook-id']],
  ['a file for a name', '{webhook: webhooks/pay.yaml}', ['5:23 automation/webhook-id']],
  ['a list of names', '{webhook: [pay]}', ['5:23 definition/type']],
  ['a bare value in the payload filter', `{webhook_ids: [${uid}], payload: {a: 1}}`, ['5:71 filter/invalid']],
  ['an unknown key', `{webhook_ids: [${uid}], payloads: {}}`, ['5:58 definition/unknown-key']],
] as const)('reports %s where it stands', ([_, filter, expected]) => {
  expect(problems(withFilter(filter))).toEqual(expected);
});

test.for([
  ['{webhook_ids: [pay]}', 'write webhook: pay to select a webhook by its name'],
  ['{webhook_ids: [webhooks/pay.yaml]}', 'write webhook: pay to select a webhook by its name'],
  ['{webhook: webhooks/pay.yaml}', 'write webhook: pay'],
  [`{webhook: "${uid.toUpperCase()}"}`, `write webhook_ids: [${uid}]`],
  ['{webhook: Pay Pal}', 'use 1–63 lowercase letters'],
] as const)('says how to select the webhook instead of by %s', ([filter, hint]) => {
  expect(parse(withFilter(filter)).diagnostics[0]?.hint).toContain(hint);
});

test('reads a trigger that names its webhook, and writes it again', () => {
  const { definition } = parse(withFilter('{webhook: pay, payload: {action: [opened]}}'));
  expect(definition?.triggers[0]?.filter).toEqual({
    webhook: 'pay',
    webhook_ids: [],
    payload: { action: ['opened'] },
  });
  if (!definition) throw new Error('nothing was read');
  expect(parse(renderAutomationYaml(definition, [])).definition).toEqual(definition);
});

test('writes a UID as the name of its webhook, unless that is unknown', () => {
  const { definition } = parse(withFilter(`{webhook_ids: [${uid}]}`));
  if (!definition) throw new Error('nothing was read');
  expect(renderAutomationYaml(definition, [{ name: 'pay', uid }])).toContain('webhook: pay\n');
  expect(renderAutomationYaml(definition, [{ name: 'pay', uid: 'wh_other' }])).toContain(`- ${uid}\n`);
});

test.for([
  ['an empty prompt', 'prompt: "  "\ntriggers: []\n', ['1:9 definition/value', '2:11 definition/value']],
  [
    'a prompt over 32 KiB',
    `prompt: ${'é'.repeat(16_385)}\ntriggers: []\n`,
    ['1:9 definition/value', '2:11 definition/value'],
  ],
  ['no keys at all', '{}', ['1:1 definition/missing-key', '1:1 definition/missing-key']],
  [
    'another provider',
    'prompt: x\ntriggers: [{provider: webhok, event: sent, filter: {}}]',
    ['2:23 definition/value', '2:38 definition/value', '2:52 automation/webhook-id'],
  ],
] as const)('reports %s', ([_, text, expected]) => {
  expect(problems(text)).toEqual(expected);
});

test('reports a path that is too long, without looking for the one that was meant', () => {
  const flow = `order: "$${'.a'.repeat(300)}"\nrunsPerHour: 1\n`;
  const { diagnostics } = parse(withFilter(`{webhook_ids: [${uid}]}`) + flow);
  expect(diagnostics).toMatchObject([
    { message: 'the path of a field is too long', hint: 'write at most 500 characters' },
  ]);
});

test('reads how runs flow and are executed, and writes it again', () => {
  const control =
    'timeLimit: 10m\nattempts: 2\nbackOff: {first: 30s, max: 1h}\nconcurrency: 1\nconcurrencyKey: $.repository["full name"]\norder: $.issue.id\nonFailure: hold\ndebounce: {for: 30s, key: "$.items[0]", atMost: 5m}\nrunsPerHour: 20\n';
  const { definition } = parse(withFilter(`{webhook_ids: [${uid}]}`) + control);
  const expected = {
    ...{ timeLimit: '10m', attempts: 2, backOff: { first: '30s', max: '1h' } },
    ...{
      concurrency: 1,
      concurrencyKey: '$.repository["full name"]',
      order: '$.issue.id',
      onFailure: 'hold',
    },
    ...{ debounce: { for: '30s', key: '$.items[0]', atMost: '5m' }, runsPerHour: 20 },
  };
  expect(definition).toMatchObject(expected);
  if (!definition) throw new Error('nothing was read');
  expect(parse(renderAutomationYaml(definition, [])).definition).toEqual(definition);
});

test.for([
  ['timeLimit: 2d', '6:12 definition/value'],
  ['timeLimit: 10', '6:12 definition/type'],
  ['timeLimit: 25h', '6:12 definition/value'],
  ['attempts: 0', '6:11 definition/value'],
  ['attempts: 101', '6:11 definition/value'],
  ['backOff: {first: 1ms}', '6:18 definition/value'],
  ['backOff: {seconds: 1}', '6:11 definition/unknown-key'],
  ['concurrency: 0', '6:14 definition/value'],
  ['concurrencyKey: $.id', '6:1 definition/missing-key'],
  ['order: issue.id', '6:8 definition/value'],
  ['onFailure: hold', '6:1 definition/missing-key'],
  ['onlyLatest: true', '6:1 definition/missing-key'],
  ['order: $.id\ncancelRunning: true', '7:1 definition/missing-key'],
  ['order: $.id\nonlyLatest: true\nonFailure: hold', '8:12 definition/value'],
  ['order: $.id\nonFailure: stop', '7:12 definition/value'],
  ['debounce: {key: $.id}', '6:1 definition/missing-key'],
  ['debounce: {for: 1m, atMost: 30s}', '6:29 definition/value'],
  ['backOff: {first: 5m, max: 30s}', '6:27 definition/value'],
  ['concurrency: 99999999999999999999', '6:14 definition/value'],
  ['runsPerHour: 0', '6:14 definition/value'],
])('reports %s', ([control, expected]) => {
  expect(problems(`${withFilter(`{webhook_ids: [${uid}]}`)}${control}\n`)).toEqual([expected]);
});

test.for(['timeLimit: 600', 'debounce: {for: 30}', 'order: 7'])('shows how to write %s', control => {
  const { diagnostics } = parse(`${withFilter(`{webhook_ids: [${uid}]}`)}${control}\n`);
  expect(diagnostics[0]?.hint).toMatch(/^write it as in (30s|\$\.issue\.id)$/);
});

test('keeps a filter as JSON would, so that an unchanged file is no change', () => {
  const filter = `{webhook_ids: [${uid}], payload: {a: [-0, 1.10, 0x10, null, "é"], __proto__: [1]}}`;
  const { definition } = parse(withFilter(filter));
  expect(definition).toBeDefined();
  expect(JSON.parse(JSON.stringify(definition))).toStrictEqual(definition);
});
