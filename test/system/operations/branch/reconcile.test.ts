import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { applyDefinitions } from '../../../../operations/applied/apply.ts';
import { isEdited } from '../../../../operations/applied-source.ts';
import { requestReconcile, suspendReconcile } from '../../../../operations/branch/reconcile.ts';
import type { AppliedState } from '../../../../schema/applied-state.ts';
import { promptBytesMax } from '../../../../schema/definitions/automation-definition.ts';
import { parseDefinitions } from '../../../../sources/parse-definitions.ts';
import type { RecentCommit } from '../../../../store/ports/reconcile-statuses.ts';
import { applyDirectory } from '../../../support/factory.ts';
import {
  followedFactory,
  makeUpstream,
  repositoryAt,
  secret,
  temporaryDirectory,
  webhook,
} from '../../../support/git-samples.ts';
import { madeOnce } from '../../../support/made-once.ts';
import { factoryIn, type TestFactory } from '../../../support/stored.ts';

test('applies the tip of the branch with its commit, and then nothing more', async () => {
  const upstream = makeUpstream();
  const revision = upstream.commit({ 'webhooks/pay.yaml': webhook() }, 'Add \x1b[31mpay');
  const { factory, reconcile } = await followedFactory(upstream.bare);
  const applied = await reconcile();
  expect(applied).toMatchObject({
    result: 'applied',
    tip: { revision, author: 'Ada', subject: 'Add \x1b[31mpay' },
  });
  const state = await factory.store.appliedStates.read(factory.name);
  expect(state).toMatchObject({
    serial: 1,
    source: {
      kind: 'repository',
      repository: upstream.bare,
      branch: 'main',
      path: '',
      revision,
      author: 'Ada',
    },
    webhooks: [{ name: 'pay' }],
  });
  expect(await reconcile()).toMatchObject({ result: 'unchanged', tip: { revision } });
  expect(await factory.store.appliedStates.read(factory.name)).toEqual(state);
  expect(await factory.store.auditLog.list({ limit: 9 })).toMatchObject([
    {
      who: { kind: 'commit', name: revision },
      from: `main of ${upstream.bare}`,
      operation: 'reconcile',
      factory: factory.name,
      subject: 'serial 1: 1 added, 0 changed, 0 destroyed',
    },
  ]);
});

test('applies a change of the branch, but not of another branch', async () => {
  const { upstream, reconcile } = await appliedFactory();
  const checkOut = (branch: string) =>
    writeFileSync(join(upstream.bare, 'HEAD'), `ref: refs/heads/${branch}\n`);
  checkOut('other');
  upstream.commit({ 'webhooks/other.yaml': webhook() });
  expect(await reconcile()).toMatchObject({ result: 'unchanged' });
  checkOut('main');
  const changed = { 'webhooks/other.yaml': null, 'webhooks/pay.yaml': webhook('S', 'enabled: false\n') };
  const revision = upstream.commit(changed);
  expect(await reconcile()).toMatchObject({ result: 'applied', state: { source: { revision } } });
});

test('reads only the path', async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'deploy/webhooks/pay.yaml': webhook(), 'webhooks/broken.yaml': 'authMode: [' });
  const { reconcile } = await followedFactory(upstream.bare);
  const repository = repositoryAt(upstream.bare, 'main', 'deploy');
  expect(await reconcile({}, { repository })).toMatchObject({
    result: 'applied',
    state: { source: { path: 'deploy' }, webhooks: [{ name: 'pay' }] },
  });
});

const promptTrigger = 'triggers: [{ provider: webhook, event: received, filter: { webhook: pay } }]\n';

test('reads the prompt files that automations name, without a work tree', async () => {
  const upstream = makeUpstream();
  upstream.commit({
    'deploy/webhooks/pay.yaml': webhook(),
    'deploy/automations/triage.yaml': `promptFile: prompts/triage.md\n${promptTrigger}`,
    'deploy/automations/again.yaml': `enabled: false\npromptFile: prompts/triage.md\n${promptTrigger}`,
    'deploy/prompts/triage.md': 'Look.\r\nSay why.\n',
    'prompts/triage.md': 'Of another directory.\n',
  });
  const { reconcile } = await followedFactory(upstream.bare);
  const repository = repositoryAt(upstream.bare, 'main', 'deploy');
  const prompt = 'Look.\nSay why.\n';
  expect(await reconcile({}, { repository })).toMatchObject({
    result: 'applied',
    state: {
      automations: [
        { name: 'again', prompt },
        { name: 'triage', prompt },
      ],
    },
  });
  upstream.commit({ 'deploy/prompts/triage.md': 'Look twice.\n' });
  expect(await reconcile({}, { repository })).toMatchObject({
    result: 'applied',
    state: { automations: [{ prompt: 'Look twice.\n' }, { prompt: 'Look twice.\n' }] },
  });
});

