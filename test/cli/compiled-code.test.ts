import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { expect, test } from 'vitest';

const bin = join(import.meta.dirname, '../../cli/bin.js');

/** Runs a command whose environment has only these directories. */
function run(HOME: string, TMPDIR: string): string {
  const options = { env: { HOME, TMPDIR }, extendEnv: false };
  return execaSync(process.execPath, [bin, '--version'], options).stdout;
}

test('compiled code is kept in the home directory, and never where other users could put some', () => {
  const [home, temporary] = [mkdtempSync(join(tmpdir(), 'home-')), mkdtempSync(join(tmpdir(), 'tmp-'))];
  run(home, temporary);
  expect(readdirSync(join(home, '.cache/hookmill/compiled'))).toHaveLength(1);
  expect(readdirSync(temporary)).toEqual([]);
});

test('a command works where no compiled code can be kept', () => {
  const temporary = mkdtempSync(join(tmpdir(), 'tmp-'));
  const missing = join(temporary, 'missing');
  expect(run(missing, temporary)).toMatch(/^\d/);
  expect(existsSync(missing)).toBe(false);
  const file = join(temporary, 'file');
  writeFileSync(file, '');
  expect(run(file, temporary)).toMatch(/^\d/);
});
