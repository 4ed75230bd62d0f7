import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { watchFactories } from '../../../../store/embedded/files/watch-factories.ts';
import { newHome } from '../../../support/factory.ts';

test('names the factory that changed, whether it is old, new or in the place of another one', async () => {
  const home = newHome();
  const at = (factory: string) => join(home.factoriesDirectory, factory);
  const write = (factory: string) => writeFileSync(join(at(factory), 'applied.json'), '{}');
  mkdirSync(at('old'), { recursive: true });
  const changed = await watchWithoutScans(home);

  write('old');
  await expect.poll(changed).toEqual(['old']);
  mkdirSync(at('new'));
  await expect.poll(changed).toEqual(['new']);
  write('new');
  await expect.poll(changed).toEqual(['new']);
  mkdirSync(at('next'));
  write('next');
  renameSync(at('new'), at('former'));
  renameSync(at('next'), at('new'));
  await expect.poll(changed).toEqual(expect.arrayContaining(['new', 'former']));
  write('new');
  await expect.poll(changed).toContain('new');
});

test('says nothing of locks and temporary files', async () => {
  const home = newHome();
  const directory = join(home.factoriesDirectory, 'crm');
  mkdirSync(directory, { recursive: true });
  const changed = await watchWithoutScans(home);
  for (const name of [
    'applied.json.lock',
    'applied.json.lock-holder',
    'applied.json.1.tmp',
    'applied.json',
  ]) {
    writeFileSync(join(directory, name), '');
    if (name !== 'applied.json') expect(changed()).toEqual([]);
  }
  await expect.poll(changed).toEqual(['crm']);
});

/** Returns a function that lists the factories that were named since it was called last. */
async function watchWithoutScans(home: ReturnType<typeof newHome>): Promise<() => unknown[]> {
  const named = new Set<unknown>();
  // Timers that are set now do not fire, ever.
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const watch = await watchFactories(home, factory => named.add(factory)).finally(() => vi.useRealTimers());
  onTestFinished(() => watch.close());
  return () => {
    const list = [...named];
    named.clear();
    return list;
  };
}
