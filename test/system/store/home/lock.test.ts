import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { acquireLock, withLock } from '../../../../store/home/lock.ts';

const newFile = () => join(mkdtempSync(join(tmpdir(), 'lock-')), 'state.json');

/** A process that tries to take the lock of the file: it says `held`, and holds it until it is killed, or why not. */
async function otherProcess(file: string) {
  const script = `
    const { acquireLock } = await import(${JSON.stringify(join(import.meta.dirname, '../../../../store/home/lock.ts'))});
    const lock = await acquireLock(${JSON.stringify(file)}, 0).catch(error => error);
    console.log(lock.code ?? 'held');
    // The timer refers to the lock, which would be freed when its object is collected.
    if (!lock.code) setInterval(() => lock, 1_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, '', '-C', 'x', 'apply'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [said] = await once(child.stdout, 'data');
  return { child, said: String(said).trim() };
}

test('is held by one at a time', async () => {
  const file = newFile();
  const seen: string[] = [];
  const work = (name: string) =>
    withLock(file, 10_000, async () => {
      seen.push(`${name} begins`);
      await new Promise(resolve => setImmediate(resolve));
      seen.push(`${name} ends`);
    });
  await Promise.all([work('a'), work('b'), work('c')]);
  for (let i = 0; i < seen.length; i += 2) {
    expect(seen[i + 1]).toBe(seen[i]?.replace('begins', 'ends'));
  }
  expect(seen).toHaveLength(6);
});

test('is given back when the work fails', async () => {
  const file = newFile();
  await expect(withLock(file, 0, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const lock = await acquireLock(file, 0);
  lock.release();
});

test('held by another process is refused after the time-out, naming the holder', async () => {
  const file = newFile();
  const { child: holder } = await otherProcess(file);
  await expect(acquireLock(file, 100)).rejects.toMatchObject({
    code: 'locked',
    message: expect.stringMatching(
      new RegExp(`is locked by hookmill -C x apply \\(pid ${holder.pid}, since \\d{4}-`),
    ),
  });
});

test('is still held while its holder is stopped, and free the moment it is killed', async () => {
  const file = newFile();
  const { child: holder } = await otherProcess(file);
  holder.kill('SIGSTOP');
  await expect(acquireLock(file, 50)).rejects.toMatchObject({ code: 'locked' });
  const waiting = acquireLock(file, 10_000);
  holder.kill('SIGKILL');
  const lock = await waiting;
  expect(JSON.parse(readFileSync(`${file}.lock-holder`, 'utf8'))).toMatchObject({ pid: process.pid });
  lock.release();
});

test('is not lost by a second attempt of the same process', async () => {
  const file = newFile();
  const lock = await acquireLock(file, 0);
  await expect(acquireLock(file, 0)).rejects.toMatchObject({ code: 'locked' });
  expect((await otherProcess(file)).said).toBe('locked');
  lock.release();
});

test('that cannot be made names its file', async () => {
  const file = newFile();
  writeFileSync(file, '');
  await expect(acquireLock(join(file, 'x/state.json'), 0)).rejects.toMatchObject({
    code: 'unwritable',
    message: `${file}/x/state.json.lock cannot be written (ENOTDIR); a file is in place of its directory`,
  });
});
