import { describe, expect, test } from 'vitest';
import { renderDiagnostics } from '../../../cli/render/render-diagnostics.ts';
import type { DiagnosticCode } from '../../../schema/diagnostics.ts';
import { printableJson, printableText } from '../../../schema/text/printable.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const clipboard = '\u001b]52;c;cm0gLXJmIH4=\u0007';

describe('printed text', () => {
  test.each([
    ['a sequence that sets the clipboard', clipboard, '\\x1b]52;c;cm0gLXJmIH4=\\x07'],
    ['a sequence that hides text', '\u001b[8mhidden', '\\x1b[8mhidden'],
    ['a control character of 8 bits', '\u009b2J', '\\x9b2J'],
    ['a return that overwrites the line', 'a\rb', 'a\\x0db'],
    ['a change of direction', 'a\u202eb\u2066c\u061c', 'a\\u202eb\\u2066c\\u061c'],
    ['a joiner outside an emoji', 'a\u200db 👩\u200db 👩\u200d👧', 'a\\u200db 👩\\u200db 👩\u200d👧'],
    ['a character without width', 'a\u200bb\u2060c\ufeff', 'a\\u200bb\\u2060c\\ufeff'],
    ['text that only a machine reads', 'a\u{e0062}', 'a\\u{e0062}'],
    ['a separator of lines', 'a\u2028b', 'a\\u2028b'],
    ['a command of GitHub', 'a\n  ::set-env name=PATH::x', 'a\n  \\x3a:set-env name=PATH::x'],
    ['a command of GitHub and Azure', 'say ##[error]x', 'say \\x23#[error]x'],
    ['a command of Azure', '##vso[task.setvariable]x', '\\x23#vso[task.setvariable]x'],
    ['a command of TeamCity', '##teamcity[x]', '\\x23#teamcity[x]'],
  ])('has %s escaped', (_, text, escaped) => {
    expect(printableText(text)).toBe(escaped);
  });

  test('keeps lines, colours, and what only looks like a command', () => {
    const text = '\u001b[1mbold\u001b[22m \u001b[31mred\u001b[39m\n## a heading [1]\n::: note\na::b::c 😀\n';
    expect(printableText(text)).toBe(text);
  });

  test('as JSON has the same value, and no command in it', () => {
    const value = { prompt: `##[error] ${clipboard} \u202e \u{e0062}` };
    const json = printableJson(value);
    expect(json).not.toContain('##[');
    expect(JSON.parse(json)).toEqual(value);
  });
});

test('the code of a diagnostic, which a server may have sent, is escaped like its message', () => {
  const code = `secret/x${clipboard}\n::error::x` as DiagnosticCode;
  const text = renderDiagnostics([{ code, severity: 'error', message: 'm', file: 'f' }], new Map());
  expect(text).toContain('[secret/x\\x1b]52;c;cm0gLXJmIH4=\\x07\\x0a::error::x]');
});

test.each([
  ['an unknown option', ['validate', '--x%']],
  ['an unknown command', ['x%']],
  ['an unknown subcommand', ['deliveries', 'x%']],
  ['an argument too many', ['status', 'x%']],
  ['a value that is none of the choices', ['validate', '-o', 'x%']],
  ['a value that is no number', ['deliveries', 'list', '--limit', 'x%']],
])('a message of wrong usage quotes %s, and nothing in it is obeyed', async (_, args) => {
  const text = `${clipboard}\u001b[31m\u202e\n::error::x##[group]`;
  const { exitCode, stdout, stderr } = await makeWorkspace().hookmill(
    ...args.map(arg => arg.replace('%', text)),
  );
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain('x\\x1b]52;c;cm0gLXJmIH4=\\x07\\x1b[31m\\u202e');
  for (const obeyed of ['\u001b', '\u202e', '##[', '\n::']) expect(stderr).not.toContain(obeyed);
});

test('automations show and plan print a prompt with its lines, and nothing in it is obeyed', async () => {
  const workspace = makeWorkspace();
  workspace.write('webhooks/a.yaml', 'secretName: TOKEN\n');
  await workspace.hookmill('secrets', 'generate', 'TOKEN');
  const { stdout } = await workspace.hookmill('apply', '-o', 'json');
  const [{ uid }] = JSON.parse(stdout).changes;
  const prompt = `First.\n::add-mask::x\n##[group]y${clipboard}\n\u202eLast.`;
  const triggers = [{ provider: 'webhook', event: 'received', filter: { webhook_ids: [uid] } }];
  workspace.write(
    'automations/act.yaml',
    JSON.stringify({ prompt, triggers }).replaceAll('\u202e', '\\u202e'),
  );
  const planned = await workspace.hookmill('plan');
  await workspace.hookmill('apply');
  const shown = await workspace.hookmill('automations', 'show', 'act');
  expect(shown.stdout).toContain('  First.\n  \\x3a:add-mask::x\n  \\x23#[group]y\\x1b]52;');
  for (const { stdout, stderr } of [planned, shown]) {
    for (const obeyed of ['\u001b', '\u202e', '##[', '\n  ::']) expect(stdout + stderr).not.toContain(obeyed);
  }
});
