import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeUpstream, operatorEnvironment, type Upstream } from '../../../../support/git-samples.ts';
import { serveGitOverHttp } from '../../../../support/git-servers.ts';
import { canBecomeOthers } from '../../../../support/privilege.ts';
import { recordRun } from '../record-runs.ts';
import { openRunBench, outputOf, type RunBench, runThatIs, temporaryDirectory } from '../run-samples.ts';

/** Shows the working copy; a run gets `marker` in it from no earlier attempt. */
const look = `cd "$HOOKMILL_WORKSPACE" && pwd && id -un && cat README && test ! -e marker && touch marker \
  && git rev-parse HEAD && git status --short --untracked-files=no && git log --format=subject:%s && cat .git/config && env`;

interface Given {
  readonly runner?: object;
  readonly runs?: object;
  readonly environment?: NodeJS.ProcessEnv;
}

/** Starts a queue whose command shows the working copy of `$.after`. */
async function start(bench: RunBench, repository: string, given: Given = {}): Promise<void> {
  const workspace = { repository, ref: '$.after' };
  const runner = { kind: 'command', argv: ['sh', '-c', look], workspace, ...given.runner };
  const { environment = operatorEnvironment } = given;
  const backOff = { firstSeconds: 0.001, maxSeconds: 0.001 };
  await bench.start({ attempts: 1, backOff, runner, ...given.runs }, { environment });
}

const recordPush = (bench: RunBench, after: unknown) =>
  recordRun(bench.deliveryLog, { payload: Buffer.from(JSON.stringify({ after })) });

function upstreamWith(file = 'README', content = 'hello\n'): Upstream & { readonly revision: string } {
  const upstream = makeUpstream();
  return { ...upstream, revision: upstream.commit({ [file]: content }, 'Say hello') };
}

test('a run gets the commit that its payload names, with history and without configuration of ours', async () => {
  const bench = await openRunBench();
  const upstream = upstreamWith();
  upstream.commit({ README: 'newer\n' });
  await start(bench, upstream.bare);
  const id = await recordPush(bench, upstream.revision);
  await runThatIs(bench, id, { state: 'succeeded' });
  const output = await outputOf(bench, id);
  expect(output).toContain(`${bench.home.runsDirectory}/${id}/workspace\n`);
  for (const line of ['hello', upstream.revision, 'subject:Say hello', `\turl = "${upstream.bare}"`])
    expect(output).toContain(`\n${line}\n`);
  expect(output).not.toContain('credential');
});

test('a run gets the repository that its automation chooses among those of the runner, or none', async () => {
  const bench = await openRunBench();
  const [app, web] = [upstreamWith(), upstreamWith()];
  const repositories = { app: { repository: app.bare }, web: { repository: web.bare } };
  const argv = ['sh', '-c', 'git -C "$HOOKMILL_WORKSPACE" config remote.origin.url || echo none'];
  await bench.start(
    { runner: { kind: 'command', argv, workspace: { ref: '$.after', repositories } } },
    { environment: operatorEnvironment },
  );
  const payload = Buffer.from(JSON.stringify({ after: 'main' }));
  const run = async (repository: string | undefined, state: 'succeeded' | 'failed' = 'succeeded') => {
    const id = await recordRun(bench.deliveryLog, { payload, control: { repository } });
    const { error } = await runThatIs(bench, id, { state });
    return error ?? (await outputOf(bench, id));
  };
  expect(await run('web')).toContain(`\n${web.bare}\n`);
  expect(await run(undefined)).toContain('\nnone\n');
  expect(await run('gone', 'failed')).toBe('the runner offers no repository gone any more');
});

test.each(['topic/a', 'refs/heads/topic/a'])(
  'a run gets the tip of the branch %s, and each attempt a working copy of its own',
  async ref => {
    const bench = await openRunBench();
    const upstream = upstreamWith();
    upstream.git('branch', 'topic/a');
    upstream.git('branch', 'a');
    upstream.commit({ README: 'on main\n' });
    await start(bench, upstream.bare, {
      runner: { argv: ['sh', '-c', `${look} && [ "$HOOKMILL_ATTEMPT" = 2 ]`] },
      runs: { attempts: 2 },
    });
    const id = await recordPush(bench, ref);
    await runThatIs(bench, id, { state: 'succeeded', attempts: 2 });
    expect((await outputOf(bench, id)).match(new RegExp(`^${upstream.revision}$`, 'gm'))).toHaveLength(2);
  },
);

