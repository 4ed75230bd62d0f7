import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { documentFile, type Home } from '../../../../store/home/home.ts';
import { moveFactories } from '../../../../store/home/move-factories.ts';
import { newHome } from '../../../support/factory.ts';

/** A home with the documents of a factory where development versions had them, each with its lock. */
function makeFormerHome(): { home: Home; at: (...names: string[]) => string } {
  const home = newHome();
  const at = (...names: string[]) => join(home.directory, 'factories', ...names);
  mkdirSync(at('shop'), { recursive: true });
  for (const kind of ['applied', 'reconcile', 'senders'])
    for (const file of [`${kind}.json`, `${kind}.json.lock`]) writeFileSync(at('shop', file), kind);
  return { home, at };
}

const read = (home: Home, kind: 'applied' | 'reconcile' | 'senders') =>
  readFileSync(documentFile(home, { kind, factory: 'shop' }), 'utf8');

test('moves the documents of factories to the directories of their kinds, once', () => {
  const { home, at } = makeFormerHome();
  moveFactories(home);
  for (const kind of ['applied', 'reconcile', 'senders'] as const) expect(read(home, kind)).toBe(kind);
  expect(existsSync(at())).toBe(false);
  moveFactories(home);
  expect(read(home, 'applied')).toBe('applied');
});

test('goes on where a process was killed, and keeps whatever else is there', () => {
  const { home, at } = makeFormerHome();
  rmSync(at('shop', 'applied.json'));
  mkdirSync(at('notes'));
  for (const file of [at('notes', 'applied.md'), at('shop', 'applied.json.bak')]) writeFileSync(file, 'mine');
  moveFactories(home);
  expect(read(home, 'senders')).toBe('senders');
  for (const file of [at('notes', 'applied.md'), at('shop', 'applied.json.bak')])
    expect(readFileSync(file, 'utf8')).toBe('mine');
});