test('refuses prompt files that are missing, links, behind links, folders, submodules or too large', async () => {
  const upstream = makeUpstream();
  const automation = (path: string) => `promptFile: ${path}\n${promptTrigger}`;
  upstream.commit({
    'webhooks/pay.yaml': webhook(),
    'automations/behind.yaml': automation('linked/p.md'),
    'automations/fetched.yaml': automation('texts/fetched.md'),
    'automations/folder.yaml': automation('texts/folder.md'),
    'automations/large.yaml': automation('texts/large.md'),
    'automations/link.yaml': automation('texts/link.md'),
    'automations/missing.yaml': automation('texts/missing.md'),
    'automations/sub.yaml': automation('texts/sub.md'),
    'texts/p.md': 'Look.\n',
    'texts/fetched.md': 'x'.repeat(promptBytesMax + 1),
    'texts/folder.md/p.md': 'Look.\n',
    'texts/large.md': 'x'.repeat(1_000_000),
  });
  const blob = (content: string) => upstream.gitWithInput(content, 'hash-object', '-w', '--stdin');
  const lines = [
    `120000 blob ${blob('p.md')}\ttexts/link.md`,
    `120000 blob ${blob('texts')}\tlinked`,
    `160000 commit ${'1'.repeat(40)}\ttexts/sub.md`,
  ];
  upstream.gitWithInput(`${lines.join('\n')}\n`, 'update-index', '--index-info');
  upstream.git('commit', '--quiet', '--message', 'Links');
  const { reconcile } = await followedFactory(upstream.bare);
  const result = await reconcile();
  expect(result).toMatchObject({ result: 'failed', reason: 'invalid' });
  const diagnostics = 'diagnostics' in result ? result.diagnostics : [];
  expect(diagnostics.map(({ code, message }) => `${code} ${message}`)).toEqual([
    'automation/prompt-file linked/p.md is not a regular file, or is behind a link',
    'automation/prompt-file texts/fetched.md is larger than 32 KiB',
    'automation/prompt-file texts/folder.md is not a regular file, or is behind a link',
    'automation/prompt-file texts/large.md is larger than 32 KiB',
    'automation/prompt-file texts/link.md is not a regular file, or is behind a link',
    'automation/prompt-file there is no file texts/missing.md',
    'automation/prompt-file texts/sub.md is not a regular file, or is behind a link',
  ]);
  expect(diagnostics.map(({ range }) => range?.start)).toEqual(Array(7).fill({ line: 1, column: 13 }));
});

test('records the revision of a commit that changes no definition', async () => {
  const { upstream, reconcile } = await appliedFactory();
  const revision = upstream.commit({ 'README.md': 'Hooks' });
  expect(await reconcile()).toMatchObject({ result: 'applied', state: { serial: 2, source: { revision } } });
});

test("uses a team secret's new value with the next change of the branch, and not before", async () => {
  const { upstream, factory, reconcile, applied: before } = await appliedFactory();
  await factory.store.teamSecrets.set('S', 'another-secret-of-thirty-two-char');
  expect(await reconcile()).toMatchObject({ result: 'unchanged' });
  expect(credentialOf(await state(factory))).toEqual(
    credentialOf('state' in before ? before.state : undefined),
  );
  upstream.commit({ 'README.md': 'Rotated' });
  await reconcile();
  expect(credentialOf(await state(factory))).not.toEqual(
    credentialOf('state' in before ? before.state : undefined),
  );
});

