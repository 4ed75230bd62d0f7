import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createFile, replaceFile, sweepTemporaries } from '../../../../store/home/durable-file.ts';
import { mountSmallDisk } from '../../../support/small-disk.ts';
import { hasStrace, readTrace, tracing } from '../../../support/strace.ts';
import { makeWorkspace } from '../../../support/workspace.ts';

const newDirectory = () => mkdtempSync(join(tmpdir(), 'durable-'));

test('replaces a file with one that only its owner may read', async () => {
  const file = join(newDirectory(), 'a.json');
  await replaceFile(file, 'one');
  await replaceFile(file, 'two');
  expect(readFileSync(file, 'utf8')).toBe('two');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(file, '..'))).toEqual(['a.json']);
});

test('creates a file once, whole, however many try', async () => {
  const file = join(newDirectory(), 'key');
  const attempts = Array.from({ length: 8 }, (_, i) => createFile(file, String(i).repeat(1_000)));
  const results = await Promise.allSettled(attempts);
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const winner = results.findIndex(({ status }) => status === 'fulfilled');
  expect(readFileSync(file, 'utf8')).toBe(String(winner).repeat(1_000));
  expect(readdirSync(join(file, '..'))).toEqual(['key']);
});

test('leaves nothing behind when the file cannot be replaced', async () => {
  const directory = newDirectory();
  mkdirSync(join(directory, 'a.json', 'x'), { recursive: true });
  await expect(replaceFile(join(directory, 'a.json'), 'x')).rejects.toMatchObject({ code: 'EISDIR' });
  expect(readdirSync(directory)).toEqual(['a.json']);
});

test('sweeps what killed writers of the file left, and nothing else', async () => {
  const directory = newDirectory();
  for (const name of [
    'a.json',
    'a.json.0123456789ab.tmp',
    'a.json.lock',
    'b.json.0123456789ab.tmp',
    'a.tmp',
  ]) {
    writeFileSync(join(directory, name), '');
  }
  await sweepTemporaries(join(directory, 'a.json'));
  expect(readdirSync(directory).sort()).toEqual([
    'a.json',
    'a.json.lock',
    'a.tmp',
    'b.json.0123456789ab.tmp',
  ]);
});

test('keeps the old file, and no part of the new one, on a disk that fills up', async ({ skip }) => {
  const directory = newDirectory();
  skip(!mountSmallDisk(directory, '64k'), 'needs the right to mount a tmpfs');
  const file = join(directory, 'a.json');
  await replaceFile(file, 'old');
  // More than is free: the first write is short, the one after it fails.
  await expect(replaceFile(file, 'x'.repeat(100_000))).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(readFileSync(file, 'utf8')).toBe('old');
  expect(readdirSync(directory)).toEqual(['a.json']);
});

test('treats a short write as a failure, and leaves nothing behind', ({ skip }) => {
  skip(spawnSync('prlimit', ['--version']).status !== 0, 'needs prlimit');
  const file = join(newDirectory(), 'a.json');
  // The write that crosses the limit is a short one, and only the next fails.
  const command = calling('replaceFile', file, 'x'.repeat(50_000));
  const { stderr } = spawnSync('prlimit', ['--fsize=20000', ...command], { encoding: 'utf8' });
  expect(stderr).toContain('EFBIG');
  expect(readdirSync(join(file, '..'))).toEqual([]);
});

test.for(['replaceFile', 'createFile'])(
  '%s syncs the content before the file has it, and the directory after',
  (name, { skip }) => {
    skip(!hasStrace, 'needs strace');
    const file = join(newDirectory(), 'a.json');
    const [strace = '', ...words] = [...tracing(durably, `${file}.trace`), ...calling(name, file, 'new')];
    expect(spawnSync(strace, words).status).toBe(0);
    expect(stepsOf(/a\.json$/, `${file}.trace`)).toEqual(steps);
  },
);

test('apply syncs the applied state before it takes the place of the former one, and the directory after', async ({
  skip,
}) => {
  skip(!hasStrace, 'needs strace');
  const workspace = makeWorkspace();
  await workspace.hookmill('secrets', 'generate', 'TOKEN');
  for (const name of ['a', 'b']) {
    workspace.write(`webhooks/${name}.yaml`, 'secretName: TOKEN\n');
    const through = tracing(durably, workspace.path('trace'));
    expect((await workspace.hookmill('apply', { through })).exitCode).toBe(0);
    expect(stepsOf(/\/default\.json$/, workspace.path('trace'))).toEqual(steps);
  }
});

const durably = 'write,pwrite64,writev,fsync,fdatasync,rename,renameat,renameat2,link,linkat';
const steps = ['write', 'sync', 'name', 'sync directory'];

/** The steps in which a traced process gave such a file its content. */
function stepsOf(file: RegExp, trace: string): string[] {
  const calls = readTrace(trace);
  const named = calls
    .map(call => /^(?:rename|link)\w*\(.*"(.*)",.*"(.*)".* = 0$/.exec(call))
    .filter(call => file.test(call?.[2] ?? ''));
  expect(named).toHaveLength(1);
  const [naming = '', temporary = '', final = ''] = named[0] ?? [];
  return calls.flatMap(call => {
    if (call === naming) return ['name'];
    const [, name, path] = /^(\w+)\(\d+<(.*?)>/.exec(call) ?? [];
    const step = name?.includes('write') ? 'write' : 'sync';
    if (path === temporary) return [step];
    return path === dirname(final) ? [`${step} directory`] : [];
  });
}

/** The words of a process that calls such a function of `durable-file.ts`. */
function calling(name: string, file: string, data: string): string[] {
  const module = JSON.stringify(join(import.meta.dirname, '../../../../store/home/durable-file.ts'));
  const script = `const { ${name} } = await import(${module}); await ${name}(...process.argv.slice(1));`;
  return [process.execPath, '--input-type=module', '-e', script, file, data];
}
