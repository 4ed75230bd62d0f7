import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../../cli/main.ts';
import { allCommands, parseHookmill } from '../../support/hookmill-command-line.ts';
import { shellInvocations } from '../../support/shell-invocations.ts';

const commands = allCommands(createProgram());

describe.each(commands)('%s --help', (_, command) => {
  const examples = examplesOf(command);

  test('says what the command does, and what each argument and option is', () => {
    // Commander answers an empty text if there is none. Two commands that say the same say too little.
    const alike = commands.filter(([, other]) => other.description() === command.description());
    expect(command.description().split(' ').length).toBeGreaterThan(2);
    expect(alike).toHaveLength(1);
    const undescribed = [...command.registeredArguments, ...command.options].filter(one => !one.description);
    expect(undescribed).toEqual([]);
  });

  test('has two examples that the command line takes', () => {
    const own = examples.filter(({ words }) => !command.parent || words.includes(command.name()));
    expect(own.length).toBeGreaterThanOrEqual(2);
    for (const { words, isOpen } of examples) {
      const problem = parseHookmill(words);
      const missing = isOpen && problem?.code === 'commander.missingArgument';
      expect({ words, problem: missing ? undefined : problem }).toEqual({ words, problem: undefined });
    }
  });
});

test.each(commands)('hookmill help prints what %s --help prints', async (name, { commands }) => {
  const words = name.split(' ').slice(1);
  const help = await printed([...words, '--help']);
  expect(help).toContain(`Usage: ${name} `);
  expect(await printed(['help', ...words])).toBe(help);
  if (commands.length > 0) expect(await printed([...words, 'help'])).toBe(help);
});

/** Runs the words after `hookmill`, which ask for help. */
async function printed(words: readonly string[]): Promise<string> {
  const program = createProgram();
  let text = '';
  for (const [, command] of allCommands(program)) command.configureOutput({ writeOut: out => (text += out) });
  await expect(program.parseAsync(words, { from: 'user' })).rejects.toMatchObject({ exitCode: 0 });
  return text;
}

/** Reads the examples in a command's help. The text after two or more spaces explains an example. */
function examplesOf(command: Command) {
  let help = '';
  command.configureOutput({ writeOut: text => (help += text) }).outputHelp();
  const lines = help.split('\n').filter(line => /^ {2}\S.*\bhookmill\b|^ {2}hookmill\b/.test(line));
  return shellInvocations(lines.map(line => line.trim().split(/ {2,}/)[0]).join('\n'));
}
