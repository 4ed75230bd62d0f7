import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { homeAt } from '../../../../../store/home/home.ts';
import {
  makeUpstream,
  operatorEnvironment,
  secret,
  type Upstream,
  webhook,
} from '../../../../support/git-samples.ts';
import { madeOnce } from '../../../../support/made-once.ts';
import { startManagedDaemon } from '../../../../support/management.ts';
import { makeWorkspace, type Workspace } from '../../../../support/workspace.ts';

// What a reconcile refuses, a plan of a factory that follows a branch says before the merge.

interface Followed {
  readonly upstream: Upstream;
  /** A clone of the upstream, with a home whose factory follows it. */
  readonly workspace: Workspace;
  readonly git: (...args: string[]) => string;
  readonly reconcile: (...words: string[]) => ReturnType<Workspace['hookmill']>;
}

const place = makeWorkspace();
const followedClone = madeOnce(place.directory, async (): Promise<Followed> => {
  const upstream = makeUpstream(place.directory);
  upstream.commit({ 'webhooks/crm.yaml': webhook('T'), '.gitignore': '.hookmill/\n' });
  upstream.commit({ 'webhooks/pay.yaml': webhook() });
  // Git's index then has the commits too, whatever the tests before have done.
  upstream.git('status');
  const workspace = makeWorkspace(place.path('clone'));
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  const git = (...args: string[]) =>
    execFileSync('git', [...identity, ...args], {
      cwd: workspace.directory,
      env: operatorEnvironment,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  git('clone', '--quiet', upstream.bare, '.');
  for (const name of ['S', 'T']) await workspace.hookmill('secrets', 'set', name, { stdin: secret });
  const reconcile = (...words: string[]) =>
    workspace.hookmill('reconcile', '--once', '--repository', upstream.bare, ...words);
  expect(await reconcile()).toMatchObject({ exitCode: 0 });
  return { upstream, workspace, git, reconcile };
});

test('a rename: the plan shows it, says that it will be refused and how to allow it, and exits with 1', async () => {
  const { upstream, workspace, git, reconcile } = await followedClone();
  git('switch', '--quiet', '--create', 'rename');
  git('mv', 'webhooks/pay.yaml', 'webhooks/payments.yaml');
  const { stdout, stderr, exitCode } = await workspace.hookmill('plan', '--detailed-exitcode');
  expect(exitCode).toBe(1);
  expect(stdout).toContain('Plan: 1 to add, 0 to change, 1 to destroy.');
  const why = 'error: a commit that renames the webhook pay to payments is refused: its URL would change';
  expect(stderr).toContain(`webhooks/payments.yaml:2:13: ${why}`);
  expect(stderr).toContain('run `hookmill reconcile --once --allow-rename`');
  expect(stderr).toContain('hookmill: a merge of this would be refused');

  const comment = (await workspace.hookmill('plan', '-o', 'markdown')).stdout;
  expect(comment).toContain('### hookmill plan: a merge of this would be refused\n\n**1 URL changes.**\n');
  const revision = git('rev-parse', '--short=7', 'main').trim();
  expect(comment).toContain(
    `against commit <code>${revision}</code>, which is applied: 1 to add, 0 to change, 1 to destroy.`,
  );
  const json = JSON.parse((await workspace.hookmill('plan', '-o', 'json')).stdout);
  expect(json).toMatchObject({
    ok: false,
    base: { revision: git('rev-parse', 'main').trim(), branch: 'main' },
    diagnostics: [{ code: 'webhook/renamed', severity: 'error' }],
  });
  expect(json.changes).toMatchObject([
    { name: 'crm', action: 'no-op' },
    { name: 'pay', action: 'delete', renamedTo: 'payments' },
    { name: 'payments', action: 'create', renamedFrom: 'pay' },
  ]);

  upstream.git('mv', 'webhooks/pay.yaml', 'webhooks/payments.yaml');
  upstream.commit({});
  const refused = await reconcile();
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(why) });
  expect(await reconcile('--allow-rename')).toMatchObject({ exitCode: 0 });
  expect(await workspace.hookmill('plan')).toMatchObject({ exitCode: 0 });
});

test('a rename is only a warning for apply --adopt, which does not follow the branch', async () => {
  const { workspace, git } = await followedClone();
  git('mv', 'webhooks/pay.yaml', 'webhooks/payments.yaml');
  for (const words of [['--dry-run'], ['--yes']]) {
    const { stderr, exitCode } = await workspace.hookmill('apply', '--adopt', ...words);
    expect(stderr).toContain('warning: the webhook pay seems to be renamed to payments');
    expect(exitCode).toBe(0);
  }
});

