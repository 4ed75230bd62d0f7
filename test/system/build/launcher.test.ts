import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeEach, expect, test } from 'vitest';

let checkout: string;

beforeEach(() => {
  checkout = realpathSync(mkdtempSync(join(tmpdir(), 'checkout-')));
  cpSync('hookmill', join(checkout, 'hookmill'));
  cpSync('cli/bin.js', join(checkout, 'cli/bin.js'));
  writeFileSync(join(checkout, 'package.json'), '{ "type": "module" }');
});

/** Starts the command line of the checkout in a process that `script` changes first. */
function startPretending(script: string, command: string, cwd = checkout) {
  const args = ['--import', `data:text/javascript,${encodeURIComponent(script)}`, 'cli/bin.js', command];
  return execa(process.execPath, args, { cwd, reject: false });
}

/** Makes the Node.js that the setup brings, which says how it was called. */
function bringNode() {
  mkdirSync(join(checkout, 'node_modules/node/bin'), { recursive: true });
  const script = '#!/bin/sh\necho "$HOOKMILL_COMMAND" "$@"\n';
  writeFileSync(join(checkout, 'node_modules/node/bin/node'), script, { mode: 0o755 });
}

test('./hookmill runs the command line on the Node.js that the setup brings, from everywhere and through a link', async () => {
  bringNode();
  const bin = join(checkout, 'cli/bin.js');
  const own = await execa('./hookmill', ['-C', 'a b', 'plan'], { cwd: checkout });
  expect(own.stdout).toBe(`./hookmill ${bin} -C a b plan`);
  symlinkSync(join(checkout, 'hookmill'), join(checkout, 'cli/hm'));
  const linked = await execa('cli/hm', ['plan'], { cwd: checkout });
  expect(linked.stdout).toBe(`cli/hm ${bin} plan`);
});

test.for(['./hookmill', 'cli/bin.js'])('an unbuilt checkout says so: %s', async command => {
  const env = { PATH: `${join(process.execPath, '..')}:${process.env.PATH}` };
  const { exitCode, stderr } = await execa(command, ['plan'], { cwd: checkout, env, reject: false });
  expect(exitCode).toBe(3);
  expect(stderr).toContain('hookmill is not built');
  expect(stderr).toContain('npm run setup && npm run build');
  expect(stderr).not.toContain('at ');
});

test('refuses each Node.js that `engines` excludes, and no other', async () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
  const needed = engines.node.replace('>=', '');
  const [major = 0, minor = 0, patch = 0] = needed.split('.').map(Number);
  const startOn = async (node: string) => {
    const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${node}' } })`;
    const { exitCode, stderr } = await startPretending(pretend, 'plan');
    return { exitCode, said: stderr.split('\n')[0] };
  };
  const refused = [
    ...(patch > 0 ? [`${major}.${minor}.${patch - 1}`] : []),
    `${major}.${minor - 1}.99`,
    `${major - 1}.99.99`,
  ];
  for (const version of refused) {
    const said = `hookmill needs Node.js ${needed} or newer, and this is ${version}.`;
    expect(await startOn(version)).toEqual({ exitCode: 3, said });
  }
  for (const version of [needed, `${major}.${minor}.99`, `${major}.${minor + 1}.0`, `${major + 1}.0.0`])
    expect((await startOn(version)).said).toContain('hookmill is not built');
});

test('the daemon says that it does not run on Windows', async () => {
  const pretend = "Object.defineProperty(process, 'platform', { value: 'win32' })";
  const { exitCode, stderr } = await startPretending(pretend, 'serve', process.cwd());
  expect(exitCode).toBe(2);
  expect(stderr).toContain('serve does not run on Windows');
});
