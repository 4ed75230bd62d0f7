import { relative } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../../support/eventually.ts';
import { makeUpstream, secret, type Upstream, webhook } from '../../../support/git-samples.ts';
import { startWebhookDaemon, switchWebhook } from '../../../support/webhook-daemon.ts';
import { makeWorkspace, type Workspace } from '../../../support/workspace.ts';

/** A repository with one webhook, and a work tree elsewhere whose home has its team secret. */
async function followedWorkspace(): Promise<{ upstream: Upstream; workspace: Workspace; revision: string }> {
  const upstream = makeUpstream();
  const revision = upstream.commit({ 'webhooks/push.yaml': webhook() }, 'Add push');
  const workspace = makeWorkspace();
  await workspace.hookmill('secrets', 'set', 'S', { stdin: secret });
  return { upstream, workspace, revision };
}

async function json(workspace: Workspace, ...words: string[]) {
  return JSON.parse((await workspace.hookmill(...words, '-o', 'json')).stdout);
}

/** Revisions, times, UIDs and temporary paths under names. */
function named(text: string, { upstream, workspace }: { upstream: Upstream; workspace: Workspace }): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(upstream.bare, 'UPSTREAM')
    .replaceAll(workspace.directory, 'WORK')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\b[0-9a-f]{7}\b/g, 'COMMIT');
}

/** On a terminal of its own, as far as the command can tell. */
const onTerminal = ['sh', '-c', 'exec script --quiet --return --command "$*" /dev/null', 'sh'];

test('applies the tip once, remembers its repository, and is quiet where nothing is new', async () => {
  const { upstream, workspace, revision } = await followedWorkspace();
  const applied = await workspace.hookmill('reconcile', '--once', '--repository', upstream.bare);
  expect(applied).toMatchObject({
    exitCode: 0,
    stdout: '',
    stderr: '✔ applied as serial 1: 1 added, 0 changed, 0 destroyed\n',
  });
  expect(await workspace.hookmill('reconcile', '--once')).toMatchObject({
    exitCode: 0,
    stdout: '',
    stderr: '',
  });
  expect(await json(workspace, 'reconcile', '--once')).toMatchObject({
    factory: 'default',
    result: 'unchanged',
    serial: 1,
    tip: { revision, author: 'Ada', subject: 'Add push' },
    changes: [],
  });
});

test('prints each step to a terminal', async () => {
  const { upstream, workspace } = await followedWorkspace();
  const once = async () => {
    const words = ['reconcile', '--once', '--repository', upstream.bare];
    const { stdout, exitCode } = await workspace.hookmill(...words, { through: onTerminal });
    return { exitCode, screen: named(stdout, { upstream, workspace }) };
  };
  await workspace.hookmill('reconcile', '--once', '--repository', upstream.bare);
  expect((await once()).screen).toBe('► checking main of UPSTREAM\n✔ up to date\n');
  upstream.commit({ 'webhooks/push.yaml': 'authMode: tokn\nsecretName: S\n' }, 'Break \x1b]0;push');
  expect(await once()).toEqual({
    exitCode: 1,
    screen: `\
► checking main of UPSTREAM
► fetching COMMIT
► applying COMMIT "Break \\x1b]0;push" (Ada)
webhooks/push.yaml:1:11: error: authMode cannot be "tokn" [definition/value]
  1 | authMode: tokn
    |           ^^^^
  hint: did you mean token?
✗ the definitions at the tip have errors (at COMMIT "Break \\x1b]0;push" (Ada))
`,
  });
});

