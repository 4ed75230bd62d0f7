import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { withoutPrivilege } from '../../../../support/privilege.ts';
import { makeWorkspace, type Workspace } from '../../../../support/workspace.ts';

const valid = 'secretName: PAY\n';

describe('its output', () => {
  test('is each mistake with its place, line, carets and hint', async () => {
    const workspace = makeWorkspace();
    workspace.write(
      'webhooks/pay.yaml',
      'authMode: signature\nsignatureScheme: strip\nsecretName: 12\nenabld: true\n',
    );
    const { stdout, stderr, exitCode } = await workspace.hookmill('validate');
    expect(stdout).toBe(`\
webhooks/pay.yaml:2:18: error: unknown signature scheme "strip" [webhook/scheme-unknown]
  2 | signatureScheme: strip
    |                  ^^^^^
  hint: did you mean stripe?
webhooks/pay.yaml:3:13: error: secretName must be a string, not the number 12 [definition/type]
  3 | secretName: 12
    |             ^^
  hint: put it in quotes
webhooks/pay.yaml:4:1: error: unknown key "enabld" [definition/unknown-key]
  4 | enabld: true
    | ^^^^^^
  hint: did you mean enabled?
`);
    expect(stderr).toBe('1 definition: 3 errors, 0 warnings.\n');
    expect(exitCode).toBe(1);
  });

  test('is the same as data with --format json, and with -o json', async () => {
    const workspace = makeWorkspace();
    workspace.write('webhooks/pay.yaml', 'secretName: 12\n');
    workspace.write('webhook/pay.yaml', valid);
    const format = await workspace.hookmill('validate', '--format', 'json');
    const output = await workspace.hookmill('validate', '-o', 'json');
    expect(JSON.parse(format.stdout)).toEqual({
      valid: false,
      errorCount: 1,
      warningCount: 1,
      diagnostics: [
        expect.objectContaining({ file: 'webhook', severity: 'warning' }),
        {
          code: 'definition/type',
          severity: 'error',
          message: 'secretName must be a string, not the number 12',
          file: 'webhooks/pay.yaml',
          range: { start: { line: 1, column: 13 }, end: { line: 1, column: 15 } },
          hint: 'put it in quotes',
        },
      ],
    });
    expect(output).toEqual(format);
    expect(format.exitCode).toBe(1);
  });

  test('is nothing on standard output for valid definitions', async () => {
    const workspace = makeWorkspace();
    workspace.write('webhooks/pay.yaml', valid);
    const result = await workspace.hookmill('validate');
    expect(result).toEqual({ stdout: '', stderr: '1 definition, all valid.\n', exitCode: 0 });
  });

  test('says how definitions are named where there are none', async () => {
    const { stdout, stderr, exitCode } = await makeWorkspace().hookmill('validate');
    expect(stdout).toContain('hint: write webhooks/<name>.yaml');
    expect({ stderr, exitCode }).toEqual({ stderr: '0 definitions: 1 error, 0 warnings.\n', exitCode: 1 });
  });

  test('escapes control characters of values, keys and file names', async () => {
    const workspace = makeWorkspace();
    workspace.write('webhooks/a.yaml', 'secretName: "\\e]0;owned\\a"\n"\\x9b2J\\u202e": 1\n');
    workspace.write('webhooks/new\nline\x1b[31m\u009b.yaml', valid);
    const text = await workspace.hookmill('validate');
    const json = await workspace.hookmill('validate', '--format', 'json');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must not be there
    const control = /[\0-\x09\x0b-\x1f\x7f-\x9f\u202e]/;
    expect(text.stdout).not.toMatch(control);
    expect(text.stdout).toContain('webhooks/new\\x0aline\\x1b[31m\\x9b.yaml');
    expect(json.stdout).not.toMatch(control);
    expect(JSON.parse(json.stdout).diagnostics.map(({ file }: { file: string }) => file)).toContain(
      'webhooks/new\nline\x1b[31m\u009b.yaml',
    );
  });

  test('puts carets under wide, combining and escaped characters', async () => {
    const workspace = makeWorkspace();
    workspace.write('webhooks/a.yaml', 'secretName: A\n支付🎉é\u0301: 1 # 日本\n');
    workspace.write('webhooks/b.yaml', 'secretName: A\n# note\nenabled:\t"x"\n');
    const { stdout } = await workspace.hookmill('validate');
    expect(stdout).toContain('  2 | 支付🎉é\u0301: 1 # 日本\n    | ^^^^^^^\n');
    expect(stdout).toContain('  3 | enabled:\\x09"x"\n    |             ^^^\n');
  });

  test('shows a window of a long line', async () => {
    const workspace = makeWorkspace();
    workspace.write('webhooks/a.yaml', `{secretName: ${'A'.repeat(100)}, enabled: ${'n'.repeat(1_000)}}\n`);
    const { stdout } = await workspace.hookmill('validate');
    const [, line = '', carets = ''] = stdout.split('\n');
    expect(line).toContain('A, enabled: nnn');
    expect(line.length).toBeLessThan(130);
    expect(carets.indexOf('^')).toBe(line.indexOf('nnn'));
    expect(carets.length).toBe(line.length);
  });

  test('has colours only where they are wanted', async () => {
    const workspace = makeWorkspace();
    workspace.write('webhooks/a.yaml', 'secretName: 1\n');
    const plain = await workspace.hookmill('validate');
    const coloured = await workspace.hookmill('validate', { env: { NO_COLOR: '', FORCE_COLOR: '1' } });
    expect(plain.stdout).not.toContain('\x1b');
    expect(coloured.stdout).toContain('\x1b[31merror');
  });
});

