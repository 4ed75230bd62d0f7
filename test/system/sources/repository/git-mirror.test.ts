import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { gitFetchDepth, gitPacksMax, openMirror } from '../../../../sources/repository/git/git-mirror.ts';
import { readCommit } from '../../../../sources/repository/git/git-objects.ts';
import { fetchWorkingCopy, parseRevisionName } from '../../../../sources/repository/working-copy.ts';
import { mirrorDirectory } from '../../../../store/home/home.ts';
import { acquireLock } from '../../../../store/home/lock.ts';
import {
  factoryAt,
  followedFactory,
  makeUpstream,
  operatorEnvironment,
  repositoryAt,
  temporaryDirectory,
  webhook,
} from '../../../support/git-samples.ts';
import { factoryIn } from '../../../support/stored.ts';

const damages: Readonly<Record<string, (mirror: string) => void>> = {
  'a lock on the ref': mirror => writeFileSync(join(mirror, 'refs', 'hookmill', 'tip.lock'), ''),
  'a lock on the boundary of the history': mirror => writeFileSync(join(mirror, 'shallow.lock'), ''),
  'a lock on the configuration': mirror => writeFileSync(join(mirror, 'config.lock'), ''),
  'an unfinished pack': mirror => writeFileSync(join(mirror, 'objects', 'pack', 'tmp_pack_x'), 'PACK'),
  'a pack cut off': mirror => truncateSync(packs(mirror)[0] ?? '', 40),
  'packs gone': mirror => rmSync(join(mirror, 'objects'), { recursive: true }),
  'another configuration': mirror => writeFileSync(join(mirror, 'config'), '[core'),
  'an empty HEAD': mirror => writeFileSync(join(mirror, 'HEAD'), ''),
  'no refs': mirror => rmSync(join(mirror, 'refs'), { recursive: true }),
  'a ref cut off': mirror => writeFileSync(join(mirror, 'refs', 'hookmill', 'tip'), 'e83c'),
  'nothing at all': mirror => rmSync(mirror, { recursive: true }),
};

describe('a branch with a new commit', () => {
  let prepared: Awaited<ReturnType<typeof followedFactory>> & { readonly revision: string };
  beforeAll(async () => {
    const upstream = makeUpstream(mkdtempSync(join(tmpdir(), 'hookmill-git-')));
    upstream.commit({ 'webhooks/pay.yaml': webhook() });
    const home = mkdtempSync(join(tmpdir(), 'home-'));
    const followed = await followedFactory(upstream.bare, undefined, home);
    expect(await followed.reconcile()).toMatchObject({ result: 'applied' });
    const revision = upstream.commit({ 'webhooks/pay.yaml': webhook('S', 'enabled: false\n') });
    prepared = { ...followed, revision };
  });

  test.for(Object.entries(damages))('is followed on from a mirror with %s', async ([_, damage]) => {
    const home = join(temporaryDirectory(), 'home');
    cpSync(prepared.factory.home.directory, home, { recursive: true });
    const factory = factoryAt(home);
    const mirror = mirrorDirectory(factory.home, factory.name);
    damage(mirror);
    const { revision, reconcile } = prepared;
    expect(await reconcile({}, {}, factory)).toMatchObject({ result: 'applied', tip: { revision } });
    const files = readdirSync(mirror, { recursive: true, encoding: 'utf8' });
    expect(files.filter(file => /\.lock$|\/tmp_/.test(file))).toEqual([]);
  });
});

test('fetches the mirror again once it has too many packs', async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/pay.yaml': webhook() });
  const { factory, reconcile } = await followedFactory(upstream.bare);
  await reconcile();
  const directory = join(mirrorDirectory(factory.home, factory.name), 'objects', 'pack');
  for (let index = 0; index < gitPacksMax; index++) writeFileSync(join(directory, `old-${index}.pack`), '');
  upstream.commit({ 'webhooks/crm.yaml': webhook() });
  expect(await reconcile()).toMatchObject({ result: 'applied' });
  expect(readdirSync(directory).length).toBeLessThan(10);
});

test('fetches neither old history nor other branches, yet finds the applied revision far back', async () => {
  const upstream = makeUpstream();
  const first = upstream.commit({ 'webhooks/pay.yaml': webhook(), 'old.txt': 'old' });
  const { factory, reconcile } = await followedFactory(upstream.bare);
  await reconcile();
  upstream.git('branch', 'other');
  upstream.git('tag', 'v1');
  for (let count = 0; count <= gitFetchDepth; count++) upstream.commit({}, 'More');
  const tip = upstream.commit({ 'webhooks/pay.yaml': '', 'old.txt': null });
  expect(await reconcile()).toMatchObject({ reason: 'invalid', commitsBehind: gitFetchDepth + 2 });

  const mirror = mirrorDirectory(factory.home, factory.name);
  const inMirror = (...args: string[]) => upstream.git('--git-dir', mirror, ...args);
  expect(inMirror('for-each-ref', '--format=%(objectname) %(refname)')).toBe(`${tip} refs/hookmill/tip`);
  const fresh = await followedFactory(upstream.bare);
  await fresh.reconcile();
  const freshMirror = mirrorDirectory(fresh.factory.home, fresh.factory.name);
  const objects = upstream.git('--git-dir', freshMirror, 'cat-file', '--batch-all-objects', '--batch-check');
  expect(objects).toContain(tip);
  expect(objects).not.toContain(first);
});

test('reads no other repository if the mirror is invalid, not even the one around the home', async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/pay.yaml': webhook() });
  const directory = join(upstream.bare, 'hookmill', 'mirror.git');
  const signal = new AbortController().signal;
  const mirror = await openMirror(
    directory,
    repositoryAt(upstream.bare),
    operatorEnvironment,
    undefined,
    signal,
  );
  rmSync(join(directory, 'HEAD'));
  await expect(readCommit(mirror, 'HEAD')).rejects.toMatchObject({ code: 'refused' });
});

