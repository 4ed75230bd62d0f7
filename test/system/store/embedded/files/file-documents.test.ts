import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type AppliedState, emptyAppliedState } from '../../../../../schema/applied-state.ts';
import { appliedStateFile, documentFile, homeAt } from '../../../../../store/home/home.ts';
import { makeFactory } from '../../../../support/factory.ts';
import { mountSmallDisk } from '../../../../support/small-disk.ts';
import { addWebhook } from '../../conformance/applied-states.ts';

test('does not write over a change by a writer that ignored the lock', async () => {
  const { home, name, store } = makeFactory();
  const edited = { ...emptyAppliedState(name), serial: 7 };
  const changed = store.appliedStates.change(name, async state => {
    writeFileSync(appliedStateFile(home, name), JSON.stringify(edited));
    return { next: state, result: undefined };
  });
  await expect(changed).rejects.toMatchObject({ code: 'serial-moved' });
  expect(await store.appliedStates.read(name)).toEqual(edited);
});

/** Sets the clock to so many ms after now, when files that exist are so old. */
function waitMs(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
  onTestFinished(() => void vi.useRealTimers());
}

test('reads a file again while it is so young that it may change and keep its version', async () => {
  const { name, store } = makeFactory();
  await addWebhook(store, 'pay');
  waitMs(-10_000);
  const { read } = store.appliedStates;
  expect(await read(name)).not.toBe(await read(name));
  waitMs(20_000);
  expect(await read(name)).toBe(await read(name));
});

test('has what is stored after a write that failed', async ({ skip }) => {
  const directory = mkdtempSync(join(tmpdir(), 'full-'));
  skip(!mountSmallDisk(directory, '256k'), 'needs the right to mount a tmpfs');
  const { name, store } = makeFactory(homeAt(join(directory, 'home')));
  await addWebhook(store, 'pay');
  waitMs(10_000);
  const state = await store.appliedStates.read(name);
  const source = { kind: 'directory' as const, directory: 'x'.repeat(1_000_000) };
  const changed = store.appliedStates.change(name, async () => ({
    next: { ...state, source },
    result: undefined,
  }));
  await expect(changed).rejects.toMatchObject({ code: 'unwritable' });
  expect(await store.appliedStates.read(name)).toEqual(state);
});

test('notices every bit of its file that flips and changes the content', async () => {
  const { home, name, store } = makeFactory();
  await addWebhook(store, 'pay');
  const file = appliedStateFile(home, name);
  const [good, state] = [readFileSync(file), await store.appliedStates.read(name)];
  const unnoticed: string[] = [];
  for (let bit = 0; bit < good.length * 8; bit += 7) {
    const flipped = Buffer.from(good);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    writeFileSync(file, flipped);
    const read = await store.appliedStates.read(name).catch(error => error.code);
    if (read === 'corrupt' || read === 'newer-format' || read.isDamaged) continue;
    // White space between values has no meaning.
    if (!isDeepStrictEqual(read, state)) unnoticed.push(`bit ${bit}`);
  }
  expect(unnoticed).toEqual([]);
});

test('accepts a file without a digest, and writes one with the next change', async () => {
  const { home, name, store } = makeFactory();
  const edited = { ...emptyAppliedState(name), serial: 7 };
  await addWebhook(store, 'pay');
  writeFileSync(appliedStateFile(home, name), JSON.stringify(edited));
  expect(await store.appliedStates.read(name)).toEqual(edited);
  await addWebhook(store, 'code');
  expect(readFileSync(appliedStateFile(home, name), 'utf8')).toMatch(/^\{\n {2}"digest": "[0-9a-f]{64}",\n/);
  expect(await store.appliedStates.read(name)).toMatchObject({ serial: 8 });
});

test('replaces a damaged state with the next change', async () => {
  const { home, name, store } = makeFactory();
  await addWebhook(store, 'pay');
  const file = appliedStateFile(home, name);
  writeFileSync(file, readFileSync(file, 'utf8').replace('"serial": 1', '"serial": 3'));
  expect(await store.appliedStates.read(name)).toMatchObject({ serial: 3, isDamaged: true });
  await addWebhook(store, 'code');
  expect(await store.appliedStates.read(name)).not.toHaveProperty('isDamaged');
});

test('refuses other files that were changed outside hookmill, and says what to do', async () => {
  const { home, store } = makeFactory();
  const tokensFile = documentFile(home, { kind: 'tokens' });
  await store.apiTokens.create({
    name: 'laptop',
    factory: 'crm',
    permission: 'read',
    sha256: '0'.repeat(64),
  });
  writeFileSync(tokensFile, readFileSync(tokensFile, 'utf8').replace('"crm"', '"hr"'));
  await expect(store.apiTokens.list()).rejects.toMatchObject({
    code: 'corrupt',
    message: `${tokensFile} was changed outside hookmill. Restore a backup, or delete its line "digest" to accept it`,
  });
  const text = readFileSync(tokensFile, 'utf8');
  writeFileSync(tokensFile, text.replace(/^ *"digest".*\n/m, ''));
  expect(await store.apiTokens.list()).toMatchObject([{ factory: 'hr' }]);
});

test('reads each applied state, those too that cannot be read', async () => {
  const { home, store } = makeFactory();
  const { appliedStates } = store;
  const factories = ['a-fifo', 'directory', 'good', 'missing', 'no-json'];
  for (const factory of factories) await addWebhook(store, 'pay', factory);
  const fileOf = (factory: string) => appliedStateFile(home, factory);
  for (const factory of ['a-fifo', 'directory', 'missing']) rmSync(fileOf(factory));
  execFileSync('mkfifo', [fileOf('a-fifo')]);
  mkdirSync(fileOf('directory'));
  writeFileSync(fileOf('no-json'), '{');
  const read: unknown[] = [];
  const count = async (parse: () => AppliedState) => parse().webhooks.length;
  for await (const { factory, version, parse } of appliedStates.readEach(factories))
    read.push([factory, version, await count(parse).catch(({ code }) => code)]);
  const versions = await Promise.all(factories.map(appliedStates.readVersion));
  expect(read).toEqual([
    ['a-fifo', versions[0], 'corrupt'],
    ['directory', expect.any(String), 'unreadable'],
    ['good', versions[2], 1],
    ['missing', undefined, 0],
    ['no-json', versions[4], 'corrupt'],
  ]);
});
