import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { complete } from '../../../../cli/completion/complete.ts';
import { type Shell, shells } from '../../../../cli/completion/completion-scripts.ts';
import { createProgram } from '../../../../cli/main.ts';
import { schemeIds } from '../../../../signatures/schemes.ts';
import { openDeliveryLog } from '../../../../store/embedded/delivery-log/write/open-delivery-log.ts';
import { homeAt } from '../../../../store/home/home.ts';
import { acceptedDelivery } from '../../../support/deliveries.ts';
import { allCommands } from '../../../support/hookmill-command-line.ts';
import { makeWorkspace, type Workspace } from '../../../support/workspace.ts';

const bin = join(import.meta.dirname, '../../../../cli/bin.js');
let workspace: Workspace;

/** Applied: orders, and the automation triage. In the definitions directory besides: deploys. */
beforeAll(async () => {
  workspace = makeWorkspace();
  workspace.write('webhooks/orders.yaml', 'secretName: ORDERS_TOKEN\n');
  await workspace.hookmill('secrets', 'generate', 'ORDERS_TOKEN', '--factory', 'shop');
  await workspace.hookmill('apply', '--factory', 'shop');
  workspace.write('hookmill.yaml', 'factory: shop\n');
  workspace.write('webhooks/deploys.yaml', 'not: even valid\n');
  workspace.write('automations/triage.yaml', '');
  mkdirSync(workspace.path('payloads'));
  workspace.write('payloads/event.json', '{}');
});

async function candidates(...words: string[]): Promise<readonly string[]> {
  const { stdout, stderr, exitCode } = await workspace.hookmill('__complete', '--', ...words);
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  return stdout
    .trimEnd()
    .split('\n')
    .map(line => line.split('\t')[0] ?? '');
}

describe('every command can be written with the tab key', () => {
  const program = createProgram();
  test.each(allCommands(program).map(([name, command]) => [name.split(' ').slice(1), command] as const))(
    '%j',
    (words, command) => {
      const parent = words.slice(0, -1);
      const offered = complete(program, [...parent, '']).candidates.map(({ value }) => value);
      if (words.length > 0) expect(offered).toContain(words.at(-1));
      const flags = complete(program, [...words, '-']).candidates.map(({ value }) => value);
      const inHelp = command.helpInformation().matchAll(/^ {2}(-\S+?)(?:, (-\S+))?(?: |$)/gm);
      expect(flags).toEqual([...inHelp].flatMap(([, ...names]) => names.filter(name => name !== undefined)));
      expect(flags).toContain('--lock-timeout');
    },
  );
});

test.each<[string, string[], string[]]>([
  ['choices of an option', ['secrets', 'generate', 'X', '--format', ''], ['token', 'whsec']],
  ['choices of an option written with =', ['plan', '--output=m'], ['--output=markdown']],
  ['choices of a global option before the command', ['-o', 'j'], ['json', 'json-schema']],
  ['choices of an argument', ['completion', 'z'], ['zsh']],
  ['another name of an option', ['send', '--i'], ['--id-token-env', '--id']],
  ['the command to help with', ['help', 'secrets', 'gen'], ['generate']],
  ['webhooks, applied or defined', ['webhooks', 'show', ''], ['deploys', 'orders']],
  ['webhooks, begun', ['send', 'o'], ['orders']],
  ['webhooks after =', ['deliveries', 'list', '--webhook=d'], ['--webhook=deploys']],
  ['automations', ['automations', 'test', ''], ['triage']],
  ['team secrets', ['secrets', 'set', ''], ['ORDERS_TOKEN']],
  [
    'outcomes',
    ['deliveries', 'list', '--outcome', 'Rej'],
    ['Rejected (auth)', 'Rejected (invalid JSON)', 'Rejected (too large)'],
  ],
  ['states of runs', ['runs', 'list', '--state', 'f'], ['failed']],
  ['factories', ['deliveries', 'list', '--factory', ''], ['shop']],
  ['nothing after the last argument', ['webhooks', 'show', 'orders', ''], ['']],
  ['files', ['apply', ''], [':files']],
  ['directories', ['-C', ''], [':directories']],
  ['homes to copy', ['store', 'copy', '--to', ''], [':directories']],
])('completes %s', async (_, words, expected) => {
  expect(await candidates(...words)).toEqual(expected);
});

test('completes deliveries and runs with what they are', async () => {
  const log = await openDeliveryLog(homeAt(workspace.home).deliveryLogFile);
  const logged = { id: 'dlv_a', factory: 'shop', webhook: 'orders', atMs: 0 };
  await log.recordAccepted(acceptedDelivery({ ...logged, runs: [{ id: 'run_a', automation: 'triage' }] }));
  await log.close();
  const complete = async (...words: string[]) =>
    (await workspace.hookmill('__complete', '--', ...words)).stdout;
  const delivery = 'dlv_a\tAccepted, orders, 1970-01-01T00:00:00.000Z\n';
  expect(await complete('deliveries', 'show', '')).toBe(delivery);
  expect(await complete('deliveries', 'replay', 'dlv')).toBe(delivery);
  expect(await complete('automations', 'test', 'triage', '--delivery', '')).toBe(delivery);
  expect(await complete('runs', 'show', '')).toMatch(/^run_a\tqueued, triage, /);
});

