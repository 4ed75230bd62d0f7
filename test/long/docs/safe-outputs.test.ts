import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { parseSettings } from '../../../daemon/parse-settings.ts';
import { onFileFinished } from '../../support/file-end.ts';
import { makeUpstream, operatorEnvironment } from '../../support/git-samples.ts';
import { serveGitOverHttp } from '../../support/git-servers.ts';
import { startLoopbackServer } from '../../support/loopback-server.ts';
import { recordRun } from '../../system/daemon/runs/record-runs.ts';
import {
  openRunBench,
  outputOf,
  type RunBench,
  runThatIs,
  temporaryDirectory,
} from '../../system/daemon/runs/run-samples.ts';
import { folder, payload as hostile, standIn } from './run-recipe.ts';

const token = 'ghp_0123456789';
const zero = '\u200b';
const { definition, diagnostics } = parseSettings(
  'safe-outputs.yaml',
  readFileSync(join(folder, 'safe-outputs.yaml')),
);

/** A command of the recipe, as it is installed here. */
function local(argv: readonly string[]): string[] {
  return argv.map(word => word.replace('/etc/hookmill', folder));
}

function recipe(name: string) {
  const runner = definition?.runs.runners[name];
  if (runner?.kind !== 'command' || !runner.afterwards) throw new Error(`no second command in ${name}`);
  return { ...runner, afterwards: runner.afterwards };
}

interface Proposal {
  readonly name: 'comment' | 'pull-request' | 'slack';
  /** What the agent leaves in artifacts/. */
  readonly files?: Readonly<Record<string, string>>;
  /** The agent's last message, which becomes answer.md. */
  readonly answer?: string;
  /** Shell text that changes the working copy, in it. */
  readonly edit?: string;
  readonly repository?: string;
  readonly payload?: Buffer;
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly isApproved?: boolean;
  readonly attempts?: number;
  /** Makes a program of the second command's argv. */
  readonly wrap?: (argv: readonly string[]) => readonly string[];
}

/** Records a run of a recipe, as the tests' own user, whose agent leaves the proposal. */
async function propose(bench: RunBench, proposal: Proposal) {
  const { files = {}, answer = 'I have a proposal.', edit = '', wrap = argv => argv } = proposal;
  const { kind, argv, secretEnvironment, workspace, afterwards } = recipe(proposal.name);
  const { user: _, approval, ...second } = afterwards;
  const agent = standIn(
    'claude',
    `const { mkdirSync, writeFileSync } = require('node:fs');
    mkdirSync('artifacts', { recursive: true });
    for (const [name, content] of Object.entries(${JSON.stringify(files)})) writeFileSync('artifacts/' + name, content);
    require('node:child_process').execSync(${JSON.stringify(`set -e; ${edit}`)}, { cwd: ${JSON.stringify(proposal.repository ? 'workspace' : '.')} });
    const modelUsage = { opus: { costUSD: 0.5 } };
    console.log(JSON.stringify({ type: 'result', result: ${JSON.stringify(answer)}, num_turns: 3, modelUsage, permission_denials: [] }));`,
  );
  for (const [name, value] of Object.entries({ CLAUDE_KEY: 'sk-ant', ...proposal.secrets }))
    await bench.store.teamSecrets.set(name, value);
  const runner = {
    ...{ kind, argv: local(argv), secretEnvironment },
    ...(proposal.repository && { workspace: { ref: workspace?.ref, repository: proposal.repository } }),
    afterwards: {
      ...second,
      argv: wrap(local(second.argv)),
      ...(proposal.isApproved === false && { approval }),
    },
  };
  const PATH = [agent.directory, process.env.PATH].join(':');
  const backOff = { firstSeconds: 0.001, maxSeconds: 0.001 };
  await bench.start(
    { runner, attempts: proposal.attempts ?? 1, backOff },
    { environment: { ...process.env, ...operatorEnvironment, ...proposal.environment, PATH } },
  );
  return { id: await recordRun(bench.deliveryLog, { payload: proposal.payload ?? hostile }), agent };
}

/**
 * Starts the second command of a recipe alone, as hookmill does, on what an agent leaves: these files, and with `edit` what
 * the recipe leaves of the change to a working copy of the repository.
 */