describe('files that are no definitions', () => {
  /** Returns the diagnostic about the file, as `severity code`. */
  async function verdict(workspace: Workspace, file: string): Promise<string | undefined> {
    const { stdout } = await workspace.hookmill('validate', '--format', 'json');
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: Record<string, string>[] };
    const found = diagnostics.find(diagnostic => diagnostic.file === file);
    return found && `${found.severity} ${found.code}`;
  }

  test.for([
    ['webhooks/pay.yml', 'error definition/file-name'],
    ['webhooks/pay.YAML', 'error definition/file-name'],
    ['webhooks/Pay.yaml', 'error definition/file-name'],
    ['webhooks/-pay.yaml', 'error definition/file-name'],
    ['webhooks/pay_in.yaml', 'error definition/file-name'],
    [`webhooks/${'a'.repeat(64)}.yaml`, 'error definition/file-name'],
    ['webhooks/.yaml', 'error definition/file-name'],
    ['webhooks/.pay.yaml.swp', undefined],
    ['webhooks/pay.yaml.orig', 'error definition/file-name'],
    ['webhooks/payments/pay.yaml', undefined],
    [`webhooks/${'a'.repeat(63)}.yaml`, undefined],
  ] as const)('by their name: %s gets %s', async ([file, expected]) => {
    const workspace = makeWorkspace();
    workspace.write(file, valid);
    expect(await verdict(workspace, file)).toBe(expected);
  });

  test('by their kind are errors, and nothing is waited for or followed', async () => {
    const workspace = makeWorkspace();
    workspace.write('elsewhere.yaml', valid);
    workspace.write('webhooks/folder.yaml/pay.yaml', valid);
    symlinkSync('../elsewhere.yaml', workspace.path('webhooks/link.yaml'));
    symlinkSync('nowhere', workspace.path('webhooks/dangling.yaml'));
    symlinkSync('loop.yaml', workspace.path('webhooks/loop.yaml'));
    symlinkSync('/dev/zero', workspace.path('webhooks/device.yaml'));
    execFileSync('mkfifo', [workspace.path('webhooks/fifo.yaml')]);
    const { stdout, exitCode } = await workspace.hookmill('validate');
    const names = ['dangling.yaml', 'device.yaml', 'fifo.yaml', 'folder.yaml', 'link.yaml', 'loop.yaml'];
    expect(stdout.split('\n').filter(line => line.startsWith('webhooks/'))).toEqual(
      names.map(
        name => `webhooks/${name}: error: a definition must be a regular file [definition/not-regular-file]`,
      ),
    );
    expect(exitCode).toBe(1);
  });

  test('and cannot be read are errors: by permission, or in place of their folder', async () => {
    const workspace = makeWorkspace();
    workspace.write('webhooks/secret.yaml', valid);
    chmodSync(workspace.path('webhooks/secret.yaml'), 0);
    workspace.write('automations', 'a file');
    const { stdout, exitCode } = await workspace.hookmill('validate', { through: withoutPrivilege });
    expect(stdout).toContain('webhooks/secret.yaml: error: the file cannot be read (EACCES)');
    expect(stdout).toContain('automations: error: automations must be a folder [yaml/unreadable]');
    expect(exitCode).toBe(1);
  });
});

