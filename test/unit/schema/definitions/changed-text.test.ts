import { describe, expect, test } from 'vitest';
import { parseAutomation } from '../../../../schema/definitions/parse-automation.ts';
import { parseWebhook } from '../../../../schema/definitions/parse-webhook.ts';
import type { Diagnostic } from '../../../../schema/diagnostics.ts';

/** Each diagnostic as `line:column code: message`. */
function list({ diagnostics }: { readonly diagnostics: readonly Diagnostic[] }): string[] {
  return diagnostics.map(({ code, range, message }) => {
    return `${range?.start.line}:${range?.start.column} ${code}: ${message}`;
  });
}

const webhook = (text: string) => list(parseWebhook('a', 'webhooks/a.yaml', Buffer.from(text)));

/** The warnings of an automation with this prompt, and this below `filter`, from line 7. */
function automation(prompt: string, filter = ''): string[] {
  const text = `prompt: ${prompt}
triggers:
  - provider: webhook
    event: received
    filter:
      webhook: deploys #the one
${filter}`;
  return list(parseAutomation('a', 'automations/a.yaml', Buffer.from(text)));
}

const lost = (text: string) =>
  `yaml/changed-text: YAML leaves out "${text}", because a # after a blank starts a comment`;

describe('a text that YAML cuts', () => {
  test('is told in a prompt', () => {
    expect(automation('Close issue #12')).toEqual([`1:21 ${lost('#12')}`]);
    expect(automation('Close the\n  issue #12')).toEqual([`2:9 ${lost('#12')}`]);
    expect(automation('#12 is open')[1]).toBe(`1:9 ${lost('#12 is open')}`);
  });

  test('is told in lists of values, patterns, headers and claims', () => {
    const values = '      payload:\n        a:\n          - bug #1\n          - #2\n          - 3 #x\n';
    expect(automation('Do it.', values)).toEqual([
      `9:17 ${lost('#1')}`,
      `10:13 ${lost('#2')}`,
      `11:15 ${lost('#x')}`,
    ]);
    const patterns = '      payload:\n        a: { $not_like: [b* #1\n          ] }\n';
    expect(automation('Do it.', patterns)).toEqual([`8:29 ${lost('#1')}`]);
    expect(automation('Do it.', '      headers:\n        X-A:\n          - b #1\n')).toEqual([
      `9:15 ${lost('#1')}`,
    ]);
    const oidc = 'authMode: oidc\nissuer: github-actions\nclaims:\n  repository:\n    - acme/shop #1\n';
    expect(webhook(oidc)).toEqual([`5:17 ${lost('#1')}`]);
  });

  test('is told beside errors elsewhere', () => {
    expect(automation('Close issue #12', '      x: 1\n')).toEqual([
      '7:7 definition/unknown-key: unknown key "x"',
      `1:21 ${lost('#12')}`,
    ]);
  });
});

test.each([
  ['Close issue # 12', ''],
  ['Close issue  #12', ''],
  ['"Close issue" #12', ''],
  ['|\n  Close issue #12', ''],
  ['Do it.', '      payload:\n        a: [b] #c\n'],
  ['Do it.', '      payload:\n        a:\n          exists: true #c\n'],
  ['Do it.', '      payload:\n        a:\n          - bug # not a feature\n          - "b" #c\n'],
  ['Do it.', '      payload: { n: { $compare: { at_least: 1e3 } }, a: [1.5, -2, 12, true, null] }\n'],
  ['Do it.', 'timeLimit: 10m #default\nconcurrency: 0x10\n'],
])('says nothing of a comment: %j %j', (prompt, filter) => {
  expect(automation(prompt, filter)).toEqual([]);
});

test('says nothing of a comment after a value that could not have its text', () => {
  expect(webhook('authMode: token #default\nsecretName: A #note\nenabled: true #yes\n')).toEqual([]);
});

test.each([
  ['3.10', '3.1'],
  ['01234', '1234'],
  ['0x1F', '31'],
  ['1e3', '1000'],
  ['1.0', '1'],
  ['True', 'true'],
  ['~', 'null'],
])('tells that %s in a list is read as %s', (written, read) => {
  const { diagnostics } = parseAutomation(
    'a',
    'automations/a.yaml',
    Buffer.from(
      `prompt: Do it.\ntriggers: [{ provider: webhook, event: received, filter: { webhook: a, payload: { v: [${written}] } } }]\n`,
    ),
  );
  expect(diagnostics).toMatchObject([
    {
      code: 'yaml/changed-text',
      severity: 'warning',
      message: `YAML reads ${written} as ${read}`,
      hint: `write "${written}" to match the text, or ${read} without quotes`,
    },
  ]);
});