async function act({ name, files, edit, repository = '', environment, secrets }: Proposal) {
  const directory = temporaryDirectory();
  const artifacts = join(directory, 'artifacts');
  mkdirSync(artifacts);
  for (const [file, content] of Object.entries(files ?? {})) writeFileSync(join(artifacts, file), content);
  const { PATH } = process.env;
  if (edit !== undefined) {
    cpSync(repository, join(directory, 'workspace'), { recursive: true });
    const [leavePatch = ''] = local(recipe(name).argv);
    const change = ['sh', '-ec', `cd workspace; ${edit}`];
    await execa(leavePatch, change, { cwd: directory, env: { PATH, HOME: directory }, extendEnv: false });
  }
  const { argv, secretEnvironment = {} } = recipe(name).afterwards;
  const secret = Object.entries(secretEnvironment).map(([variable, of]) => [variable, secrets?.[of]]);
  const about = { HOOKMILL_RUN_ID: 'run_1', HOOKMILL_ARTIFACTS_DIR: artifacts };
  const env = { PATH, HOME: directory, ...environment, ...Object.fromEntries(secret), ...about };
  const [program = '', ...words] = local(argv);
  return execa(program, words, { cwd: directory, env, extendEnv: false, reject: false, all: true });
}

/** Starts something for the first test that asks for it: all tests that change nothing on it share it. */
function once<Value>(start: () => Promise<Value>): () => Promise<Value> {
  let started: Promise<Value> | undefined;
  return () => {
    started ??= start();
    return started;
  };
}

type OnEnd = (end: () => void) => void;
type Answer = (status: number, content: unknown) => void;

/** Speaks GitHub's REST API, version 2026-03-10, to one token. Afterwards it forgets to answer `lost` changes. */
async function serveGitHub(
  answerTo: (call: { path: string; query: URLSearchParams; body: unknown }, answer: Answer) => void,
  { lost = 0, onEnd = onTestFinished as OnEnd },
) {
  let left = lost;
  return startLoopbackServer(async (request, response) => {
    const body = request.method === 'POST' ? await json(request).catch(() => undefined) : undefined;
    const answer: Answer = (status, content) => {
      if (status === 201 && left-- > 0) request.socket.destroy();
      else response.writeHead(status).end(JSON.stringify(content));
    };
    const { authorization, accept, 'x-github-api-version': version, 'user-agent': agent } = request.headers;
    if (authorization !== `Bearer ${token}`) return answer(401, { message: 'Bad credentials' });
    if (accept !== 'application/vnd.github+json' || version !== '2026-03-10' || !agent)
      return answer(400, { message: 'Wrong headers' });
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    return answerTo({ path: `${request.method} ${pathname}`, query: searchParams, body }, answer);
  }, onEnd);
}

/** Issue 12 of acme/app, with as many comments as a page has. https://docs.github.com/en/rest/issues/comments */
async function serveComments(options: { lost?: number; onEnd?: OnEnd } = {}) {
  const comments = Array.from({ length: 100 }, (_, n) => ({ body: `older ${n}`, html_url: '' }));
  const url = await serveGitHub(({ path, query, body }, answer) => {
    if (path === 'GET /repos/acme/app/issues/12/comments') {
      const [size, page] = [Number(query.get('per_page') ?? 30), Number(query.get('page') ?? 1)];
      return answer(200, comments.slice(size * (page - 1), size * page));
    }
    if (path !== 'POST /repos/acme/app/issues/12/comments') return answer(404, { message: 'Not Found' });
    expect(body).toEqual({ body: expect.any(String) });
    comments.push({ ...(body as { body: string }), html_url: 'https://github.com/acme/app/issues/12#1' });
    return answer(201, comments.at(-1));
  }, options);
  return {
    posted: () => comments.slice(100).map(({ body }) => body),
    given: { environment: { GITHUB_API_URL: url }, secrets: { GITHUB_COMMENTS: token } },
  };
}

const baseFiles = {
  'src/app.js': 'one\ntwo\nthree\n',
  'run.sh': 'echo\n',
  '.github/workflows/ci.yml': 'on: push\n',
  // Without a driver in the configuration, this starts nothing.
  'docs/.gitattributes': '* filter=other\n',
};

