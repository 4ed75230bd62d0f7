import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { canBecomeOthers } from '../../../support/privilege.ts';

/** Removes the tree in a process that has no right to pass over modes. */
function removeAsOwner(path: string): { readonly status: number | null; readonly stdout: string } {
  const module = join(import.meta.dirname, '../../../../store/home/remove-tree.ts');
  const source = `const { removeTree } = await import(${JSON.stringify(module)});
    await removeTree(${JSON.stringify(path)}).catch(({ code }) => console.log(code));`;
  const become = ['--reuid=65534', '--regid=65534', '--clear-groups', '--'];
  const argv = [process.execPath, '--input-type=module', '-e', source];
  const [program = '', ...words] = canBecomeOthers ? ['setpriv', ...become, ...argv] : argv;
  return spawnSync(program, words, { encoding: 'utf8' });
}

function makeTree() {
  const directory = mkdtempSync(join(tmpdir(), 'remove-tree-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  if (canBecomeOthers) chmodSync(dirname(directory), 0o711);
  const path = join(directory, 'tree');
  mkdirSync(join(path, 'downloaded/module'), { recursive: true });
  writeFileSync(join(path, 'downloaded/module/file'), '');
  const all = [directory, path, join(path, 'downloaded'), join(path, 'downloaded/module')];
  if (canBecomeOthers) for (const each of all) chownSync(each, 65534, 65534);
  return { directory, path };
}

test('removes directories that were protected from changes, as tools leave them that keep what they download', () => {
  const { path } = makeTree();
  for (const name of ['downloaded/module', 'downloaded']) chmodSync(join(path, name), 0o555);
  chmodSync(path, 0o000);
  expect(removeAsOwner(path)).toMatchObject({ status: 0, stdout: '' });
  expect(existsSync(path)).toBe(false);
});

test('says so if something cannot be removed', () => {
  const { directory, path } = makeTree();
  chmodSync(directory, 0o555);
  expect(removeAsOwner(path)).toMatchObject({ status: 0, stdout: 'ENOTEMPTY\n' });
  chmodSync(directory, 0o755);
  expect(existsSync(path)).toBe(true);
});
