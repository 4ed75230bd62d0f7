import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../../cli/main.ts';
import { allCommands, parseHookmill } from '../../support/hookmill-command-line.ts';
import { shellInvocations } from '../../support/shell-invocations.ts';

const root = join(import.meta.dirname, '../../..');
const pages = [
  ...readdirSync(root).filter(file => file.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.md'))
    .map(file => join('docs', file)),
];
const flags = new Set(
  allCommands(createProgram()).flatMap(([, command]) =>
    command.options.flatMap(({ long, short }) => [long, short]),
  ),
);

test('the README has command lines to look at', () => {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  expect(shellInvocations(text.replaceAll(/^\$ /gm, '')).length).toBeGreaterThan(4);
});

describe.each(pages)('%s', page => {
  const text = readFileSync(join(root, page), 'utf8');
  const blocks = [...text.matchAll(/^```(sh|bash|console|yaml)\n(.*?)^```/gms)];
  const spans = [...text.replaceAll(/^```.*?^```/gms, '').matchAll(/`([^`\n]+)`/g)].map(
    ([, span = '']) => span,
  );

  test('its blocks hold command lines that hookmill takes', () => {
    const lines = blocks.map(([, language, block = '']) =>
      language === 'console' ? block.replaceAll(/^(?!\$ ).*$/gm, '') : block,
    );
    for (const { words, isOpen } of lines.flatMap(shellInvocations)) expectTaken(words, isOpen);
  });

  test('its sentences name commands and flags that exist', () => {
    for (const { words } of spans.flatMap(shellInvocations)) expectTaken(words, true);
    const named = spans.flatMap(span => /^--?[a-z][\w-]*/.exec(span)?.[0] ?? []);
    expect(named.filter(flag => !flags.has(flag) && !othersFlags.has(flag))).toEqual([]);
  });
});

/** Commander's own. */
const othersFlags = new Set(['--help', '--version']);

/** Prose may leave arguments out, and may use a placeholder for any command. */
function expectTaken(words: readonly string[], isOpen: boolean): void {
  if (isOpen && (words.length === 0 || words[0] === 'placeholder')) return;
  const problem = parseHookmill(words.filter(word => word !== '…'));
  const isMissing = isOpen && /missing/i.test(problem?.code ?? '');
  expect({ words, problem: isMissing ? undefined : problem }).toEqual({ words, problem: undefined });
}