/** acme/app with its branch main, over HTTP, and its pull requests. https://docs.github.com/en/rest/pulls/pulls */
async function serveRepository(options: { lost?: number; down?: number; onEnd?: OnEnd } = {}) {
  let left = options.down ?? 0;
  const root = mkdtempSync(join(tmpdir(), 'hookmill-test-'));
  (options.onEnd ?? onTestFinished)(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  const upstream = makeUpstream(root);
  const main = upstream.commit(baseFiles);
  upstream.git('config', 'http.receivepack', 'true');
  mkdirSync(join(root, 'acme'));
  symlinkSync(upstream.bare, join(root, 'acme/app.git'));
  const pulls: { title: string; body: string; head: { ref: string }; html_url: string }[] = [];
  const url = await serveGitHub(({ path, query, body }, answer) => {
    if (path === 'GET /repos/acme/app/pulls') {
      expect(query.get('state')).toBe('all');
      return answer(
        200,
        pulls.filter(({ head }) => query.get('head') === `acme:${head.ref}`),
      );
    }
    if (path !== 'POST /repos/acme/app/pulls') return answer(404, { message: 'Not Found' });
    if (left-- > 0) {
      // Meanwhile the patch no longer applies, so the branch is not made again.
      upstream.commit({ 'src/app.js': 'other\n' });
      return answer(502, { message: 'Bad Gateway' });
    }
    const asked = body as { title: string; body: string; head: string };
    expect(body).toEqual({ ...asked, base: 'main', draft: true });
    upstream.git('rev-parse', '--verify', `refs/heads/${asked.head}`);
    if (pulls.some(({ head }) => head.ref === asked.head))
      return answer(422, { message: 'It already exists' });
    const html_url = `https://github.com/acme/app/pull/${pulls.length + 1}`;
    pulls.push({ ...asked, head: { ref: asked.head }, html_url });
    return answer(201, pulls.at(-1));
  }, options);
  const GITHUB_SERVER_URL = await serveGitOverHttp(root, 'x-access-token', token, options.onEnd);
  return {
    ...{ root, pulls, upstream, main },
    branches: () => upstream.git('for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n'),
    given: {
      environment: { GITHUB_API_URL: url, GITHUB_SERVER_URL },
      secrets: { GITHUB_CHANGES: token, GITHUB_READ: token },
      repository: upstream.bare,
      payload: Buffer.from('{"repository":{"default_branch":"main"}}'),
    },
  };
}

/** An incoming webhook. https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
async function serveSlack({ status = 200 } = {}) {
  const messages: unknown[] = [];
  const url = await startLoopbackServer(async (request: IncomingMessage, response: ServerResponse) => {
    const isRight = request.method === 'POST' && request.url === '/services/T0/B0/secret';
    if (!isRight || request.headers['content-type'] !== 'application/json')
      return void response.writeHead(404).end('no_service');
    messages.push(JSON.parse(await text(request)));
    return void response.writeHead(status).end('ok');
  });
  return { messages, given: { secrets: { SLACK_URL: `${url}/services/T0/B0/secret` } } };
}

/** A second command that acts, and fails after that in its first attempt. */
function failAfterActing(argv: readonly string[]): readonly string[] {
  return ['sh', '-c', '"$@" && test "$HOOKMILL_ATTEMPT" != 1', 'sh', ...argv];
}

test('the example has valid settings, whose agent has the options of its own recipe', () => {
  expect(diagnostics).toEqual([]);
  const bytes = readFileSync(join(folder, 'claude-code.yaml'));
  const claude = parseSettings('claude-code.yaml', bytes).definition?.runs.runner;
  for (const name of ['comment', 'pull-request', 'slack']) {
    const { argv, user, afterwards, secretEnvironment } = recipe(name);
    expect(argv.slice(-15)).toEqual(claude?.kind === 'command' && claude.argv);
    expect([user, afterwards.user]).toEqual(['agent', 'poster']);
    expect(Object.keys(secretEnvironment ?? {})).toEqual(['ANTHROPIC_API_KEY']);
  }
  expect(recipe('pull-request').afterwards.approval).toBe('required');
});

async function expectRefused(bench: RunBench, id: string, line: string) {
  await runThatIs(bench, id, { state: 'failed', error: 'the command exited with status 1' });
  expect(await outputOf(bench, id)).toContain(line);
}

test('a comment is posted with what it would have done to others taken out', async () => {
  const bench = await openRunBench();
  const { posted, given } = await serveComments();
  const body = [
    'Ask @ada, &#64;ada, &#0064ada, &#x40;ada, &commat;ada. &#640; <b>Bold</b> [link](https://example.com)',
    '![x](https://evil.example/?s=1) <img src=x> <!-- hidden -->',
  ].join('\n');
  const comment = JSON.stringify({ issue: 12, body });
  const { id, agent } = await propose(bench, {
    name: 'comment',
    ...given,
    files: { 'comment.json': comment },
  });
  const run = await runThatIs(bench, id, { state: 'succeeded' });
  const at = `@${zero}`;
  expect(posted()).toEqual([
    `<!-- hookmill ${id} -->
Ask ${at}ada, ${at}ada, ${at}ada, ${at}ada, ${at}ada. &#640; <b>Bold</b> [link](https://example.com)
!${zero}[x](https://evil.example/?s=1) <${zero}img src=x> <${zero}!-- hidden -->`,
  ]);
  const link = 'https://github.com/acme/app/issues/12#1';
  expect(run.report).toMatchObject({ message: 'Commented on #12', link, costUsd: 0.5, turns: 3 });
  expect(JSON.stringify(agent.calls())).not.toContain(token);
  expect(JSON.stringify(agent.calls())).toContain('sk-ant');
});

const issue = 12;
const wrongComments: readonly [string, string, string][] = [
  ['is for an issue that does not exist', JSON.stringify({ issue: 13, body: 'x' }), 'GitHub answered 404'],
  ['is not JSON', '{', 'comment.json is not JSON'],
  ['is null', 'null', 'comment.json must have the keys body, issue, and no others'],
  ['names a repository', JSON.stringify({ issue, body: 'x', repository: 'acme/web' }), 'and no others'],
  [
    'has a number as text',
    JSON.stringify({ issue: '12', body: 'x' }),
    'issue in comment.json must be a number',
  ],
  ['has a fraction', JSON.stringify({ issue: 1.5, body: 'x' }), 'must be a positive integer'],
  ['is empty', JSON.stringify({ issue, body: ' \n' }), 'The comment is empty'],
  ['is long', JSON.stringify({ issue, body: 'x'.repeat(10_001) }), 'at most 10000 are allowed'],
  ['is huge', JSON.stringify({ issue, body: 'x'.repeat(70_000) }), 'at most 65536 are allowed'],
];
const servingComments = once(() => serveComments({ onEnd: onFileFinished }));

test.each(wrongComments)('a comment that %s is refused, and nothing is posted', async (_, comment, line) => {
  const { posted, given } = await servingComments();
  const refused = await act({ name: 'comment', ...given, files: { 'comment.json': comment } });
  expect(refused).toMatchObject({ exitCode: 1, all: expect.stringContaining(line) });
  expect(posted()).toEqual([]);
});

test.each(wrongComments.slice(0, 2))('the run of a comment that %s fails', async (_, comment, line) => {
  const bench = await openRunBench();
  const { posted, given } = await servingComments();
  const { id } = await propose(bench, { name: 'comment', ...given, files: { 'comment.json': comment } });
  await expectRefused(bench, id, line);
  expect(posted()).toEqual([]);
});

test('an agent that proposes nothing has succeeded, and the run shows its own message', async () => {
  const bench = await openRunBench();
  const { posted, given } = await serveComments();
  const { id } = await propose(bench, { name: 'comment', ...given, answer: 'Nothing to say.' });
  const run = await runThatIs(bench, id, { state: 'succeeded' });
  expect(run.report).toMatchObject({ message: 'Nothing to say.' });
  expect(await outputOf(bench, id)).toContain('The agent left no comment.json, so there is nothing to do');
  expect(posted()).toEqual([]);
});

test('a comment whose answer was lost is found by the next attempt, on the last page', async () => {
  const bench = await openRunBench();
  const { posted, given } = await serveComments({ lost: 1 });
  const files = { 'comment.json': JSON.stringify({ issue: 12, body: 'Once' }) };
  const { id } = await propose(bench, { name: 'comment', ...given, files, attempts: 3 });
  const run = await runThatIs(bench, id, { state: 'succeeded' });
  expect(posted()).toEqual([`<!-- hookmill ${id} -->\nOnce`]);
  expect(run).toMatchObject({ attempts: 2, report: { link: 'https://github.com/acme/app/issues/12#1' } });
});

const pullRequest = { 'pull-request.json': JSON.stringify({ title: 'Fix @ada', body: 'Because @ada said' }) };
const change = 'echo four >>src/app.js; echo new >src/new.js';

test('a change becomes a draft pull request after approval', async () => {
  const bench = await openRunBench();
  const { pulls, upstream, main, branches, given } = await serveRepository();
  // The agent puts a program into the working copy's git: it is not started.
  const trap = join(temporaryDirectory(), 'trap');
  const edit = `${change}; git config filter.x.clean 'touch ${trap}; cat'; git config core.fsmonitor 'touch ${trap}'
    mkdir -p .git/info; echo '* filter=x' >.git/info/attributes`;
  const proposal = { name: 'pull-request', ...given, files: pullRequest, edit, isApproved: false } as const;
  const { id, agent } = await propose(bench, proposal);
  await expect
    .poll(() => bench.store.deliveries.findRun(id))
    .toMatchObject({ state: 'queued', afterwards: {} });
  expect(branches()).toEqual(['main']);
  await bench.deliveryLog.approveRun({ id, approval: { atMs: Date.now(), by: 'ada' } });
  const run = await runThatIs(bench, id, { state: 'succeeded' });

  const branch = `hookmill/${id}`;
  const body = `Because @${zero}ada said\n\nProposed by ${id} of hookmill.`;
  const html_url = 'https://github.com/acme/app/pull/1';
  expect(pulls).toMatchObject([{ title: `Fix @${zero}ada`, body, head: { ref: branch } }]);
  expect(run.report).toMatchObject({ message: 'Opened a draft pull request', link: html_url, costUsd: 0.5 });
  expect(branches().sort()).toEqual([branch, 'main']);
  expect(upstream.git('diff', '--stat', main, branch)).toMatch(/src\/app\.js.*\n.*src\/new\.js.*\n.*2 files/);
  const commit = upstream.git('show', '--no-patch', '--format=%an <%ae> %cn%n%P%n%B', branch);
  expect(commit).toBe(
    `hookmill <hookmill@localhost> hookmill\n${main}\nFix @${zero}ada\n\nProposed by ${id} of hookmill.`,
  );
  expect(() => readFileSync(trap)).toThrow('ENOENT');
  expect(JSON.stringify(agent.calls())).not.toContain(token);
});

test('the token for a push is in no argument, and only in variables of the commands that need it', async () => {
  const bench = await openRunBench();
  const { pulls, given } = await serveRepository();
  const git = standIn(
    'git',
    `const { status, stdout } = require('node:child_process').spawnSync('/usr/bin/git', args, { input: stdin });
    process.stdout.write(stdout);
    process.exit(status);`,
  );
  const proposal = { name: 'pull-request', ...given, files: pullRequest, edit: change } as const;
  const PATH = [git.directory, process.env.PATH].join(':');
  const { id } = await propose(bench, { ...proposal, wrap: argv => ['env', `PATH=${PATH}`, ...argv] });
  await runThatIs(bench, id, { state: 'succeeded' });
  expect(pulls).toHaveLength(1);
  const basic = Buffer.from(`x-access-token:${token}`).toString('base64');
  const holds = (what: unknown) => [token, basic].some(secret => JSON.stringify(what).includes(secret));
  for (const { args, stdin } of git.calls()) expect(holds([args, stdin])).toBe(false);
  const holders = git.calls().filter(({ env }) => holds(env));
  expect(holders.map(({ args }) => args[0])).toEqual(['ls-remote', 'clone', 'push']);
});

test('a server of another company does not get the token', async () => {
  const bench = await openRunBench();
  const { given } = await serveRepository();
  const environment = { GITHUB_API_URL: given.environment.GITHUB_API_URL };
  const proposal = { name: 'pull-request', ...given, environment, files: pullRequest, edit: change } as const;
  const { id } = await propose(bench, proposal);
  await runThatIs(bench, id, { state: 'failed' });
  expect(await outputOf(bench, id)).toContain('Set both GITHUB_API_URL and GITHUB_SERVER_URL, or none');
});

/** A repository that no test changes, and a working copy of it. */
const servingRepository = once(async () => {
  const served = await serveRepository({ onEnd: onFileFinished });
  const repository = join(served.root, 'clone');
  await execa('git', ['clone', '--quiet', served.upstream.bare, repository], { env: operatorEnvironment });
  return { ...served, repository };
});

/** A harmless change that each patch also has. */
const more = 'echo four >>src/app.js';
const wrongPatches: readonly [string, string, string][] = [
  ['changes a workflow', 'echo >>.github/workflows/ci.yml', 'must not change ".github/workflows/ci.yml"'],
  ['moves a workflow away', 'git mv .github/workflows/ci.yml ci.yml', 'must not change ".github/'],
  ['adds a pipeline of GitLab', 'echo >.gitlab-ci.yml', 'must not change ".gitlab-ci.yml"'],
  [
    'adds a pipeline in capitals',
    'mkdir -p .CircleCI; echo >.CircleCI/config.yml',
    'must not change ".CircleCI/',
  ],
  [
    'adds a Jenkinsfile',
    'echo >sub.Jenkinsfile; echo >src/Jenkinsfile.prod',
    'must not change "src/Jenkinsfile',
  ],
  ['adds a pipeline of Azure', 'echo >azure-pipelines-2.yml', 'must not change "azure-pipelines-2.yml"'],
  ['adds owners', 'echo >CODEOWNERS', 'must not change "CODEOWNERS"'],
  [
    'hides from reviewers',
    'echo "app.js linguist-generated" >src/.gitattributes',
    'must not change "src/.gitattributes"',
  ],
  ['adds a link', 'ln -s /etc/passwd link', '"link" must be an ordinary file, not a link or a submodule'],
  ['makes a file a link', 'rm run.sh; ln -s src run.sh', '"run.sh" must be an ordinary file'],
  [
    'adds a submodule',
    'git init -q sub; git -C sub -c user.name=a -c user.email=a@b commit -q --allow-empty -m x',
    '"sub" must be',
  ],
  ['makes a file executable', 'chmod +x run.sh', 'must not make "run.sh" executable'],
  ['adds an executable', 'echo >go; chmod +x go', 'must not make "go" executable'],
  ['adds a binary file', 'head -c 99 /dev/zero >zero', 'change.patch must not contain binary files'],
  [
    'changes eleven files',
    'for n in $(seq 10); do echo >$n; done',
    'changes 11 files; at most 10 are allowed',
  ],
  ['is large', 'seq 60000 >numbers', 'at most 200000 are allowed'],
];

test.each(wrongPatches)('a patch that %s is refused, and nothing is pushed', async (_, edit, line) => {
  const { pulls, branches, given, repository } = await servingRepository();
  const refused = await act({
    name: 'pull-request',
    ...given,
    files: pullRequest,
    edit: `${edit}; ${more}`,
    repository,
  });
  expect(refused).toMatchObject({ exitCode: 1, all: expect.stringContaining(line) });
  expect([branches(), pulls]).toEqual([['main'], []]);
});

test.each(wrongPatches.slice(0, 2))('the run of a patch that %s fails', async (_, edit, line) => {
  const bench = await openRunBench();
  const { pulls, branches, given } = await servingRepository();
  const { id } = await propose(bench, {
    name: 'pull-request',
    ...given,
    files: pullRequest,
    edit: `${edit}; ${more}`,
  });
  await expectRefused(bench, id, line);
  expect([branches(), pulls]).toEqual([['main'], []]);
});

const added = (path: string) => `diff --git a/${path} b/${path}
new file mode 100644
--- /dev/null
+++ b/${path}
@@ -0,0 +1 @@
+x
`;
const wrongFiles: readonly [string, Readonly<Record<string, string>>, string][] = [
  ['leaves the repository', { 'change.patch': added('../x') }, 'git apply failed: error: invalid path'],
  ['enters .git', { 'change.patch': added('.git/config') }, 'git apply failed: error: invalid path'],
  ['enters .git by another name', { 'change.patch': added('src/GIT~1/config') }, 'error: invalid path'],
  ['does not apply', { 'change.patch': added('run.sh') }, 'git apply failed: error: run.sh: already exists'],
  ['has a NUL', { 'change.patch': added('x').replace('+x', '+\0') }, 'must not contain binary files'],
  ['is empty', { 'change.patch': '\n' }, 'change.patch is empty'],
  [
    'has no title',
    { 'change.patch': added('x'), 'pull-request.json': '{}' },
    'must have the keys body, title',
  ],
  [
    'has a title of two lines',
    { 'change.patch': added('x'), 'pull-request.json': '{"title":"a\\nb","body":"b"}' },
    'The title must be one line',
  ],
  [
    'has a long title',
    { 'change.patch': added('x'), 'pull-request.json': `{"title":"${'a'.repeat(201)}","body":"b"}` },
    'The title has 201 characters; at most 200 are allowed',
  ],
];

test.each(wrongFiles)(
  'a handwritten proposal that %s is refused, and nothing is pushed',
  async (_, files, line) => {
    const { pulls, branches, given } = await servingRepository();
    const refused = await act({ name: 'pull-request', ...given, files: { ...pullRequest, ...files } });
    expect(refused).toMatchObject({ exitCode: 1, all: expect.stringContaining(line) });
    expect([branches(), pulls]).toEqual([['main'], []]);
  },
);

test.each(wrongFiles.slice(0, 2))(
  'the run of a handwritten proposal that %s fails',
  async (_, files, line) => {
    const bench = await openRunBench();
    const { pulls, branches, given } = await servingRepository();
    const { id } = await propose(bench, {
      name: 'pull-request',
      ...given,
      files: { ...pullRequest, ...files },
    });
    await expectRefused(bench, id, line);
    expect([branches(), pulls]).toEqual([['main'], []]);
  },
);

test.each([
  ['after the push', { down: 1 }, undefined],
  ['after the pull request', { lost: 1 }, undefined],
  ['after everything', {}, failAfterActing],
])('an attempt that ends %s is repeated without a second pull request', async (_, fault, wrap) => {
  const bench = await openRunBench();
  const { pulls, branches, given } = await serveRepository(fault);
  const proposal = { name: 'pull-request', ...given, files: pullRequest, edit: change, attempts: 3 } as const;
  const { id } = await propose(bench, { ...proposal, wrap });
  const run = await runThatIs(bench, id, { state: 'succeeded' });
  expect(run).toMatchObject({ attempts: 2, report: { link: 'https://github.com/acme/app/pull/1' } });
  expect(pulls).toHaveLength(1);
  expect(branches()).toHaveLength(2);
});

test('a message for Slack is plain text, and is sent once', async () => {
  const bench = await openRunBench();
  const { messages, given } = await serveSlack();
  const answer = '<!channel> <@U1> *a* & <https://evil.example|a>';
  const { id } = await propose(bench, {
    name: 'slack',
    ...given,
    answer,
    attempts: 3,
    wrap: failAfterActing,
  });
  const run = await runThatIs(bench, id, { state: 'succeeded' });
  expect(run).toMatchObject({ attempts: 2, report: { message: 'Sent a message to Slack', costUsd: 0.5 } });
  const shown = `&lt;!channel&gt; &lt;@U1&gt; *a* &amp; &lt;https:${zero}//evil.example|a&gt;`;
  expect(messages).toEqual([
    {
      ...{ text: 'A run of hookmill has an answer', mrkdwn: false, unfurl_links: false, unfurl_media: false },
      blocks: [{ type: 'section', text: { type: 'plain_text', text: shown, emoji: false } }],
    },
  ]);
});

test('an agent cannot pretend that its message was sent, and Slack can refuse it', async () => {
  const bench = await openRunBench();
  const { messages, given } = await serveSlack({ status: 403 });
  const files = { 'sent-to-slack': '' };
  const { id } = await propose(bench, { name: 'slack', ...given, files, attempts: 2 });
  await runThatIs(bench, id, { state: 'failed', attempts: 2 });
  expect(await outputOf(bench, id)).toContain('Slack answered 403');
  expect(messages).toHaveLength(2);
});

test('a message for Slack that is too long is refused, and nothing is sent', async () => {
  const bench = await openRunBench();
  const { messages, given } = await serveSlack();
  const { id } = await propose(bench, { name: 'slack', ...given, answer: `${'x'.repeat(2996)}<` });
  await runThatIs(bench, id, { state: 'succeeded' });
  expect(messages).toHaveLength(1);
  const { id: longer } = await propose(bench, { name: 'slack', ...given, answer: `${'x'.repeat(2997)}<` });
  await runThatIs(bench, longer, { state: 'failed' });
  expect(await outputOf(bench, longer)).toContain('answer.md has 3001 characters; at most 3000 are allowed');
  expect(messages).toHaveLength(1);
});