test('keeps the last good state at a broken tip, names file, line and commit, and recovers with the fix', async () => {
  const { upstream, factory, reconcile, revision: good } = await appliedFactory();
  upstream.commit({ 'README.md': 'x' });
  const broken = upstream.commit({ 'webhooks/pay.yaml': 'authMode: token\nsecretNam: S\n' }, 'Break it');
  expect(await reconcile()).toMatchObject({ result: 'failed', reason: 'invalid', commitsBehind: 2 });
  expect(await state(factory)).toMatchObject({ serial: 1, source: { revision: good } });
  const status = await factory.store.reconcileStatuses.read(factory.name);
  expect(status).toMatchObject({
    tip: { revision: broken, subject: 'Break it' },
    commitsBehind: 2,
    lastSuccess: { tip: { revision: good } },
    lastFailure: {
      reason: 'invalid',
      tip: { revision: broken },
      diagnostics: expect.arrayContaining([
        expect.objectContaining({
          code: 'definition/unknown-key',
          file: 'webhooks/pay.yaml',
          range: expect.objectContaining({ start: { line: 2, column: 1 } }),
        }),
      ]),
    },
  });
  await reconcile();
  expect((await factory.store.reconcileStatuses.read(factory.name)).failingSince).toBe(status.failingSince);

  const fixed = upstream.commit({ 'webhooks/pay.yaml': webhook() });
  expect(await reconcile()).toMatchObject({ result: 'applied', tip: { revision: fixed } });
  expect(await factory.store.reconcileStatuses.read(factory.name)).toMatchObject({
    failingSince: null,
    commitsBehind: 0,
    lastFailure: { reason: 'invalid' },
  });
});

test('applies nothing while a team secret is missing, and all of it once it is set', async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/pay.yaml': webhook(), 'webhooks/late.yaml': webhook('LATE') });
  const { factory, reconcile } = await followedFactory(upstream.bare);
  expect(await reconcile()).toMatchObject({
    result: 'failed',
    reason: 'invalid',
    diagnostics: [{ code: 'secret/missing', file: 'webhooks/late.yaml' }],
  });
  expect((await state(factory)).serial).toBe(0);
  await factory.store.teamSecrets.set('LATE', 'another-secret-of-thirty-two-char');
  expect(await reconcile()).toMatchObject({ result: 'applied' });
});

test('says that the branch is missing, or the remote is out of reach, and leaves the state', async () => {
  const { upstream, factory, reconcile } = await appliedFactory();
  const before = await state(factory);
  const elsewhere = (url: string, branch?: string) => ({ repository: repositoryAt(url, branch) });
  expect(await reconcile({}, elsewhere(upstream.bare, 'nope'))).toMatchObject({ reason: 'branch-missing' });
  // A ref of another kind that ends like the branch is no such branch.
  upstream.git('update-ref', 'refs/other/refs/heads/nope', 'HEAD');
  expect(await reconcile({}, elsewhere(upstream.bare, 'nope'))).toMatchObject({ reason: 'branch-missing' });
  expect(await reconcile({}, elsewhere('/nonexistent.git'))).toMatchObject({
    reason: 'remote',
    message: expect.stringContaining('/nonexistent.git'),
  });
  expect(await state(factory)).toEqual(before);
  expect(await reconcile()).toMatchObject({ result: 'unchanged' });
});

test('refuses a branch that was forced to another history, until it is allowed', async () => {
  const upstream = makeUpstream();
  const first = upstream.commit({ 'webhooks/pay.yaml': webhook() });
  upstream.commit({ 'webhooks/crm.yaml': webhook() });
  const { factory, reconcile } = await followedFactory(upstream.bare);
  await reconcile();
  const before = await state(factory);

  upstream.git('reset', '--quiet', '--hard', first);
  expect(await reconcile()).toMatchObject({ result: 'failed', reason: 'rewound', tip: { revision: first } });
  const forked = upstream.commit({ 'webhooks/pay.yaml': webhook('S', 'enabled: false\n') });
  expect(await reconcile()).toMatchObject({ result: 'failed', reason: 'rewound', tip: { revision: forked } });
  expect(await state(factory)).toEqual(before);
  expect(await reconcile({ allowRewind: true })).toMatchObject({ result: 'applied' });
  upstream.commit({ 'README.md': 'on' });
  expect(await reconcile()).toMatchObject({ result: 'applied' });
});

