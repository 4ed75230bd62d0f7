import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { execa } from 'execa';
import { beforeEach, expect, test } from 'vitest';

/** An npm that writes what it is asked to do to a file, and then does as much of it as the setup looks at. */
const npm = `#!/bin/sh
echo "$1" >> asked
mkdir -p node_modules/node/bin
[ -f broken ] && exit 7
case $* in install*) cp package-lock.json node_modules/.package-lock.json;; *node) touch node_modules/node/bin/node;; esac
`;

let path: (name: string) => string;

beforeEach(() => {
  const directory = mkdtempSync(join(tmpdir(), 'setup-'));
  path = name => join(directory, name);
  for (const folder of ['build', 'bin']) mkdirSync(path(folder));
  cpSync('build/setup.js', path('build/setup.js'));
  writeFileSync(path('bin/npm'), npm, { mode: 0o755 });
  writeFileSync(path('package.json'), '{ "type": "module" }');
  writeFileSync(path('package-lock.json'), '{}');
});

/** Runs the setup. Returns its exit status, and what npm was asked to do. */
async function setUp(): Promise<readonly [number | undefined, readonly string[]]> {
  writeFileSync(path('asked'), '');
  const env = { PATH: [path('bin'), process.env.PATH].join(delimiter) };
  const { exitCode } = await execa(process.execPath, [path('build/setup.js')], { env, reject: false });
  return [exitCode, readFileSync(path('asked'), 'utf8').trim().split('\n').filter(Boolean)];
}

test('installs once, and then nothing as long as nothing changes', async () => {
  expect(await setUp()).toEqual([0, ['install', 'rebuild', 'rebuild']]);
  expect(await setUp()).toEqual([0, []]);
});

test.for<[string, () => void, string[]]>([
  ['the lock file changed', () => writeFileSync(path('package-lock.json'), '{ }'), ['install', 'rebuild']],
  [
    'npm installed something else',
    () => writeFileSync(path('node_modules/.package-lock.json'), '[]'),
    ['install', 'rebuild'],
  ],
  ['Node.js is missing', () => rmSync(path('node_modules/node/bin/node')), ['install', 'rebuild', 'rebuild']],
])('installs again if %s', async ([, change, asked]) => {
  await setUp();
  change();
  expect(await setUp()).toEqual([0, asked]);
  expect(await setUp()).toEqual([0, []]);
});

test('fails as npm does, and then begins again', async () => {
  await setUp();
  writeFileSync(path('package-lock.json'), '{ }');
  writeFileSync(path('broken'), '');
  expect(await setUp()).toEqual([7, ['install']]);
  rmSync(path('broken'));
  expect(await setUp()).toEqual([0, ['install', 'rebuild']]);
});
