import { execFileSync } from 'node:child_process';
import {
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { homeAt } from '../../../../store/home/home.ts';
import { openRunFiles } from '../../../../store/home/run-files.ts';
import { newRun } from '../../../support/deliveries.ts';
import { canBecomeOthers } from '../../../support/privilege.ts';

async function prepareRun() {
  const directory = mkdtempSync(join(tmpdir(), 'run-files-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const outside = join(directory, 'outside');
  mkdirSync(outside);
  const secret = join(outside, 'secrets.json');
  writeFileSync(secret, 'the secrets');
  const runFiles = openRunFiles(homeAt(join(directory, 'home')));
  const { id } = newRun();
  const runDirectory = await runFiles.prepare(id, 'Act.', { payload: Buffer.from('{}'), headers: {} });
  const append = async () => {
    const output = runFiles.appendOutput(id, 'attempt 2', 100);
    await output.write(Buffer.from('more'));
    await output.close('succeeded');
  };
  return { runFiles, id, runDirectory, outside, secret, append };
}

/** Things that a hostile process could leave at a path, besides a file of its own. */
const traps: Readonly<Record<string, (path: string, target: string) => void>> = {
  'a symbolic link': (path, target) => symlinkSync(target, path),
  'a dangling symbolic link': (path, target) => symlinkSync(`${target}.new`, path),
  'a hard link': (path, target) => linkSync(target, path),
  'a FIFO': path => execFileSync('mkfifo', [path]),
  'a directory': path => mkdirSync(path),
};

describe.each(Object.entries(traps))('%s in place of the output', (_, setTrap) => {
  test('is neither read nor written, and blocks nothing', async () => {
    const { runFiles, id, outside, secret, append } = await prepareRun();
    setTrap(runFiles.locateOutput(id), secret);
    expect(await runFiles.readOutput(id)).toBeUndefined();
    await expect(append()).rejects.toThrow();
    expect(readFileSync(secret, 'utf8')).toBe('the secrets');
    expect(readdirSync(outside)).toEqual(['secrets.json']);
  });
});

test.each(Object.entries(traps))(
  '%s named like the output in the run’s directory misleads nobody',
  async (_, setTrap) => {
    const { runFiles, id, runDirectory, secret, append } = await prepareRun();
    setTrap(join(runDirectory, 'output.log'), secret);
    await append();
    const output = await runFiles.readOutput(id);
    expect(output && (await text(output.stream))).toContain('more');
    expect(readFileSync(secret, 'utf8')).toBe('the secrets');
  },
);

test('an attempt does not follow a link in place of the run’s directory', async () => {
  const { runFiles, id, runDirectory, outside } = await prepareRun();
  rmSync(runDirectory, { recursive: true });
  symlinkSync(outside, runDirectory);
  await runFiles.prepare(id, 'Act.', { payload: Buffer.from('{}'), headers: {} });
  expect(lstatSync(runDirectory).isDirectory()).toBe(true);
  expect(readdirSync(outside)).toEqual(['secrets.json']);
});

test.each(Object.entries(traps))(
  '%s in place of a file for the command is replaced by the next attempt',
  async (_, setTrap) => {
    const { runFiles, id, runDirectory, secret } = await prepareRun();
    rmSync(join(runDirectory, 'prompt.md'));
    setTrap(join(runDirectory, 'prompt.md'), secret);
    await runFiles.prepare(id, 'Act.', { payload: Buffer.from('{}'), headers: {} });
    expect(readFileSync(join(runDirectory, 'prompt.md'), 'utf8')).toBe('Act.');
    expect(readFileSync(secret, 'utf8')).toBe('the secrets');
  },
);

test.each(Object.entries(traps))(
  '%s among the artifacts, or in their place, is not kept',
  async (_, setTrap) => {
    const { runFiles, id, runDirectory, secret } = await prepareRun();
    const artifacts = join(runDirectory, 'artifacts');
    mkdirSync(artifacts);
    setTrap(join(artifacts, 'secrets.json'), secret);
    expect(await runFiles.keepArtifacts({ id, claims: 1 })).toBe(false);
    expect(await runFiles.listArtifacts(id)).toEqual([]);
  },
);

test('a link in place of the artifacts is not followed', async () => {
  const { runFiles, id, runDirectory, outside } = await prepareRun();
  symlinkSync(outside, join(runDirectory, 'artifacts'));
  expect(await runFiles.keepArtifacts({ id, claims: 1 })).toBe(false);
  expect(await runFiles.listArtifacts(id)).toEqual([]);
});

test.runIf(canBecomeOthers)('artifacts of another user than the run has are left out', async () => {
  const { runFiles, id, runDirectory } = await prepareRun();
  const file = (name: string) => join(runDirectory, 'artifacts', name);
  mkdirSync(join(runDirectory, 'artifacts'));
  // As a hard link is, once its other name is gone.
  for (const name of ['own', 'of-root']) writeFileSync(file(name), name);
  chownSync(file('own'), 65534, 65534);
  expect(await runFiles.keepArtifacts({ id, claims: 1 }, { owner: 65534 })).toBe(false);
  expect(await runFiles.listArtifacts(id)).toEqual([{ name: 'own', size: 3 }]);
});

test.each([
  [
    'too many',
    (file: (name: string) => string) => {
      for (let n = 0; n < 150; n++) writeFileSync(file(`file-${n}`), '');
    },
    100,
  ],
  ['too large', (file: (name: string) => string) => truncateSync(file('large'), 65 * 1024 * 1024), 0],
  ['a name that is no name', (file: (name: string) => string) => writeFileSync(file('a\nb'), ''), 0],
] as const)('artifacts that are %s are left out', async (_, leave, kept) => {
  const { runFiles, id, runDirectory } = await prepareRun();
  mkdirSync(join(runDirectory, 'artifacts'));
  const file = (name: string) => {
    writeFileSync(join(runDirectory, 'artifacts', name), '');
    return join(runDirectory, 'artifacts', name);
  };
  leave(file);
  expect(await runFiles.keepArtifacts({ id, claims: 1 })).toBe(false);
  expect(await runFiles.listArtifacts(id)).toHaveLength(kept);
});

test('removing a run does not remove what its directory links to', async () => {
  const { runFiles, id, runDirectory, outside } = await prepareRun();
  symlinkSync(outside, join(runDirectory, 'link'));
  await runFiles.remove(id);
  rmSync(runDirectory, { recursive: true, force: true });
  symlinkSync(outside, runDirectory);
  await runFiles.remove(id);
  expect(readdirSync(outside)).toEqual(['secrets.json']);
});