test('follows a branch over merges and clocks that disagree', async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'README.md': '1' });
  upstream.git('checkout', '--quiet', '-b', 'side');
  upstream.commit({ 'webhooks/side.yaml': webhook() });
  upstream.git('checkout', '--quiet', 'main');
  upstream.commit({ 'webhooks/pay.yaml': webhook() });
  const { reconcile } = await followedFactory(upstream.bare);
  await reconcile();
  upstream.git('merge', '--quiet', '--no-edit', 'side');
  expect(await reconcile()).toMatchObject({
    result: 'applied',
    state: { webhooks: [{ name: 'pay' }, { name: 'side' }] },
  });

  const yesterday = new Date(Date.now() - 24 * 3600 * 1000);
  const early = upstream.commit({ 'webhooks/crm.yaml': webhook() }, 'Early', yesterday);
  expect(await reconcile()).toMatchObject({ result: 'applied', tip: { revision: early } });
  const late = upstream.commit({ 'README.md': '2' });
  expect(await reconcile()).toMatchObject({ result: 'applied', tip: { revision: late } });
});

test('refuses a tip without definitions, until it is allowed', async () => {
  const { upstream, factory, reconcile } = await appliedFactory();
  upstream.commit({ 'webhooks/pay.yaml': null, 'webhooks/README.md': '' });
  expect(await reconcile()).toMatchObject({ result: 'failed', reason: 'empty' });
  expect((await state(factory)).webhooks).toHaveLength(1);
  expect(await reconcile({ allowEmpty: true })).toMatchObject({ result: 'applied', state: { webhooks: [] } });
  // Nothing is left to destroy.
  upstream.commit({ 'README.md': 'Nothing yet' });
  expect(await reconcile()).toMatchObject({ result: 'applied' });
});

test('refuses a tip that hides the definition of a webhook, instead of destroying it', async () => {
  const { upstream, factory, reconcile } = await appliedFactory();
  upstream.commit({ 'webhooks/crm.yaml': webhook() });
  expect(await reconcile()).toMatchObject({ result: 'applied' });
  const before = await state(factory);
  const hidden = [
    ...['webhooks/team/pay.yaml', 'webhooks/pay.yaml.disabled', 'webhooks/pay.json', 'webhooks/pay.txt'],
    ...['webhooks/pay.yaml~', 'webhooks/.crm.yaml.swp', 'webhook/pay.yaml', 'webhooks/.idea/pay'],
    ...['automations/pay.md', 'automations/x.fixtures/pay.md', 'Webhooks/pay.yaml'],
  ];
  for (const path of hidden) {
    const directory = temporaryDirectory();
    for (const file of ['webhooks/crm.yaml', path]) {
      mkdirSync(dirname(join(directory, file)), { recursive: true });
      writeFileSync(join(directory, file), webhook());
    }
    const result = await applyDirectory(factory, directory);
    expect({ path, ...result }).toMatchObject({ path, result: 'invalid' });
    const [folder = '', name] = path.split('/');
    const isFolder = folder === 'Webhooks' || name === 'team';
    const file = isFolder ? dirname(path) : path;
    expect(result.diagnostics).toContainEqual(expect.objectContaining({ file, severity: 'error' }));
  }
  upstream.commit({ 'webhooks/pay.yaml': null, 'webhooks/team/pay.yaml': webhook() });
  expect(await reconcile({ allowEmpty: true })).toMatchObject({ result: 'failed', reason: 'invalid' });
  // Beside their definitions, the same copies stay without a word.
  upstream.commit({
    'webhooks/pay.yaml': webhook(),
    'webhooks/team/pay.yaml': null,
    'webhooks/pay.yaml~': webhook(),
    'webhooks/.crm.yaml.swp': webhook(),
    'webhooks/README.md': '',
  });
  expect(await reconcile()).toMatchObject({ result: 'applied', diagnostics: [] });
  expect((await state(factory)).webhooks).toEqual(before.webhooks);
});

test('applies deletions without asking', async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/pay.yaml': webhook(), 'webhooks/crm.yaml': webhook() });
  const { reconcile } = await followedFactory(upstream.bare);
  await reconcile();
  upstream.commit({ 'webhooks/crm.yaml': null });
  expect(await reconcile()).toMatchObject({ result: 'applied', state: { webhooks: [{ name: 'pay' }] } });
});

