import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { definitionBytesMax } from '../../../../schema/definitions/yaml-source.ts';
import { mirrorDirectory } from '../../../../store/home/home.ts';
import {
  followedFactory,
  makeUpstream,
  temporaryDirectory,
  type Upstream,
  webhook,
} from '../../../support/git-samples.ts';

const oneCommit = '1'.repeat(40);

test('reads a repository full of traps, runs none, and reports each', async () => {
  const upstream = makeUpstream();
  const directory = temporaryDirectory();
  const canary = join(directory, 'canary');
  const run = `touch ${canary}`;
  upstream.commit({
    '.gitattributes': '* filter=evil diff=evil\n*.yaml filter=lfs\n',
    '.gitmodules': `[submodule "x"]\n\tpath = webhooks/sub.yaml\n\turl = ../x\n\tupdate = none\n`,
    'hooks/post-checkout': `#!/bin/sh\n${run}\n`,
    config: `[core]\n\tfsmonitor = "${run}"\n[filter "evil"]\n\tsmudge = "${run}"\n`,
    'webhooks/pay.yaml': webhook(),
    'webhooks/large.yaml': `# ${'x'.repeat(2 * 1024 * 1024)}\n`,
    'webhooks/lfs.yaml': 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n',
    'webhooks/Upper.yaml': webhook(),
    'webhooks/.hidden.yaml': 'not looked at',
    'automations/triage.fixtures/a.json': '{}',
  });
  const blob = (content: string) => hashObject(upstream, content);
  const tree: readonly string[] = [
    `120000 blob ${blob('/etc/passwd')}\twebhooks/absolute.yaml`,
    `120000 blob ${blob('../../../../etc/passwd')}\twebhooks/outside.yaml`,
    `160000 commit ${oneCommit}\twebhooks/sub.yaml`,
    `100644 blob ${blob('x')}\twebhooks/new\nline.yaml`,
    `100644 blob ${blob('x')}\twebhooks/\x1b[31mred.yaml`,
    `100644 blob ${blob('x')}\twebhooks/-x.yaml`,
    `100644 blob ${blob('x')}\twebhooks/folder.yaml/inner.yaml`,
    `120000 blob ${blob('/etc')}\tautomations/linked.yaml`,
  ];
  addToIndex(upstream, tree, Buffer.from('webhooks/\xff\xfe.yaml', 'latin1'), blob('x'));
  upstream.git('commit', '--quiet', '--message', 'Traps \x1b]0;title\x07');
  upstream.git('update-ref', 'refs/heads/-x', 'HEAD');

  const { factory, reconcile } = await followedFactory(upstream.bare);
  const result = await reconcile();
  expect(result).toMatchObject({ result: 'failed', reason: 'invalid' });
  const found = 'diagnostics' in result ? result.diagnostics.map(({ code, file }) => `${code} ${file}`) : [];
  expect(found).toEqual([
    'definition/not-regular-file automations/linked.yaml',
    'definition/file-name webhooks/\x1b[31mred.yaml',
    'definition/file-name webhooks/-x.yaml',
    'definition/file-name webhooks/.hidden.yaml',
    'definition/file-name webhooks/Upper.yaml',
    'definition/not-regular-file webhooks/absolute.yaml',
    'definition/not-regular-file webhooks/folder.yaml',
    'yaml/too-large webhooks/large.yaml',
    expect.stringMatching(/^[a-z-]+\/[a-z-]+ webhooks\/lfs.yaml$/),
    'definition/file-name webhooks/new\nline.yaml',
    'definition/not-regular-file webhooks/outside.yaml',
    'definition/not-regular-file webhooks/sub.yaml',
    'definition/file-name webhooks/\ufffd\ufffd.yaml',
  ]);
  expect((await factory.store.appliedStates.read(factory.name)).serial).toBe(0);
  expect(existsSync(canary)).toBe(false);
  const mirror = mirrorDirectory(factory.home, factory.name);
  expect(['hooks', 'modules', 'index'].filter(name => existsSync(join(mirror, name)))).toEqual([]);
});

test('takes a folder of definitions that is a link for a mistake, not for an empty folder', async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/pay.yaml': webhook() });
  const { factory, reconcile } = await followedFactory(upstream.bare);
  await reconcile();
  upstream.commit({ 'webhooks/pay.yaml': null });
  addToIndex(upstream, [`120000 blob ${hashObject(upstream, '/etc')}\twebhooks`]);
  upstream.git('commit', '--quiet', '--message', 'Link');
  expect(await reconcile({ allowEmpty: true })).toMatchObject({
    result: 'failed',
    diagnostics: [{ code: 'definition/not-regular-file', file: 'webhooks' }],
  });
  expect((await factory.store.appliedStates.read(factory.name)).webhooks).toHaveLength(1);
});

test('reads a definition of the largest size that is allowed, byte for byte', async () => {
  const upstream = makeUpstream();
  const comment = (bytes: number) => `#${'é'.repeat((bytes - 2) / 2)}\n`;
  upstream.commit({ 'webhooks/pay.yaml': `${webhook()}${comment(definitionBytesMax - webhook().length)}` });
  const { reconcile } = await followedFactory(upstream.bare);
  expect(await reconcile()).toMatchObject({ result: 'applied', state: { webhooks: [{ name: 'pay' }] } });
});

test('refuses objects that are malformed', async () => {
  const upstream = makeUpstream();
  const tree = hashObject(
    upstream,
    Buffer.concat([Buffer.from('40000 .git\0'), Buffer.from(hashObject(upstream, '', 'tree'), 'hex')]),
    'tree',
  );
  const commit = upstream.git('commit-tree', '-m', 'x', tree);
  upstream.git('update-ref', 'refs/heads/main', commit);
  const { reconcile } = await followedFactory(upstream.bare);
  expect(await reconcile()).toMatchObject({
    result: 'failed',
    reason: 'remote',
    message: expect.stringMatching(/fsck/),
  });
});

function hashObject(upstream: Upstream, content: string | Buffer, type = 'blob'): string {
  return upstream.gitWithInput(content, 'hash-object', '-w', '--literally', '-t', type, '--stdin');
}

/** Adds entries that no file system would have. */
function addToIndex(upstream: Upstream, entries: readonly string[], name?: Buffer, oid = ''): void {
  const more = name ? [Buffer.from(`100644 blob ${oid}\t`), name, Buffer.from('\0')] : [];
  const input = Buffer.concat([Buffer.from(entries.map(entry => `${entry}\0`).join('')), ...more]);
  upstream.gitWithInput(input, 'update-index', '-z', '--index-info');
}
