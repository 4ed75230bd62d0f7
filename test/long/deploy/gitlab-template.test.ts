import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createScaffold } from '../../../cli/scaffold/scaffold.ts';
import { startLoopbackServer } from '../../support/loopback-server.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';
import { jobEnvironment, root } from '../../system/deploy/action-steps.ts';
import { makeSmallTarball } from '../../system/deploy/package-tarball.ts';

const file = join(root, 'deploy/ci/gitlab/hookmill.gitlab-ci.yml');
interface Job {
  readonly before_script?: string[];
  readonly script?: string[];
  readonly rules?: { readonly if: string }[];
  readonly variables?: object;
}
const template: Record<string, Job> = parse(readFileSync(file, 'utf8'));
const tarball = makeSmallTarball();
let workspace: Workspace;

beforeEach(() => {
  workspace = makeWorkspace();
  workspace.write('hooks/webhooks/a.yaml', 'secretName: TOKEN\n');
});

const install = template['.hookmill']?.before_script ?? [];

/** Where these lines installed hookmill. */
const installed = new Map<readonly string[], string>();

/**
 * A job's lines run one after the other in one shell, which ends at the first that fails. Later jobs use what the first
 * one installed.
 */
async function runJob(
  script: readonly string[] | undefined,
  variables: Record<string, string> = {},
  before = install,
) {
  const [, , ...afterInstall] = before;
  const to = installed.get(before);
  const preparing = to ? [`to=${to}`, ...afterInstall] : [...before, 'printf %s "$to" >&3'];
  const lines = [...preparing, ...(script ?? ['exit 99'])];
  const result = await execa('bash', ['-eo', 'pipefail', '-c', lines.join('\n')], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    cwd: workspace.directory,
    reject: false,
    extendEnv: false,
    env: {
      ...jobEnvironment(workspace.directory),
      GITLAB_CI: 'true',
      CI_PROJECT_DIR: workspace.directory,
      HOOKMILL_PACKAGE: tarball.file,
      HOOKMILL_INTEGRITY: tarball.integrity,
      HOOKMILL_DIRECTORY: 'hooks',
      ...variables,
    },
  });
  if (!to) installed.set(before, result.stdio[3]);
  return result;
}

test('hookmill-validate reports to the merge request, and to the log where it fails', async () => {
  const job = template['hookmill-validate']?.script;
  expect((await runJob(job)).exitCode).toBe(0);
  expect(JSON.parse(workspace.read('gl-code-quality-report.json'))).toEqual([]);
  workspace.write('hooks/webhooks/b.yaml', 'secretName: TOKEN\nauthMod: token\n');
  const { exitCode, stdout } = await runJob(job);
  expect(exitCode).toBe(1);
  expect(stdout).toContain('webhooks/b.yaml:2:1');
  expect(JSON.parse(workspace.read('gl-code-quality-report.json'))).toMatchObject([
    { severity: 'major', location: { path: 'hooks/webhooks/b.yaml' } },
  ]);
});

test('hookmill-plan leaves the plan as an artifact, of the home that the runner has', async () => {
  const home = makeWorkspace().path('the-home');
  await workspace.hookmill('-C', 'hooks', 'secrets', 'generate', 'TOKEN', '--home', home);
  const job = template['hookmill-plan']?.script;
  expect((await runJob(job, { HOOKMILL_HOME: home })).exitCode).toBe(0);
  expect(workspace.read('hookmill-plan.md')).toContain('1 to add');
  await workspace.hookmill('-C', 'hooks', 'secrets', 'generate', 'TOKEN', '--home', 'inside');
  for (const refused of ['inside', '', workspace.path('nowhere')]) {
    const { exitCode, stderr } = await runJob(job, { HOOKMILL_HOME: refused });
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('outside the checkout'),
    });
  }
  expect(template['hookmill-plan']?.variables).toEqual({ GIT_DEPTH: 0 });
  expect(template['hookmill-plan']?.rules?.[0]?.if).toContain('$CI_MERGE_REQUEST_SOURCE_PROJECT_PATH ==');
});

test('each job is one that GitLab runs: with a script, an image, rules, and only known keys', () => {
  const known = ['image', 'variables', 'rules', 'extends', 'before_script', 'script', 'artifacts'];
  for (const [name, job] of Object.entries(template)) {
    expect(Object.keys(job).filter(key => !known.includes(key))).toEqual([]);
    if (!name.startsWith('.')) expect(job.script?.every(line => typeof line === 'string')).toBe(true);
  }
});

test('the jobs that init writes validate, plan and post the plan once; later they replace it', async () => {
  const written = createScaffold({ factory: 'default', directory: 'hooks', ci: ['gitlab'] });
  const jobs = parse(written.find(({ path }) => path === '.gitlab-ci.yml')?.content ?? '');
  const [before, home] = [jobs['.hookmill'].before_script, makeWorkspace().path('the-home')];
  const run = (name: string, variables = {}) =>
    runJob(jobs[name].script, { HOOKMILL_HOME: home, ...variables }, before);
  expect((await run('hookmill')).exitCode).toBe(0);
  expect(JSON.parse(workspace.read('gl-code-quality-report.json'))).toEqual([]);

  await workspace.hookmill('-C', 'hooks', 'secrets', 'generate', 'TOKEN', '--home', home);
  const silent = await run('hookmill-plan');
  expect(silent).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('set HOOKMILL_COMMENT_TOKEN'),
  });
  const api = await startNotes();
  const merge = { CI_API_V4_URL: api.url, CI_PROJECT_ID: '5', CI_MERGE_REQUEST_IID: '7' };
  const posted = { ...merge, HOOKMILL_COMMENT_TOKEN: 'the-token' };
  for (let count = 0; count < 2; count++) expect((await run('hookmill-plan', posted)).exitCode).toBe(0);
  const note = 'projects/5/merge_requests/7/notes';
  expect(api.writes).toEqual([`POST /${note}`, `PUT /${note}/2`]);
  expect(api.notes[1]?.body).toContain('1 to add');
  expect(api.notes[0]?.author.id).toBe(8);
  const refused = await run('hookmill-plan', { ...posted, HOOKMILL_COMMENT_TOKEN: 'another' });
  expect(refused).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('GitLab answered 401') });
  expect(jobs['hookmill-plan'].variables).toEqual({ GIT_DEPTH: 0 });
  expect(jobs['hookmill-plan'].rules[0].if).toContain('$CI_MERGE_REQUEST_SOURCE_PROJECT_PATH ==');
});

/** As much of GitLab's API as the job uses, with a note of somebody else that starts like the plan. */
async function startNotes() {
  const writes: string[] = [];
  const notes = [{ id: 1, body: '<!-- hookmill-plan default . -->\nAll is fine.', author: { id: 8 } }];
  const url = await startLoopbackServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://api');
    const answer = (status: number, data: unknown) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(data));
    if (request.headers['private-token'] !== 'the-token') return answer(401, {});
    if (pathname === '/user') return answer(200, { id: 9 });
    if (request.method === 'GET') return answer(200, notes);
    const { body } = JSON.parse(Buffer.concat(await request.toArray()).toString());
    writes.push(`${request.method} ${pathname}`);
    if (request.method === 'POST') notes.push({ id: 2, body, author: { id: 9 } });
    return answer(200, {});
  });
  return { url, writes, notes };
}
