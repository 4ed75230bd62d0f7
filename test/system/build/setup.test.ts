import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { execa } from 'execa';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { withoutPrivilege } from '../../support/privilege.ts';

/** An npm that writes what it is asked to do to a file, and then does as much of it as the setup looks at. */
const npm = `#!/bin/sh
echo "$1" >> asked
mkdir -p node_modules/node/bin
[ -f broken ] && cat broken >&2 && exit 7
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
  const { exitCode } = await runSetup();
  return [exitCode, readFileSync(path('asked'), 'utf8').trim().split('\n').filter(Boolean)];
}

function runSetup(env: Record<string, string> = {}, through: readonly string[] = []) {
  const PATH = [path('bin'), process.env.PATH].join(delimiter);
  const [command, ...args] = [...through, process.execPath, path('build/setup.js')] as const;
  return execa(String(command), args, { env: { PATH, ...env }, reject: false });
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

test.for([
  [
    'npm error request to https://registry.npmjs.org/zod failed: connect ECONNREFUSED',
    'npm cannot reach its registry',
  ],
  ['npm error code ENOTCACHED', 'npm cannot reach its registry'],
  ['npm error code EACCES', 'belongs to the user'],
  ['npm error code ENOSPC', 'the disk is full'],
  ['npm error something else', 'correct what npm says above'],
] as const)('when npm says "%s", repeats that and says what to do', async ([said, remedy]) => {
  writeFileSync(path('broken'), `${said}\n`);
  const { exitCode, stderr } = await runSetup();
  expect(exitCode).toBe(7);
  expect(stderr).toContain(said);
  expect(stderr).toContain(`hookmill is not installed: `);
  expect(stderr).toContain(remedy);
});

test('says that there is no npm', async () => {
  const { exitCode, stderr } = await runSetup({ PATH: path('nowhere') });
  expect(exitCode).toBe(1);
  expect(stderr).toContain('hookmill is not installed: there is no npm on the PATH');
});

test('in a checkout that this user cannot write, says whose it is and what to do', async () => {
  chmodSync(path('.'), 0o555);
  onTestFinished(() => chmodSync(path('.'), 0o755));
  const { exitCode, stderr } = await runSetup({}, withoutPrivilege);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('EACCES');
  expect(stderr).toMatch(
    /belongs to the user \d+, or is read-only\. Run this as its owner, or in a clone of your own\.$/,
  );
});