test('no definitions: the plan shows what would be destroyed, and how to allow it', async () => {
  const { upstream, workspace, git, reconcile } = await followedClone();
  git('switch', '--quiet', '--create', 'empty');
  for (const name of ['crm', 'pay']) workspace.remove(`webhooks/${name}.yaml`);
  const { stdout, stderr, exitCode } = await workspace.hookmill('plan');
  expect(exitCode).toBe(1);
  expect(stdout).toContain('Plan: 0 to add, 0 to change, 2 to destroy.');
  const why = 'there are no definitions in webhooks/ and automations/, so everything would be destroyed';
  expect(stderr).toContain(`webhooks: error: ${why}`);
  expect(stderr.match(/factory\/no-definitions/g)).toHaveLength(1);
  expect(stderr).toContain('run `hookmill reconcile --once --allow-empty`');
  upstream.commit({ 'webhooks/crm.yaml': null, 'webhooks/pay.yaml': null });
  expect(await reconcile()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(why) });
  expect(await reconcile('--allow-empty')).toMatchObject({ exitCode: 0 });
  expect((await workspace.hookmill('webhooks', 'list', '-o', 'json')).stdout).toBe('[]\n');
});

/** Replaces the newest commit of the branch that is checked out. */
function rewrite(git: Followed['git']): void {
  git('commit', '--quiet', '--amend', '--message=Rewritten');
}

test('rewritten history: before the push, and as long as the branch is refused', async () => {
  const { upstream, workspace, git, reconcile } = await followedClone();
  const plan = () => workspace.hookmill('plan');
  expect(await plan()).toMatchObject({ exitCode: 0 });
  rewrite(git);
  const before = await plan();
  expect(before).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('No changes') });
  expect(before.stderr).toContain('factory default: error: a push of this work tree is refused');
  expect(before.stderr).toContain('run `hookmill reconcile --once --allow-rewind`');
  // A pull request need not contain what was merged since.
  git('switch', '--quiet', '--create', 'feature');
  expect(await plan()).toMatchObject({ exitCode: 0 });

  upstream.git('reset', '--quiet', '--hard', 'HEAD~1');
  expect(await reconcile()).toMatchObject({ exitCode: 1 });
  const after = await plan();
  expect(after).toMatchObject({ exitCode: 1 });
  expect(after.stderr).toContain(
    'factory default: error: the tip does not descend from the applied revision',
  );
  expect(await reconcile('--allow-rewind')).toMatchObject({ exitCode: 0 });
  expect(await plan()).toMatchObject({ exitCode: 0 });
});

test('another use of the team secret of another factory', async () => {
  const { workspace, git, reconcile, upstream } = await followedClone();
  const other = makeWorkspace();
  other.write('webhooks/theirs.yaml', webhook('U'));
  const home = ['--home', workspace.home];
  await workspace.hookmill('secrets', 'set', 'U', { stdin: secret });
  await other.hookmill('apply', ...home, '--factory', 'other');
  await workspace.hookmill('secrets', 'share', 'U', 'default', 'other');
  await other.hookmill('apply', ...home, '--factory', 'other');
  git('switch', '--quiet', '--create', 'use');
  const definition = 'authMode: url_token\nsecretName: U\n';
  workspace.write('webhooks/ours.yaml', definition);
  const { stderr, exitCode } = await workspace.hookmill('plan');
  const why = 'error: a webhook of another factory also uses U, in another way';
  expect({ stderr, exitCode }).toMatchObject({ stderr: expect.stringContaining(why), exitCode: 1 });
  upstream.commit({ 'webhooks/ours.yaml': definition });
  expect((await reconcile()).stderr).toContain(why);
});

test('a daemon says it too, to a plan of a directory without a home', async () => {
  const { upstream, workspace, git } = await followedClone();
  const daemon = await startManagedDaemon({}, homeAt(workspace.home));
  const { token, call } = await daemon.client({ permission: 'read' });
  const env = { HOOKMILL_SERVER: daemon.managementUrl, HOOKMILL_TOKEN: token };
  git('switch', '--quiet', '--create', 'rename');
  git('mv', 'webhooks/pay.yaml', 'webhooks/payments.yaml');
  const planned = await workspace.hookmill('plan', '-o', 'json', { env });
  expect(planned).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--allow-rename') });
  expect(JSON.parse(planned.stdout)).toMatchObject({ ok: false, base: { branch: 'main' } });
  git('reset', '--quiet', '--hard');
  git('switch', '--quiet', 'main');
  rewrite(git);
  const rewound = await workspace.hookmill('plan', { env });
  expect(rewound).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--allow-rewind') });
  const files = [{ path: 'webhooks/payments.yaml', content: webhook() }];
  const answer = await call('plan', { body: { files } });
  expect(answer).toMatchObject({
    status: 422,
    json: { diagnostics: [{ code: 'webhook/renamed', severity: 'error' }] },
  });
  expect(upstream.git('rev-parse', 'main')).toBe(git('rev-parse', 'origin/main').trim());
});