test('refuses a renamed webhook, whose URL would move, until it is allowed', async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/pay.yaml': webhook(), 'webhooks/crm.yaml': webhook() });
  const { factory, reconcile } = await followedFactory(upstream.bare);
  await reconcile();
  const before = await state(factory);
  upstream.commit({ 'webhooks/pay.yaml': null, 'webhooks/payments.yaml': webhook('S', 'enabled: true\n') });
  expect(await reconcile()).toMatchObject({
    result: 'failed',
    reason: 'renamed',
    diagnostics: [
      { code: 'webhook/renamed', file: 'webhooks/payments.yaml', message: expect.stringContaining('pay ') },
    ],
  });
  expect(await state(factory)).toEqual(before);
  const after = await reconcile({ allowRename: true });
  expect(after).toMatchObject({
    result: 'applied',
    state: { webhooks: [{ name: 'crm' }, { name: 'payments' }] },
  });
});

test('a revert brings back the URL of a webhook, of a renamed one too, unless it is to have a new one', async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/pay.yaml': webhook(), 'webhooks/crm.yaml': webhook() });
  const { factory, reconcile } = await followedFactory(upstream.bare);
  await reconcile();
  const { webhooks } = await state(factory);
  for (const renamed of [false, true]) {
    upstream.commit({ 'webhooks/pay.yaml': null, ...(renamed && { 'webhooks/payments.yaml': webhook() }) });
    await reconcile({ allowRename: true });
    upstream.commit({ 'webhooks/pay.yaml': webhook(), ...(renamed && { 'webhooks/payments.yaml': null }) });
    expect(await reconcile()).toMatchObject({ result: 'applied', state: { webhooks } });
  }
  await expect(reconcile({ newUids: ['pay'] })).rejects.toMatchObject({ code: 'request-invalid' });
  upstream.commit({ 'webhooks/pay.yaml': null });
  await reconcile();
  upstream.commit({ 'webhooks/pay.yaml': webhook() });
  await reconcile({ newUids: ['pay'] });
  const uid = async () => (await state(factory)).webhooks.find(({ name }) => name === 'pay')?.uid;
  expect(await uid()).toMatch(/^wh_/);
  expect(webhooks.map(({ uid }) => uid)).not.toContain(await uid());
});

test('takes no webhook for a renamed one because its file is similar', async () => {
  const upstream = makeUpstream();
  const text = (scheme: string, secretName: string) =>
    `# Who may deliver here is in the wiki; ask the platform team before you change it.\nenabled: true\nauthMode: signature\nsignatureScheme: ${scheme}\nsecretName: ${secretName}\n`;
  upstream.commit({ 'webhooks/chat.yaml': text('slack', 'S'), 'webhooks/pay.yaml': text('stripe', 'P') });
  const { reconcile } = await followedFactory(upstream.bare, { S: secret, G: secret, P: secret, Q: secret });
  await reconcile();
  upstream.commit({ 'webhooks/chat.yaml': null, 'webhooks/code.yaml': text('gitea', 'G') });
  expect(await reconcile()).toMatchObject({ result: 'applied' });
  upstream.commit({ 'webhooks/pay.yaml': null, 'webhooks/buy.yaml': text('stripe', 'Q') });
  expect(await reconcile()).toMatchObject({ result: 'applied' });
});

test('finds renamed webhooks of one team secret, each with the one of the same content first', async () => {
  const upstream = makeUpstream();
  const quiet = webhook('S', 'enabled: false\n');
  upstream.commit({ 'webhooks/crm.yaml': quiet, 'webhooks/pay.yaml': webhook() });
  const { reconcile } = await followedFactory(upstream.bare);
  await reconcile();
  upstream.commit({ 'webhooks/crm.yaml': null, 'webhooks/pay.yaml': null });
  // Hardly a line of the files is the same.
  upstream.commit({
    'webhooks/a.yaml': '# Orders.\n\nsecretName: S\n# Its senders are told by mail.\nauthMode: token\n',
    'webhooks/b.yaml': quiet,
  });
  const about = (from: string, to: string) => ({
    code: 'webhook/renamed',
    message: expect.stringContaining(`renames the webhook ${from} to ${to} is refused`),
  });
  expect(await reconcile()).toMatchObject({
    result: 'failed',
    reason: 'renamed',
    diagnostics: [about('crm', 'b'), about('pay', 'a')],
  });
});