test('status shows a broken tip with file, line and commit, which why names too, and that the fix was applied', async () => {
  const { upstream, workspace, revision } = await followedWorkspace();
  await workspace.hookmill('reconcile', '--once', '--repository', upstream.bare);
  const broken = upstream.commit({ 'webhooks/push.yaml': 'authMode: tokn\nsecretName: S\n' }, 'Break push');
  const failed = await workspace.hookmill('reconcile', '--once');
  expect(failed).toMatchObject({ exitCode: 1, stdout: '' });

  const { stdout } = await workspace.hookmill('status');
  expect(named(stdout, { upstream, workspace })).toBe(`\
factory        default
applied        serial 1, TIME
webhooks       1
automations    0
follows        main of UPSTREAM
revision       COMMIT "Add push" (Ada)
tip            COMMIT "Break push" (Ada), 1 commit ahead
last success   TIME
failing since  TIME
daemon         none has run with this home; start one with \`hookmill serve\`

✗ the definitions at the tip have errors (at COMMIT "Break push" (Ada))
webhooks/push.yaml:1:11: error: authMode cannot be "tokn" [definition/value]
  hint: did you mean token?
`);
  expect(await json(workspace, 'status')).toMatchObject({
    factory: 'default',
    serial: 1,
    source: { kind: 'repository', repository: upstream.bare, branch: 'main', path: '', revision },
    revision,
    tip: broken,
    upToDate: false,
    drift: null,
    commitsBehind: 1,
    failingSince: expect.any(String),
    suspendedAt: null,
    lastSuccess: { tip: { revision } },
    lastFailure: { reason: 'invalid', tip: { revision: broken } },
    lastReconcile: {
      ok: false,
      revision: broken,
      diagnostics: [{ file: 'webhooks/push.yaml', range: { start: { line: 1, column: 11 } } }],
    },
  });

  await workspace.hookmill('reconcile', 'suspend');
  const { stderr: unknown } = await workspace.hookmill('why', 'orders');
  expect(unknown).toMatch(
    /has no webhook orders;.* the branch is suspended since \d{4}.*`hookmill.* reconcile resume`/,
  );
  expect(unknown).toMatch(
    /its newest commit is not applied: the definitions at the tip have errors.*hookmill.* status/,
  );
  await workspace.hookmill('reconcile', 'resume');

  const fixed = upstream.commit({ 'webhooks/push.yaml': webhook('S', 'enabled: false\n') });
  expect(await workspace.hookmill('reconcile', '--once')).toMatchObject({ exitCode: 0 });
  expect(await json(workspace, 'status')).toMatchObject({
    revision: fixed,
    tip: fixed,
    upToDate: true,
    commitsBehind: 0,
    failingSince: null,
    lastReconcile: { ok: true, revision: fixed, diagnostics: [] },
  });
});

test('takes the repository from variables and from the configuration file, flags first', async () => {
  const { upstream, workspace } = await followedWorkspace();
  upstream.git('branch', 'staging');
  const tipOf = async (...words: Parameters<Workspace['hookmill']>) => {
    const { stdout, stderr } = await workspace.hookmill('reconcile', '--once', '-o', 'json', ...words);
    return stderr.includes('✗') ? JSON.parse(stdout).message : JSON.parse(stdout).result;
  };
  // A path without a colon is taken from where the command runs.
  const relativePath = relative(workspace.directory, upstream.bare);
  const env = { HOOKMILL_REPOSITORY: relativePath, HOOKMILL_BRANCH: 'staging' };
  expect(await tipOf({ env })).toBe('applied');
  expect(await json(workspace, 'status')).toMatchObject({
    followed: { repository: upstream.bare, branch: 'staging' },
  });
  expect(await tipOf('--branch', 'none', { env })).toBe('the repository has no branch none');
  const entry = { repository: upstream.bare, branch: 'main', interval: '1m' };
  workspace.write('daemon.yaml', JSON.stringify({ port: 0, repositories: [entry] }));
  expect(await tipOf('--config', 'daemon.yaml')).toBe('applied');
  expect(await tipOf('--config', 'daemon.yaml', '--path', 'deploy')).toMatch(
    /^there are no definitions in deploy\/webhooks\//,
  );
});

