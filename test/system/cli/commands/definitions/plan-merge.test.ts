import { expect, test } from 'vitest';
import { homeAt } from '../../../../../store/home/home.ts';
import { makeUpstream, secret, type Upstream, webhook } from '../../../../support/git-samples.ts';
import { madeOnce } from '../../../../support/made-once.ts';
import { startManagedDaemon } from '../../../../support/management.ts';
import { gitIn, namesOf } from '../../../../support/merge-plans.ts';
import { makeWorkspace, type Workspace } from '../../../../support/workspace.ts';

// In a factory that follows a branch, a plan is of the merge, not of the work tree.

interface Behind {
  readonly upstream: Upstream;
  /** A clone with a branch that lacks the newest commit of main, which is applied. */
  readonly workspace: Workspace;
  readonly git: (...args: string[]) => string;
  readonly reconcile: () => ReturnType<Workspace['hookmill']>;
}

const place = makeWorkspace();
const behind = madeOnce(place.directory, async (): Promise<Behind> => {
  const upstream = makeUpstream(place.directory);
  upstream.commit({ 'webhooks/crm.yaml': webhook('T'), '.gitignore': '.hookmill/\n' });
  const workspace = makeWorkspace(place.path('clone'));
  const git = gitIn(workspace.directory);
  git('clone', '--quiet', upstream.bare, '.');
  git('switch', '--quiet', '--create', 'feature');
  workspace.write('webhooks/own.yaml', webhook('U'));
  git('add', '.');
  git('commit', '--quiet', '--message=Add own');
  upstream.commit({ 'webhooks/pay.yaml': webhook() });
  upstream.git('status');
  for (const name of ['S', 'T', 'U']) await workspace.hookmill('secrets', 'set', name, { stdin: secret });
  const reconcile = () => workspace.hookmill('reconcile', '--once', '--repository', upstream.bare);
  expect(await reconcile()).toMatchObject({ exitCode: 0 });
  return { upstream, workspace, git, reconcile };
});

test('a branch that is behind destroys nothing that was added since, as the merge does', async () => {
  const { upstream, workspace, git, reconcile } = await behind();
  const unfetched = await workspace.hookmill('plan');
  expect(unfetched).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('1 to destroy') });
  expect(unfetched.stderr).toContain('the webhook pay is not destroyed by this branch');
  git('fetch', '--quiet');
  const planned = await workspace.hookmill('plan');
  expect(planned.stdout).toContain('Plan: 1 to add, 0 to change, 0 to destroy.');
  expect(planned).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('warning') });
  git('switch', '--quiet', 'main');
  git('merge', '--quiet', 'origin/main', 'feature');
  git('push', '--quiet');
  expect((await reconcile()).stderr).toContain('1 added, 0 changed, 0 destroyed');
  expect(upstream.git('rev-parse', 'main')).toBe(git('rev-parse', 'main').trim());
});

test('a daemon plans the same merge, and the comment names what it was merged with', async () => {
  const { upstream, workspace, git } = await behind();
  const daemon = await startManagedDaemon({}, homeAt(workspace.home));
  const { token } = await daemon.client({ permission: 'read' });
  const env = { HOOKMILL_SERVER: daemon.managementUrl, HOOKMILL_TOKEN: token };
  const tip = upstream.commit({ 'webhooks/late.yaml': webhook('T', 'enabled: false\n') });
  upstream.git('status');
  git('fetch', '--quiet');
  const local = await workspace.hookmill('plan', '-o', 'markdown');
  const planned = await workspace.hookmill('plan', '-o', 'markdown', { env });
  expect({ ...planned, stderr: '' }).toEqual({ ...local, stderr: '' });
  const merged = `, merged with commit <code>${tip.slice(0, 7)}</code> of <code>main</code>: 2 to add, 0 to change, 0 to destroy`;
  expect(planned.stdout).toContain(merged);
  workspace.write('webhooks/late.yaml', webhook('S'));
  const conflict = await workspace.hookmill('plan', '-o', 'json', { env });
  expect(conflict).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('hint: merge main first') });
  const { changes, diagnostics, mergedWith } = JSON.parse(conflict.stdout);
  expect(diagnostics).toMatchObject([{ code: 'factory/conflict', file: 'webhooks/late.yaml' }]);
  expect(namesOf(changes, 'create')).toEqual(['webhook own']);
  expect(mergedWith).toBe(tip);
});