test('keeps the URLs when the definitions move to another folder with the path', async () => {
  const { upstream, factory, reconcile } = await appliedFactory();
  const before = await state(factory);
  upstream.commit({ 'webhooks/pay.yaml': null, 'deploy/webhooks/pay.yaml': webhook() });
  await reconcile({}, { repository: repositoryAt(upstream.bare, 'main', 'deploy') });
  expect((await state(factory)).webhooks).toEqual(before.webhooks);
});

test('reverts edits by hand and applies from elsewhere', async () => {
  const { factory, reconcile } = await appliedFactory();
  expect(isEdited(await state(factory))).toBe(false);

  await factory.store.appliedStates.change(factory.name, async edited => ({
    next: { ...edited, webhooks: edited.webhooks.map(one => ({ ...one, enabled: false })) },
    result: undefined,
  }));
  expect(isEdited(await state(factory))).toBe(true);
  expect(await reconcile()).toMatchObject({ result: 'applied', state: { webhooks: [{ enabled: true }] } });
  expect(isEdited(await state(factory))).toBe(false);

  const source = { kind: 'directory' as const, directory: '/work' };
  await applyDefinitions(factory, parseDefinitions({ files: [], diagnostics: [] }), source, async () => true);
  expect(await reconcile()).toMatchObject({ result: 'applied', state: { webhooks: [{ name: 'pay' }] } });
});

test('applies another use of a team secret, unless it concerns another factory', async () => {
  const upstream = makeUpstream();
  const { factory, reconcile } = await followedFactory(upstream.bare, { S: secret, T: secret });
  const other = factoryIn(factory.home, 'other');
  const theirs = join(temporaryDirectory(), 'webhooks');
  mkdirSync(theirs);
  writeFileSync(join(theirs, 'hidden.yaml'), webhook('T'));
  await applyDirectory(other, dirname(theirs));

  upstream.commit({ 'webhooks/pay.yaml': webhook(), 'webhooks/orders.yaml': urlToken('S') });
  expect(await reconcile()).toMatchObject({
    result: 'applied',
    diagnostics: [{ code: 'secret/shared-by-schemes', severity: 'warning' }, {}],
  });
  upstream.commit({ 'webhooks/more.yaml': urlToken('T') });
  expect(await reconcile()).toMatchObject({
    result: 'failed',
    reason: 'invalid',
    diagnostics: [
      { code: 'secret/shared-by-schemes', severity: 'error', file: 'webhooks/more.yaml', range: {} },
    ],
  });
  expect((await state(factory)).webhooks.map(({ name }) => name)).toEqual(['orders', 'pay']);
  upstream.commit({ 'webhooks/more.yaml': webhook('T') });
  expect(await reconcile()).toMatchObject({ result: 'applied' });
});

const urlToken = (secretName: string) => `authMode: url_token\nsecretName: ${secretName}\n`;

test('does nothing while it is suspended', async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/pay.yaml': webhook() });
  const { factory, reconcile } = await followedFactory(upstream.bare);
  await expect(suspendReconcile(factory, true)).rejects.toMatchObject({ code: 'repository-missing' });
  await expect(requestReconcile(factory)).rejects.toMatchObject({ code: 'repository-missing' });
  await reconcile();
  const { suspendedAt } = await suspendReconcile(factory, true);
  expect(await suspendReconcile(factory, true)).toEqual({ suspendedAt, isNew: false });
  await expect(requestReconcile(factory)).rejects.toMatchObject({ code: 'reconcile-suspended' });
  upstream.commit({ 'webhooks/more.yaml': webhook() });
  expect(await reconcile()).toMatchObject({ result: 'suspended' });
  expect((await state(factory)).serial).toBe(1);
  expect(await suspendReconcile(factory, false)).toEqual({ suspendedAt: null, isNew: true });
  expect(await reconcile()).toMatchObject({ result: 'applied' });
});

