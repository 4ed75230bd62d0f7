import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { resolveReferences } from '../../../../store/documents/resolve-references.ts';
import { eventually } from '../../../support/eventually.ts';

const environment = { PATH: process.env.PATH, VALUE: 'of-a-variable', HOOKMILL_KEY: 'the-key' };
const directory = mkdtempSync(join(tmpdir(), 'references-'));
const path = (name: string) => join(directory, name);
const shell = (script: string) => `exec:${JSON.stringify(['sh', '-c', script])}`;

async function resolve(reference: string) {
  return (await resolveReferences([reference], environment))[0];
}

test('reads variables, files and the output of commands, in their order', async () => {
  writeFileSync(path('value'), 'of-a-file\r\n');
  const references = [
    'env:VALUE',
    shell('sleep 0.1; echo of-a-command'),
    `file:${path('value')}`,
    'env:VALUE',
  ];
  expect(await resolveReferences([...references, ...references], environment)).toEqual(
    [1, 2].flatMap(() =>
      ['of-a-variable', 'of-a-command', 'of-a-file', 'of-a-variable'].map(text => ({ text })),
    ),
  );
});

test('gives commands the environment without the variables of hookmill, and a directory that is always there', async () => {
  expect(await resolve(shell('echo "$VALUE in $PWD: $(env | grep -c HOOKMILL)"'))).toEqual({
    text: 'of-a-variable in /: 0',
  });
});

test.for([
  ['env:NONE', 'the variable is not set'],
  [`file:${path('none')}`, 'the file cannot be read (ENOENT)'],
  [`file:${directory}`, 'it is not a file'],
  ['file:/dev/zero', 'it is not a file'],
  ['exec:no-such-program', 'the command could not be started (ENOENT)'],
  [shell('echo half-a-secret; exit 3'), 'the command exited with status 3'],
  [shell('kill -9 $$'), 'the command was killed by SIGKILL'],
  ['exec:yes', 'the command printed more than 8192 bytes'],
  [shell("printf '\\377'"), 'the value is not UTF-8 text'],
  [shell('echo; echo half-a-secret >&2'), 'a team secret cannot be empty'],
] as const)('says why %s has no value, and never what it read', async ([reference, reason]) => {
  const resolved = await resolve(reference);
  expect(resolved).toEqual({ reason, hint: expect.any(String) });
  expect(JSON.stringify(resolved)).not.toContain('half-a-secret');
});

test('does not wait for a pipe, and takes at most 8 KiB of a file', async () => {
  execFileSync('mkfifo', [path('pipe')]);
  expect(await resolve(`file:${path('pipe')}`)).toMatchObject({ reason: 'it is not a file' });
  writeFileSync(path('long'), 'x'.repeat(100_000));
  expect(await resolve(`file:${path('long')}`)).toMatchObject({ reason: /longer than 8192 bytes/ });
});

test('ends a command that takes too long, with the processes that it started', async () => {
  const script = `sleep 1000 & echo $! > ${path('pid')}; wait`;
  expect(await resolve(shell(script))).toMatchObject({ reason: 'the command timed out after 10 s' });
  const pid = Number(execFileSync('cat', [path('pid')], { encoding: 'utf8' }));
  await eventually(() => !isAlive(pid));
});

test('does not wait for a process that a command leaves behind', async () => {
  const script = `sleep 1000 & echo $! > ${path('left')}; echo the-value-of-it`;
  expect(await resolve(shell(script))).toEqual({ text: 'the-value-of-it' });
});

function isAlive(pid: number): boolean {
  try {
    // A process that ended, but that nobody has waited for yet, is a zombie.
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('Z');
  } catch {
    return false;
  }
}