describe('which files', () => {
  test('are those at the paths, named as they were given', async () => {
    const workspace = makeWorkspace();
    workspace.write('teams/pay/webhooks/a.yaml', 'secretName: 1\n');
    workspace.write('teams/host/webhooks/a.yaml', 'secretName: 2\n');
    workspace.write('webhooks/c.yaml', 'secretName: 3\n');
    const args = ['./teams/pay/', 'teams/host', 'webhooks/c.yaml', workspace.path('webhooks/c.yaml')];
    const { stdout } = await workspace.hookmill('validate', ...args);
    expect(stdout.match(/^\S+(?=:\d+:\d+: error)/gm)).toEqual([
      'teams/host/webhooks/a.yaml',
      'teams/pay/webhooks/a.yaml',
      'webhooks/c.yaml',
    ]);
  });

  test.for<[string, string | undefined, string | undefined, string | undefined]>([
    ['of the same name', 'shop', 'shop', 'shop'],
    ['without a name, which are both default', undefined, undefined, 'default'],
    ['of which one has the name that the other gets', 'default', undefined, 'default'],
    ['of different names', 'shop', 'pay', undefined],
    ['of which one has a name', 'shop', undefined, undefined],
  ])('cannot be those of two factories %s', async ([_, first, second, shared]) => {
    const workspace = makeWorkspace();
    for (const [directory, factory] of [
      ['teams/a', first],
      ['teams/b', second],
    ] as const) {
      workspace.write(`${directory}/webhooks/a.yaml`, valid);
      if (factory !== undefined) workspace.write(`${directory}/hookmill.yaml`, `factory: ${factory}\n`);
    }
    const { stdout, exitCode } = await workspace.hookmill('validate', 'teams/a', 'teams/b', 'teams/b/');
    expect(exitCode).toBe(shared === undefined ? 0 : 1);
    const said = (one: string, other: string) =>
      `teams/${one}/hookmill.yaml: error: teams/${other} is the factory ${shared} too: an apply of one destroys what the other defines [factory/duplicate]\n  hint: write \`factory: NAME\` in one hookmill.yaml, with another name\n`;
    expect(stdout).toBe(shared === undefined ? '' : said('a', 'b') + said('b', 'a'));
  });

  test('may lie behind a link to a definitions directory', async () => {
    const workspace = makeWorkspace();
    workspace.write('releases/1/webhooks/a.yaml', valid);
    symlinkSync('releases/1', workspace.path('current'));
    const { stderr } = await workspace.hookmill('validate', 'current');
    expect(stderr).toBe('1 definition, all valid.\n');
  });

  test('include hookmill.yaml of a definitions directory', async () => {
    const workspace = makeWorkspace();
    workspace.write('team/webhooks/a.yaml', valid);
    workspace.write('team/hookmill.yaml', 'factory: Prod\n');
    mkdirSync(workspace.path('hookmill.yaml'));
    const named = await workspace.hookmill('validate', 'team');
    const here = await workspace.hookmill('validate');
    expect(named.stdout).toContain('team/hookmill.yaml:1:10: error: factory cannot be "Prod"');
    expect(named.exitCode).toBe(1);
    expect(here.stdout).toContain('hookmill.yaml: error: hookmill.yaml must be a regular file');
  });

  test.for([
    ['a path that is not there', ['nowhere'], 'nowhere: no such file or directory'],
    ['the folder of the definitions', ['webhooks'], 'webhooks: neither a definition file nor'],
    ['a file of another folder', ['other.yaml'], 'other.yaml: neither a definition file nor'],
    ['a directory that is not there', ['-C', 'nowhere'], 'nowhere is not a directory'],
    ['a file for a directory', ['-C', 'other.yaml'], 'other.yaml is not a directory'],
  ] as const)('cannot be %s: wrong usage', async ([_, args, message]) => {
    const workspace = makeWorkspace();
    workspace.write('webhooks/a.yaml', valid);
    workspace.write('other.yaml', valid);
    const { stderr, exitCode } = await workspace.hookmill('validate', ...args);
    expect(stderr).toContain(`hookmill: ${message}`);
    expect(exitCode).toBe(2);
  });

  test('are read to their end, up to 64 KiB', async () => {
    const workspace = makeWorkspace();
    workspace.write('webhooks/largest.yaml', `${valid}#${'x'.repeat(65_536 - valid.length - 1)}`);
    workspace.write('webhooks/larger.yaml', `${valid}#${'x'.repeat(65_536 - valid.length)}`);
    workspace.write('webhooks/mistake-at-the-end.yaml', `${valid}#${'x'.repeat(60_000)}\nenabld: true`);
    const { stdout } = await workspace.hookmill('validate');
    expect(stdout.match(/^webhooks.*$/gm)).toEqual([
      'webhooks/larger.yaml: error: the file is too large for a definition (64 KiB at most) [yaml/too-large]',
      'webhooks/mistake-at-the-end.yaml:3:1: error: unknown key "enabld" [definition/unknown-key]',
    ]);
  });

  test('are at most 20 webhooks of one factory', async () => {
    const workspace = makeWorkspace();
    for (let i = 10; i < 30; i++) workspace.write(`webhooks/w${i}.yaml`, valid);
    const twenty = await workspace.hookmill('validate');
    workspace.write('webhooks/w30.yaml', valid);
    const more = await workspace.hookmill('validate');
    expect(twenty.exitCode).toBe(0);
    expect(more.stdout).toContain(
      'webhooks/w30.yaml: error: webhook limit exceeded: 21 webhooks, at most 20 per factory',
    );
    expect(more.exitCode).toBe(1);
  });
});