test('says who holds the mirror, and that it cannot be written', async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/pay.yaml': webhook() });
  const { factory, reconcile } = await followedFactory(upstream.bare);
  const mirror = mirrorDirectory(factory.home, factory.name);
  const lock = await acquireLock(mirror, 0);
  const impatient = factoryIn(factory.home, factory.name, 0);
  expect(await reconcile({}, {}, impatient)).toMatchObject({
    result: 'failed',
    reason: 'store',
    message: expect.stringContaining(`pid ${process.pid}`),
  });
  lock.release();
  writeFileSync(mirror, 'a file in its place');
  expect(await reconcile()).toMatchObject({ result: 'failed', reason: 'store' });
  expect(await factory.store.reconcileStatuses.read(factory.name)).toMatchObject({
    lastFailure: { reason: 'store' },
  });
  rmSync(mirror);
  expect(await reconcile()).toMatchObject({ result: 'applied' });
});

function packs(mirror: string): string[] {
  const directory = join(mirror, 'objects', 'pack');
  return readdirSync(directory).map(name => join(directory, name));
}

test('leaves large files at a server that allows that, and reports a definition among them', async () => {
  const upstream = makeUpstream();
  upstream.git('config', 'uploadpack.allowFilter', 'true');
  const large = (megabytes: number) => randomBytes(megabytes * 512 * 1024).toString('hex');
  upstream.commit({ 'webhooks/pay.yaml': webhook(), 'assets/pay.png': large(2), 'model.bin': large(4) });
  const { factory, reconcile } = await followedFactory(`file://${upstream.bare}`);
  expect(await reconcile()).toMatchObject({ result: 'applied' });
  const bytes = () => {
    const directory = join(mirrorDirectory(factory.home, factory.name), 'objects', 'pack');
    return readdirSync(directory).reduce((sum, file) => sum + statSync(join(directory, file)).size, 0);
  };
  expect(bytes()).toBeLessThan(20_000);

  upstream.commit({ 'webhooks/large.yaml': `# ${large(1)}\n` });
  expect(await reconcile()).toMatchObject({
    reason: 'invalid',
    diagnostics: [{ code: 'yaml/too-large', file: 'webhooks/large.yaml' }],
  });
  upstream.commit({ 'webhooks/large.yaml': null, 'webhooks/crm.yaml': webhook('S', '# of the CRM\n') });
  expect(await reconcile()).toMatchObject({ result: 'applied' });
  expect(bytes()).toBeLessThan(40_000);
});

test('takes a definition that its mirror has lost for lost, and not for large', async () => {
  const upstream = makeUpstream();
  upstream.git('config', 'uploadpack.allowFilter', 'true');
  upstream.commit({ 'webhooks/pay.yaml': webhook() });
  const { factory, reconcile } = await followedFactory(`file://${upstream.bare}`);
  await reconcile();
  const directory = join(mirrorDirectory(factory.home, factory.name), 'objects', 'pack');
  const first = readdirSync(directory);
  upstream.commit({ 'webhooks/crm.yaml': webhook('S', 'enabled: false\n') });
  await reconcile();
  for (const file of first) rmSync(join(directory, file));
  const revision = upstream.commit({ 'other.txt': 'more' });
  expect(await reconcile()).toMatchObject({ result: 'applied', tip: { revision } });
});

test('follows a repository in the object format SHA-256, also in place of one in SHA-1, and copies its commits', async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/pay.yaml': webhook() });
  const { factory, reconcile } = await followedFactory(upstream.bare);
  await reconcile();
  rmSync(upstream.bare, { recursive: true });
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: upstream.bare, env: operatorEnvironment, encoding: 'utf8' }).trim();
  mkdirSync(upstream.bare);
  git('init', '--quiet', '--bare', '--object-format=sha256', '--initial-branch=main');
  const commit = (file: string) => {
    const work = join(upstream.bare, '../work');
    writeFileSync(join(work, file), webhook());
    git('--work-tree', work, 'add', '--all');
    const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
    git('--work-tree', work, ...author, 'commit', '--quiet', '--message', file);
    return git('rev-parse', 'HEAD');
  };
  const first = commit('webhooks/build.yaml');
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(await reconcile()).toMatchObject({ result: 'failed', reason: 'rewound' });
  expect(await reconcile({ allowRewind: true })).toMatchObject({
    result: 'applied',
    tip: { revision: first },
  });
  expect(await reconcile()).toMatchObject({ result: 'unchanged', tip: { revision: first } });
  const second = commit('webhooks/ship.yaml');
  expect(await reconcile()).toMatchObject({ result: 'applied', tip: { revision: second } });
  const { webhooks } = await factory.store.appliedStates.read(factory.name);
  expect(webhooks.map(({ name }) => name)).toEqual(['build', 'pay', 'ship']);
  for (const name of [second, 'main']) {
    const copy = temporaryDirectory();
    const options = {
      ...{ repository: repositoryAt(upstream.bare), credential: undefined },
      ...{ environment: operatorEnvironment, signal: new AbortController().signal },
    };
    await fetchWorkingCopy(copy, parseRevisionName(name) ?? { branch: '' }, options);
    execFileSync('git', ['checkout', '--quiet', '--force', 'HEAD'], { cwd: copy, env: operatorEnvironment });
    expect(readdirSync(join(copy, 'webhooks'))).toEqual(['build.yaml', 'pay.yaml', 'ship.yaml']);
  }
});
