import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { watchHome } from '../../../../../store/embedded/files/watch-home.ts';
import { appliedStateFile, documentFile } from '../../../../../store/home/home.ts';
import { newHome } from '../../../../support/factory.ts';

test('names the factory whose state was added, replaced, edited or removed', async () => {
  const { fileOf, changed } = await watchFor(['old']);
  writeFileSync(fileOf('old'), '{"edited": true}');
  await expect.poll(changed).toEqual(['old']);
  for (const content of ['{}', '{"next": true}']) {
    writeFileSync(`${fileOf('new')}.1.tmp`, content);
    renameSync(`${fileOf('new')}.1.tmp`, fileOf('new'));
    await expect.poll(changed).toEqual(['new']);
  }
  rmSync(fileOf('new'));
  await expect.poll(changed).toEqual(['new']);
});

test('says nothing of locks, temporary files and other documents', async () => {
  const { home, fileOf, changed } = await watchFor([]);
  for (const suffix of ['.lock', '.lock-holder', '.1.tmp']) writeFileSync(`${fileOf('crm')}${suffix}`, '');
  mkdirSync(`${home.directory}/reconcile`);
  writeFileSync(documentFile(home, { kind: 'reconcile', factory: 'crm' }), '');
  writeFileSync(fileOf('sales'), '{}');
  await expect.poll(changed).toEqual(['sales']);
});

test('goes on in a directory that was removed and made again', async () => {
  const { home, fileOf, changed } = await watchFor(['old']);
  rmSync(home.appliedDirectory, { recursive: true });
  await expect.poll(changed).toContain('old');
  mkdirSync(home.appliedDirectory);
  for (const content of ['{}', '{"next": true}']) {
    writeFileSync(fileOf('new'), content);
    await expect.poll(changed).toContain('new');
  }
});

test('polls where the file system tells nothing, if the operator says so', async () => {
  vi.stubEnv('CHOKIDAR_USEPOLLING', 'true');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { fileOf, changed } = await watchFor(['crm']);
  writeFileSync(fileOf('crm'), '{"edited": true}');
  await expect.poll(changed).toEqual(['crm']);
});

/** Watches a home with the factories. `changed` lists the factories that were named since it was called last. */
async function watchFor(factories: readonly string[]) {
  const home = newHome();
  const fileOf = (factory: string) => appliedStateFile(home, factory);
  mkdirSync(home.appliedDirectory, { recursive: true });
  for (const factory of factories) writeFileSync(fileOf(factory), '{}');
  const named = new Set<unknown>();
  const watch = await watchHome(home, factory => named.add(factory));
  onTestFinished(() => watch.close());
  const changed = () => {
    const list = [...named];
    named.clear();
    return list;
  };
  return { home, fileOf, changed };
}