describe('a hostile environment', () => {
  function manyMistakes(): Workspace {
    const workspace = makeWorkspace();
    const text = Array.from({ length: 49 }, (_, i) => `k${i}: 1`).join('\n');
    for (let i = 0; i < 100; i++) workspace.write(`automations/a${i}.yaml`, `prompt: p\n${text}`);
    return workspace;
  }

  test('a reader that goes away changes nothing of the exit status', async () => {
    const workspace = manyMistakes();
    const running = workspace.start(['validate']);
    running.stdout?.once('data', () => running.stdout?.destroy());
    const { exitCode, stderr } = await running;
    expect(exitCode).toBe(1);
    expect(stderr).toBe('100 definitions: 5000 errors, 0 warnings.\n');
  });

  test('output that cannot be written is one line, not a stack trace', async () => {
    const workspace = manyMistakes();
    const through = ['sh', '-c', 'exec "$0" "$@" > /dev/full'];
    const { stderr, exitCode } = await workspace.hookmill('validate', { through });
    expect(stderr).toMatch(/^hookmill: the output cannot be written \(ENOSPC\)$/m);
    expect(stderr).not.toContain('    at ');
    expect(exitCode).toBe(3);
  });

  test('variables at which the parser of YAML prints its tokens print nothing', async () => {
    const workspace = makeWorkspace();
    workspace.write('webhooks/pay.yaml', valid);
    const through = ['env', 'LOG_STREAM=1', 'LOG_TOKENS=1'];
    expect((await workspace.hookmill('validate', { through })).stdout).toBe('');
  });

  test('says that the current directory no longer exists', async () => {
    const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"';
    const { stderr, exitCode } = await makeWorkspace().hookmill('validate', {
      through: ['sh', '-c', script],
    });
    expect(stderr).toBe('hookmill: the current directory no longer exists\n');
    expect(exitCode).toBe(2);
  });
});
