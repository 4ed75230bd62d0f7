import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { withoutPrivilege } from '../../support/privilege.ts';
import { makeWorkspace } from '../../support/workspace.ts';

describe('wrong usage ends with status 2 and a hint at --help', () => {
  test.for([
    ['an unknown command', ['aply']],
    ['an unknown subcommand', ['secrets', 'sett']],
    ['help with an unknown command', ['help', 'xyz']],
    ['help with an unknown subcommand', ['help', 'secrets', 'sett']],
    ['help with a subcommand of a command that has none', ['help', 'plan', 'extra']],
    ['an unknown option', ['plan', '--frob']],
    ['a missing argument', ['secrets', 'set']],
    ['an argument too many', ['plan', 'extra']],
    ['a missing value', ['plan', '--factory']],
    ['a value that is not a choice', ['plan', '-o', 'xml']],
    ['a format that is not a choice', ['validate', '--format', 'xml']],
  ] as const)('%s', async ([_, args]) => {
    const { stdout, stderr, exitCode } = await makeWorkspace().hookmill(...args);
    expect(stderr).toMatch(/^error: .*\n/);
    expect(stderr).toContain('(use --help to see arguments and options)');
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
  });

  test.for([
    ['a time-out that is no number', ['plan', '--lock-timeout', '1s'], '"1s" is not a number of seconds'],
    ['a negative time-out', ['plan', '--lock-timeout=-1'], '"-1" is not a number of seconds'],
    ['a factory in upper case', ['plan', '--factory', 'Prod'], '"Prod" cannot name a factory'],
    ['a factory with a way out', ['plan', '--factory', '../x'], '"../x" cannot name a factory'],
    ['a directory that is not there', ['-C', 'nowhere', 'plan'], 'nowhere is not a directory'],
  ] as const)('%s', async ([_, args, message]) => {
    const { stderr, exitCode } = await makeWorkspace().hookmill(...args);
    expect(stderr).toContain(`hookmill: ${message}`);
    expect(exitCode).toBe(2);
  });
});

test.for([
  ['aply', 'apply'],
  ['secrets sett', 'set'],
  ['reconcile suspnd', 'suspend'],
] as const)('help %s says what was probably meant, as the command itself does', async ([words, meant]) => {
  const workspace = makeWorkspace();
  const names = words.split(' ');
  const help = await workspace.hookmill('help', ...names);
  expect(help.stderr).toContain(`error: unknown command '${names.at(-1)}'\n(Did you mean ${meant}?)\n`);
  expect(await workspace.hookmill(...names.slice(0, -1), 'help', ...names.slice(-1))).toEqual(help);
});

test('with --detailed-exitcode, wrong usage ends with 1, because 2 means changes', async () => {
  const workspace = makeWorkspace();
  for (const args of [
    ['plan', '--frob', '--detailed-exitcode'],
    ['plan', '--detailed-exitcode', '--factory', 'Prod'],
    ['-C', 'nowhere', 'plan', '--detailed-exitcode'],
    ['plan', '--detailed-exitcode', '--server', 'http://hooks.example.com'],
    ['status', '--detailed-exitcode', 'extra'],
    ['status', '--detailed-exitcode', '--server', 'http://127.0.0.1:1'],
  ]) {
    const { exitCode, stderr } = await workspace.hookmill(...args);
    expect({ args, exitCode, isTold: stderr !== '' }).toEqual({ args, exitCode: 1, isTold: true });
  }
});

test('no command prints the help, as does --help, which is no mistake', async () => {
  const workspace = makeWorkspace();
  const none = await workspace.hookmill();
  const help = await workspace.hookmill('--help');
  const sub = await workspace.hookmill('secrets', 'set', '--help');
  expect(none).toMatchObject({ stdout: '', exitCode: 2 });
  expect(help).toMatchObject({ stderr: '', exitCode: 0 });
  expect(help.stdout).toContain('Exit status: 0 success, 1 problems found, 2 wrong usage');
  expect(sub.stdout).toContain('hookmill secrets set GITHUB_WEBHOOK < secret.txt');
});

test('global options stand before or after the command', async () => {
  const workspace = makeWorkspace();
  workspace.write('defs/webhooks/a.yaml', 'secretName: 1\n');
  const before = await workspace.hookmill('-C', 'defs', '-o', 'json', 'validate');
  const after = await workspace.hookmill('validate', '-C', 'defs', '-o', 'json');
  expect(JSON.parse(before.stdout).errorCount).toBe(1);
  expect(after).toEqual(before);
});

describe('an error of the file system is one line that names the file', () => {
  const cases: readonly [string, (path: (file: string) => string) => void, readonly string[], string][] = [
    [
      'a home that cannot be written',
      path => mkdirSync(path('.hookmill'), { mode: 0o500 }),
      ['secrets', 'generate', 'X'],
      '.hookmill cannot be written (EACCES); check its permissions',
    ],
    [
      'a home that is a file',
      path => writeFileSync(path('.hookmill'), ''),
      ['webhooks', 'list'],
      '.hookmill/applied/default.json cannot be read (ENOTDIR); a file is in place of its directory',
    ],
    [
      'a directory in place of the applied state',
      path => mkdirSync(path('.hookmill/applied/default.json'), { recursive: true }),
      ['status'],
      '.hookmill/applied/default.json cannot be read (EISDIR); a directory is in its place',
    ],
    [
      'an applied state that is cut off',
      path => {
        mkdirSync(path('.hookmill/applied'), { recursive: true });
        writeFileSync(path('.hookmill/applied/default.json'), '{"formatVersion": 1, ');
      },
      ['webhooks', 'list'],
      '.hookmill/applied/default.json is not valid JSON: it was edited or truncated',
    ],
    [
      'an applied state of a later version',
      path => {
        mkdirSync(path('.hookmill/applied'), { recursive: true });
        writeFileSync(path('.hookmill/applied/default.json'), '{"formatVersion": 99}');
      },
      ['plan'],
      '.hookmill/applied/default.json was written by another version of hookmill; use that version',
    ],
    [
      'a directory in place of the team secrets',
      path => mkdirSync(path('.hookmill/secrets.json'), { recursive: true }),
      ['secrets', 'list'],
      '.hookmill/secrets.json cannot be read (EISDIR); a directory is in its place',
    ],
    [
      'a key that cannot be read',
      path => {
        mkdirSync(path('.hookmill'));
        writeFileSync(path('.hookmill/key'), '', { mode: 0o600 });
        chmodSync(path('.hookmill/key'), 0);
      },
      ['secrets', 'generate', 'X'],
      '.hookmill/key cannot be read (EACCES); check its permissions',
    ],
  ];

  test.for(cases)('%s', async ([_, arrange, args, message]) => {
    const workspace = makeWorkspace();
    arrange(workspace.path);
    // Only permissions need a process of its own.
    const options = message.includes('EACCES') ? { through: withoutPrivilege } : {};
    const { stderr, exitCode } = await workspace.hookmill(...args, options);
    expect(stderr).toBe(`hookmill: ${workspace.path(message)}\n`);
    expect(exitCode).toBe(1);
  });
});