test.each([
  [[], 'the factory default has no repository; use --repository, HOOKMILL_REPOSITORY, or'],
  [['--branch', 'main'], '--repository: the key "repository" is missing'],
  [['--repository', '/r', '--branch', '-x'], '--branch: invalid branch name; '],
  [['--repository', '/r', '--path', '../up'], '--path: invalid path; '],
  [
    ['--repository', 'https://u:p@host/r'],
    '--repository: the URL contains a credential; store it as a team secret',
  ],
  [
    ['--repository', '/r', '--interval', '0s'],
    '--interval: invalid interval "0s"; write a time from 1s to 24h',
  ],
  [
    ['--repository', '/r', '--credential-secret', 'S'],
    '--credential-secret: credentials are sent only over HTTPS',
  ],
  [
    ['--repository', '/r', '--allow-empty'],
    '--allow-empty, --allow-rename and --allow-rewind require --once',
  ],
])('says what is wrong with %j', async (words, message) => {
  const { exitCode, stdout, stderr } = await makeWorkspace().hookmill('reconcile', ...words);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(`hookmill: ${message}`);
});

test('suspended, nothing is applied until it is resumed', async () => {
  const { upstream, workspace } = await followedWorkspace();
  expect(await workspace.hookmill('reconcile', 'suspend')).toMatchObject({ exitCode: 1 });
  await workspace.hookmill('reconcile', '--once', '--repository', upstream.bare);
  expect(await workspace.hookmill('reconcile', 'suspend')).toMatchObject({ exitCode: 0 });
  const entries = await json(workspace, 'audit');
  expect(entries[0]).toMatchObject({ operation: 'suspendReconcile' });
  expect(await workspace.hookmill('reconcile', 'suspend')).toMatchObject({ exitCode: 0 });
  expect(await json(workspace, 'audit')).toEqual(entries);
  upstream.commit({ 'webhooks/pay.yaml': webhook('S', 'enabled: false\n') });
  for (const words of [['reconcile', '--once'], ['apply']]) {
    const { exitCode, stderr } = await workspace.hookmill(...words);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /nothing was applied: reconciling has been suspended since \S+Z; run `hookmill reconcile resume`/,
    );
  }
  expect(await json(workspace, 'status')).toMatchObject({ serial: 1, suspendedAt: expect.any(String) });
  await workspace.hookmill('reconcile', 'resume');
  expect(await workspace.hookmill('reconcile', '--once')).toMatchObject({ exitCode: 0 });
  expect(await json(workspace, 'status')).toMatchObject({ serial: 2, suspendedAt: null });
});

test('without --once it follows the branch until a signal', async () => {
  const { upstream, workspace } = await followedWorkspace();
  const loop = workspace.start(['reconcile', '--repository', upstream.bare, '--interval', '1s']);
  const serial = async () => (await json(workspace, 'status')).serial;
  await eventually(async () => (await serial()) === 1);
  upstream.commit({ 'webhooks/pay.yaml': webhook('S', 'enabled: false\n') });
  await eventually(async () => (await serial()) === 2);
  loop.kill('SIGTERM');
  expect(await loop).toMatchObject({ exitCode: 0 });
});

test('apply reconciles to the branch and ignores the work tree; plan compares the work tree', async () => {
  const { upstream, workspace } = await followedWorkspace();
  await workspace.hookmill('reconcile', '--once', '--repository', upstream.bare);
  workspace.write('webhooks/push.yaml', webhook());
  workspace.write('webhooks/local.yaml', webhook());
  upstream.commit({ 'webhooks/pay.yaml': webhook('S', 'enabled: false\n') });

  const planned = await workspace.hookmill('plan');
  expect(planned.stdout).toMatch(/^\+ webhook local\n/);
  expect(planned.stdout).toContain('Plan: 1 to add, 0 to change, 0 to destroy.');
  expect(planned.stderr).toContain(`follows main of ${upstream.bare}: this is what merging the work tree`);

  const applied = await workspace.hookmill('apply');
  expect(applied.exitCode).toBe(0);
  expect(applied.stderr).toContain(`follows main of ${upstream.bare}: the work tree is ignored.\n`);
  expect(applied.stdout).toMatch(/^\+ webhook pay\n/);
  const names = async () =>
    (await json(workspace, 'webhooks', 'list')).map(({ name }: { name: string }) => name);
  expect(await names()).toEqual(['pay', 'push']);
  expect(await workspace.hookmill('apply', '--dry-run')).toMatchObject({ exitCode: 2, stdout: '' });
  expect((await workspace.hookmill('apply')).stdout).toBe('main has no new commit.\n');
});

