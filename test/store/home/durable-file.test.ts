import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFile, replaceFile, sweepTemporaries } from '../../../store/home/durable-file.ts';
import { mountSmallDisk } from '../../support/small-disk.ts';

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
  const module = JSON.stringify(join(import.meta.dirname, '../../../store/home/durable-file.ts'));
  const script = `const { replaceFile } = await import(${module}); await replaceFile(process.argv[1], 'x'.repeat(50_000));`;
  // The write that crosses the limit is a short one, and only the next fails.
  const command = [process.execPath, '--input-type=module', '-e', script, file];
  const { stderr } = spawnSync('prlimit', ['--fsize=20000', ...command], { encoding: 'utf8' });
  expect(stderr).toContain('EFBIG');
  expect(readdirSync(join(file, '..'))).toEqual([]);
});
