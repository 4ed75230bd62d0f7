import { chownSync, existsSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { expect, test } from 'vitest';
import { version } from '../../../cli/version.ts';
import { canBecomeOthers } from '../../support/privilege.ts';

const bin = join(import.meta.dirname, '../../../cli/bin.js');

/** Runs a command whose environment has only these directories. */
function run(HOME: string, TMPDIR: string): string {
  const options = { env: { HOME, TMPDIR }, extendEnv: false };
  return execaSync(process.execPath, [bin, '--version'], options).stdout;
}

test('compiled code is kept in the home directory, and never where other users could put some', () => {
  const [home, temporary] = [mkdtempSync(join(tmpdir(), 'home-')), mkdtempSync(join(tmpdir(), 'tmp-'))];
  run(home, temporary);
  const listCode = () =>
    readdirSync(join(home, '.cache/hookmill/compiled'), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
  const kept = listCode();
  expect(kept.length).toBeGreaterThan(0);
  expect(readdirSync(temporary)).toEqual([]);
  const writtenAt = kept.map(file => statSync(file).mtimeMs);
  run(home, temporary);
  expect(listCode().map(file => statSync(file).mtimeMs)).toEqual(writtenAt);
});

test.skipIf(!canBecomeOthers)(
  'no compiled code of root is kept in the home directory of another user',
  () => {
    const [home, temporary] = [mkdtempSync(join(tmpdir(), 'home-')), mkdtempSync(join(tmpdir(), 'tmp-'))];
    chownSync(home, 65_534, 65_534);
    expect(run(home, temporary)).toBe(version);
    expect(readdirSync(home)).toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
  },
);

test('a command works where no compiled code can be kept', () => {
  const temporary = mkdtempSync(join(tmpdir(), 'tmp-'));
  const missing = join(temporary, 'missing');
  expect(run(missing, temporary)).toBe(version);
  expect(existsSync(missing)).toBe(false);
  const file = join(temporary, 'file');
  writeFileSync(file, '');
  expect(run(file, temporary)).toBe(version);
  expect(readdirSync(temporary)).toEqual(['file']);
});