test('apply without a new commit says what was changed by hand since, which plan shows as a change', async () => {
  const { upstream, workspace } = await followedWorkspace();
  await workspace.hookmill('reconcile', '--once', '--repository', upstream.bare);
  workspace.write('webhooks/push.yaml', webhook());
  const daemon = await startWebhookDaemon({ workspace });
  const { stdout: manager } = await workspace.hookmill('tokens', 'create', 'alice', '--permission', 'manage');
  const [{ uid }] = await json(workspace, 'webhooks', 'list');
  await switchWebhook(daemon, manager.trim(), uid, false);
  expect((await workspace.hookmill('plan')).stdout).toContain('~ enabled: false → true');
  expect((await workspace.hookmill('apply')).stdout).toBe(
    'main has no new commit; changed by hand since: push was disabled. The next commit undoes that.\n',
  );
});

test('says what the changes of a branch mean for senders, and webhooks show their commit with its text escaped', async () => {
  const { upstream, workspace } = await followedWorkspace();
  await workspace.hookmill('reconcile', '--once', '--repository', upstream.bare);
  const off = { 'webhooks/push.yaml': webhook('S', 'enabled: false\n') };
  const revision = upstream.commit(off, 'Clear \x1b[2J');
  expect((await workspace.hookmill('apply')).stdout).toContain(`\
~ webhook push
    ~ enabled: true → false
    ! its URL answers 404 until it is enabled again
    ! no accepted delivery in the log
`);
  expect(await json(workspace, 'webhooks', 'show', 'push')).toMatchObject({
    commit: { revision, author: 'Ada', subject: 'Clear \x1b[2J' },
  });
  const { stdout } = await workspace.hookmill('webhooks', 'show', 'push');
  expect(stdout).toContain(`${revision.slice(0, 7)} "Clear \\x1b[2J" (Ada)`);
  upstream.commit({ 'webhooks/push.yaml': webhook() });
  expect(await json(workspace, 'reconcile', '--once')).toMatchObject({
    result: 'applied',
    changes: [{ fields: [{ path: 'enabled' }], impact: { effects: ['enabled'] } }],
  });
});

test('apply --adopt applies the work tree: for good, or while reconciling is suspended', async () => {
  const { upstream, workspace } = await followedWorkspace();
  const once = () => workspace.hookmill('reconcile', '--once', '--repository', upstream.bare);
  await once();
  workspace.write('webhooks/push.yaml', webhook('S', 'enabled: false\n'));
  await workspace.hookmill('reconcile', 'suspend');
  expect(await workspace.hookmill('apply', '--adopt')).toMatchObject({ exitCode: 0 });
  expect(await json(workspace, 'status')).toMatchObject({ upToDate: false, drift: 'work-tree' });
  await workspace.hookmill('reconcile', 'resume');
  expect((await once()).stderr).toBe('✔ applied as serial 3: 0 added, 1 changed, 0 destroyed\n');
  expect(await json(workspace, 'status')).toMatchObject({ upToDate: true, drift: null });

  workspace.write('webhooks/push.yaml', webhook());
  expect(await workspace.hookmill('apply', '--adopt')).toMatchObject({ exitCode: 0 });
  expect(await json(workspace, 'status')).toMatchObject({ source: { kind: 'directory' }, upToDate: true });
  workspace.write('webhooks/local.yaml', webhook());
  expect((await workspace.hookmill('apply')).stdout).toMatch(/^\+ webhook local\n/);
});

test('reports that someone edited the applied state by hand, and reverts it', async () => {
  const { upstream, workspace } = await followedWorkspace();
  await workspace.hookmill('reconcile', '--once', '--repository', upstream.bare);
  const file = '.hookmill/applied/default.json';
  workspace.write(file, workspace.read(file).replace('"enabled": true', '"enabled": false'));
  expect(await json(workspace, 'status')).toMatchObject({ upToDate: false, drift: 'edited' });
  expect(await workspace.hookmill('reconcile', '--once')).toMatchObject({ exitCode: 0 });
  expect(await json(workspace, 'status')).toMatchObject({ upToDate: true, drift: null });
});