test.runIf(canBecomeOthers)('the working copy belongs to the user of the command', async () => {
  const bench = await openRunBench();
  const upstream = upstreamWith();
  const directory = temporaryDirectory();
  for (const path of [dirname(directory), directory]) chmodSync(path, 0o711);
  await start(bench, upstream.bare, { runner: { user: 'nobody' }, runs: { directory } });
  const id = await recordPush(bench, upstream.revision);
  await runThatIs(bench, id, { state: 'succeeded' });
  expect(await outputOf(bench, id)).toContain('\nnobody\nhello\n');
  const workspace = join(directory, id, 'workspace');
  for (const path of [workspace, join(workspace, '.git'), join(workspace, 'README')])
    expect(statSync(path).uid).toBe(65534);
});

const hostileNames = [
  '--upload-pack=touch pwned',
  '-u',
  'HEAD',
  'main~1',
  'main..main',
  '@{upstream}',
  'main:README',
  'a b',
  'main\n',
  '0123456',
  '',
  ['main'],
  null,
  7,
] as const;

describe('a working copy by a field of the payload', () => {
  let bench: RunBench;
  let end: () => Promise<void>;
  beforeAll(async () => {
    bench = await openRunBench(mkdtempSync(join(tmpdir(), 'hookmill-test-')), given => {
      end = given;
    });
    // It would be missing; the reason shows that nobody looked.
    await start(bench, '/nowhere/at/all');
  });
  afterAll(() => end());

  test.each(hostileNames)(
    'the payload’s %j is no commit and no branch, so git is not started',
    async after => {
      const id = await recordPush(bench, after);
      const { error } = await runThatIs(bench, id, { state: 'failed', attempts: 1 });
      if (after === '0123456') expect(error).toMatch(/^the working copy could not be made: /);
      else expect(error).toBe('the payload has no full commit ID and no name of a branch at $.after');
    },
  );
});

test('a commit or branch that does not exist fails the attempt with the reason', async () => {
  const bench = await openRunBench();
  const { bare, revision, git } = upstreamWith();
  await start(bench, bare);
  const error = async (after: string) => {
    const { error } = await runThatIs(bench, await recordPush(bench, after), { state: 'failed' });
    return error;
  };
  expect(await error('1'.repeat(40))).toMatch(/^the working copy could not be made: .*1{40}[^\n]*$/);
  expect(await error('README')).toBe('the working copy could not be made: the repository has no such branch');
  const tree = git('rev-parse', `${revision}^{tree}`);
  expect(await error(tree)).toMatch(/^the working copy could not be made: /);
});

test('a push that deleted its branch fails the run at once, and says so', async () => {
  const bench = await openRunBench();
  await start(bench, '/nowhere/at/all', { runs: { attempts: 3 } });
  const { error } = await runThatIs(bench, await recordPush(bench, '0'.repeat(40)), { state: 'failed' });
  expect(error).toBe('the commit ID at $.after is all zeros, because the push deleted the branch');
});

test('only the automations that are named get a working copy', async () => {
  const bench = await openRunBench();
  const workspace = { repository: '/nowhere/at/all', ref: '$.after', automations: ['other'] };
  await start(bench, '', { runner: { argv: ['sh', '-c', 'ls; env'], workspace } });
  const id = await recordPush(bench, 'main');
  await runThatIs(bench, id, { state: 'succeeded' });
  expect(await outputOf(bench, id)).not.toMatch(/workspace|HOOKMILL_WORKSPACE/);
});