test('answers a request for a look with the next end, also a failed one, and no request that came meanwhile', async () => {
  const { factory, reconcile } = await appliedFactory();
  const { reconcileStatuses } = factory.store;
  const readAsked = async () => (await reconcileStatuses.read(factory.name)).askedAt;
  const asked = await requestReconcile(factory);
  expect(await readAsked()).toBe(asked);
  expect(await reconcile({}, { repository: repositoryAt('/nonexistent') })).toMatchObject({
    result: 'failed',
  });
  expect(await readAsked()).toBeNull();
  await requestReconcile(factory);
  const later = '2099-01-01T00:00:00.000Z';
  let isLate = false;
  const onProgress = ({ step }: { readonly step: string }) => {
    if (step !== 'look' || isLate) return;
    isLate = true;
    asking = reconcileStatuses.change(factory.name, status => ({ ...status, askedAt: later }));
  };
  let asking: Promise<unknown> | undefined;
  await reconcile({ onProgress });
  await asking;
  expect(await readAsked()).toBe(later);
});

test('remembers the last ten commits that were applied or refused, each once, the newest first', async () => {
  const upstream = makeUpstream();
  const first = upstream.commit({ 'webhooks/pay.yaml': webhook() }, 'Add pay');
  const { factory, reconcile } = await followedFactory(upstream.bare);
  const recent = async () => (await factory.store.reconcileStatuses.read(factory.name)).recent;
  await reconcile();
  const [applied] = await recent();
  expect(applied).toEqual({
    commit: expect.objectContaining({ revision: first, subject: 'Add pay', author: 'Ada' }),
    at: expect.any(String),
    result: 'applied',
    summary: { add: 1, change: 0, destroy: 0 },
    reason: null,
    errors: 0,
  });
  await reconcile();
  await reconcile({}, { repository: repositoryAt('/nonexistent') });
  expect(await recent()).toEqual([applied]);

  const broken = upstream.commit({ 'webhooks/pay.yaml': webhook('MISSING') }, 'Use MISSING');
  await reconcile();
  const [refused] = await recent();
  expect(refused).toMatchObject({ commit: { revision: broken }, result: 'refused', reason: 'invalid' });
  expect(refused).toMatchObject({ errors: 1, summary: null });
  await reconcile();
  expect(await recent()).toEqual([refused, applied]);
  await factory.store.teamSecrets.set('MISSING', secret, factory.name);
  await reconcile();
  expect(await recent()).toMatchObject([
    { commit: { revision: broken }, result: 'applied', summary: { add: 0, change: 1, destroy: 0 } },
    { commit: { revision: first } },
  ]);
  const older = Array.from({ length: 8 }, (_, index) => ({
    ...(applied as RecentCommit),
    commit: { ...(applied as RecentCommit).commit, revision: `${index}`.repeat(40), subject: `${index}` },
  }));
  await factory.store.reconcileStatuses.change(factory.name, status => ({
    ...status,
    recent: [...status.recent, ...older],
  }));
  upstream.commit({ 'README.md': '1' }, 'Write');
  await reconcile();
  const subjects = (await recent()).map(({ commit }) => commit.subject);
  expect(subjects).toEqual(['Write', 'Use MISSING', 'Add pay', '0', '1', '2', '3', '4', '5', '6']);
});

test('takes what was applied before it remembered commits for unchanged', async () => {
  const { factory, reconcile } = await appliedFactory();
  const { reconcileStatuses } = factory.store;
  await reconcileStatuses.change(factory.name, status => ({ ...status, recent: [] }));
  await reconcile();
  await reconcile();
  const { recent } = await reconcileStatuses.read(factory.name);
  expect(recent).toMatchObject([{ result: 'unchanged', summary: null, errors: 0 }]);
});

const place = mkdtempSync(join(tmpdir(), 'hookmill-git-'));
const madeApplied = madeOnce(place, async () => {
  const upstream = makeUpstream(place);
  const revision = upstream.commit({ 'webhooks/pay.yaml': webhook() });
  // Git's index then has the commit too, whatever the tests before have done.
  upstream.git('status');
  const { reconcile } = await followedFactory(upstream.bare, undefined, join(place, 'home'));
  return { upstream, revision, applied: await reconcile() };
});

/** A factory that has applied the branch's only commit, which has one webhook. */
async function appliedFactory() {
  const made = await madeApplied();
  return { ...made, ...(await followedFactory(made.upstream.bare, {}, join(place, 'home'))) };
}

function state({ name, store }: TestFactory) {
  return store.appliedStates.read(name);
}

function credentialOf(state: AppliedState | undefined) {
  return state?.webhooks[0]?.credential;
}