test('completes schemes, and with them the modes that need none', async () => {
  expect(await candidates('add', '')).toEqual(['token', 'url_token', ...schemeIds]);
});

test('looks where the words and the environment say', async () => {
  const elsewhere = makeWorkspace();
  const ask = async (...words: string[]) => (await elsewhere.hookmill('__complete', '--', ...words)).stdout;
  expect(await ask('webhooks', 'show', '')).toBe('');
  expect(await ask('-C', workspace.directory, 'webhooks', 'show', '')).toBe('deploys\norders\n');
  expect(await ask('webhooks', 'show', '--home', workspace.home, '--factory=shop', '')).toBe('orders\n');
});

test('says nothing of files that it cannot read', async () => {
  const broken = makeWorkspace();
  broken.write('.hookmill/applied/default.json', '{"webhooks": [1, {"name": 2}, nul');
  broken.write('webhooks', 'no folder');
  const answer = await broken.hookmill('__complete', '--', 'webhooks', 'show', '');
  expect(answer).toEqual({ stdout: '', stderr: '', exitCode: 0 });
});

test('help does not show the hidden command that the scripts call', async () => {
  expect((await workspace.hookmill('--help')).stdout).not.toContain('__complete');
});

/** Asks the shell itself what Tab would insert or list. */
const completers: Readonly<
  Record<Shell, (line: string) => { command: string; args: string[]; stdin: string }>
> = {
  bash: line => ({
    command: 'bash',
    args: ['--norc', '--noprofile', '-s'],
    stdin: `eval "$(hookmill completion bash)"
COMP_LINE='${line}' COMP_POINT=${line.length}
COMP_WORDS=(${line.replaceAll('=', ' = ')}${line.endsWith(' ') ? ' ""' : ''})
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
compopt() { echo "compopt $*"; }
$(complete -p hookmill | sed 's/.*-F \\([^ ]*\\).*/\\1/') hookmill
((\${#COMPREPLY[@]})) && printf '%s\\n' "\${COMPREPLY[@]}"
`,
  }),
  // Line editing takes a terminal: zsh gives another zsh one. The marks are joined there, so that no echo has them.
  zsh: line => ({
    command: 'zsh',
    args: ['-f', '-s'],
    stdin: `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'autoload -Uz compinit; compinit -u; source <(hookmill completion zsh)'
zpty -w shell 'show() { zle expand-or-complete; print -r -- "<""<$BUFFER>"">" }; zle -N show; bindkey "^I" show'
zpty -w -n shell $'${line}\\t'
zpty -r shell text '*<<*>>*'
print -r -- "\${text##*<<}"
zpty -d shell
`,
  }),
  fish: line => ({
    command: 'fish',
    args: ['--no-config', '-c', `hookmill completion fish | source; complete -C '${line}'`],
    stdin: '',
  }),
};

describe.each(shells)('in %s', shell => {
  const installed = spawnSync(shell, ['--version']).error === undefined;
  const tested = installed ? test : test.skip;
  if (!installed) console.warn(`${shell} is not installed: its completion is not tested here`);

  beforeAll(async () => {
    const { write, path, hookmill } = workspace;
    write(`bin/${shell}-script`, (await hookmill('completion', shell)).stdout);
    // The script is the same for all lines: a process prints it only once.
    const answer = `[ "$1" = completion ] && exec cat "${path(`bin/${shell}-script`)}"`;
    write('bin/hookmill', `#!/bin/sh\n${answer}\nexec "${process.execPath}" "${bin}" "$@"\n`);
    chmodSync(path('bin/hookmill'), 0o755);
  });

  function tab(line: string): string {
    const { command, args, stdin } = completers[shell](line);
    const PATH = `${workspace.path('bin')}:${process.env.PATH}`;
    const { NODE_COMPILE_CACHE } = process.env;
    const env = { PATH, HOME: workspace.directory, TERM: 'dumb', NODE_COMPILE_CACHE };
    return execFileSync(command, args, { cwd: workspace.directory, env, input: stdin, encoding: 'utf8' });
  }

  tested.each([
    ['a subcommand', 'hookmill secrets gen', 'generate'],
    ['the value of an option written with =', 'hookmill plan --output=mark', 'markdown'],
    ['a webhook', 'hookmill webhooks show or', 'orders'],
  ])('Tab completes %s', (_, line, expected) => {
    expect(tab(line)).toContain(expected);
  });
});