test('git logs in with the team secret, and the command finds it nowhere', async () => {
  const bench = await openRunBench();
  const upstream = upstreamWith();
  const password = 'ghp_c4n4ry';
  const url = `${await serveGitOverHttp(dirname(upstream.bare), 'x-access-token', password)}/upstream.git`;
  const workspace = { repository: url, ref: '$.after', credentialSecret: 'GIT_TOKEN' };
  const argv = ['sh', '-c', `${look} && grep -r c4n4ry .git . || grep -rl HOOKMILL_GIT .git || true`];
  await start(bench, '', { runner: { workspace, argv }, runs: { attempts: 3 } });
  const id = await recordPush(bench, upstream.revision);
  const forbidden =
    'the working copy could not be made: the team secret GIT_TOKEN for the repository has no value';
  await expect.poll(async () => (await bench.store.deliveries.findRun(id))?.error).toContain(forbidden);
  await runThatIs(bench, id, { state: 'failed' });
  await bench.store.teamSecrets.set('GIT_TOKEN', password);
  const second = await recordPush(bench, upstream.revision);
  await runThatIs(bench, second, { state: 'succeeded' });
  const output = await outputOf(bench, second);
  expect(output).toContain('\nhello\n');
  expect(output).not.toMatch(/c4n4ry|HOOKMILL_GIT/);
});

test('nothing in the repository runs, and nothing of the operator’s configuration', async () => {
  const bench = await openRunBench();
  const directory = temporaryDirectory();
  const upstream = upstreamWith('.gitattributes', '* filter=evil\n');
  const revision = upstream.commit({
    README: 'hello\n',
    '.githooks/post-checkout': `touch ${directory}/hook\n`,
  });
  const configuration = join(directory, 'config');
  writeFileSync(
    configuration,
    `[core]\n\thooksPath = .githooks\n[filter "evil"]\n\tsmudge = touch ${directory}/pwned\n\trequired = true\n`,
  );
  // Other processes of the command's user can read the environment of a git that runs as this user.
  const git = `#!/bin/sh
case "$*" in *reset*) env > ${directory}/env ;; esac
PATH="\${PATH#*:}" exec git "$@"
`;
  writeFileSync(join(directory, 'git'), git, { mode: 0o755 });
  const { PATH } = operatorEnvironment;
  const environment = { ...operatorEnvironment, PATH: `${directory}:${PATH}`, OPERATORS_TOKEN: 'c4n4ry' };
  await start(bench, upstream.bare, {
    environment: { ...environment, GIT_CONFIG_GLOBAL: configuration },
    runner: { argv: ['sh', '-c', 'cat "$HOOKMILL_WORKSPACE/README"'] },
  });
  const id = await recordPush(bench, revision);
  await runThatIs(bench, id, { state: 'succeeded' });
  expect(await outputOf(bench, id)).toContain('hello');
  for (const name of ['pwned', 'hook']) expect(existsSync(join(directory, name))).toBe(false);
  const seen = readFileSync(join(directory, 'env'), 'utf8');
  expect(seen).toContain('LC_ALL=C');
  expect(seen).not.toContain('c4n4ry');
});

test('a small repository whose files are together too large is not checked out', async () => {
  const bench = await openRunBench();
  const upstream = upstreamWith('README', 'x'.repeat(1024 * 1024));
  let tree = upstream.git('rev-parse', `${upstream.revision}^{tree}`);
  for (let level = 0; level < 3; level++) {
    const entries = Array.from({ length: 16 }, (_, n) => `040000 tree ${tree}\td${n}\n`).join('');
    tree = upstream.gitWithInput(entries, 'mktree');
  }
  const commit = upstream.git('commit-tree', '-m', 'A bomb', tree);
  upstream.git('update-ref', 'refs/heads/bomb', commit);
  await start(bench, upstream.bare);
  const id = await recordPush(bench, commit);
  const { error } = await runThatIs(bench, id, { state: 'failed' });
  expect(error).toBe(
    'the working copy could not be made: the files are larger than 2147483648 bytes in total',
  );
  expect(lstatSync(join(bench.home.runsDirectory, id)).isDirectory()).toBe(true);
  expect(readFileSync(join(bench.home.runsDirectory, id, 'prompt.md'), 'utf8')).toContain('Triage');
  expect(existsSync(join(bench.home.runsDirectory, id, 'workspace/d0'))).toBe(false);
});
