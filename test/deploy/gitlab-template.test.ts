import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { jobEnvironment, root } from './action-steps.ts';

const file = join(root, 'deploy/ci/gitlab/hookmill.gitlab-ci.yml');
const template: Record<string, { script?: string[] }> = parse(readFileSync(file, 'utf8'));
let workspace: Workspace;

beforeEach(() => {
  workspace = makeWorkspace();
  workspace.write('hooks/webhooks/a.yaml', 'secretName: TOKEN\n');
});

/** A job's lines run one after the other in one shell, which ends at the first that fails. */
async function runJob(script: readonly string[] | undefined, variables: Record<string, string> = {}) {
  return execa('bash', ['-eo', 'pipefail', '-c', script?.join('\n') ?? 'exit 99'], {
    cwd: workspace.directory,
    reject: false,
    extendEnv: false,
    env: {
      ...jobEnvironment(workspace.directory),
      GITLAB_CI: 'true',
      CI_PROJECT_DIR: workspace.directory,
      HOOKMILL_VERSION: `file:${root}`,
      HOOKMILL_DIRECTORY: 'hooks',
      ...variables,
    },
  });
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
  await workspace.hookmill('-C', 'hooks', 'secrets', 'generate', 'TOKEN', '--home', 'the-home');
  const job = template['hookmill-plan']?.script;
  expect((await runJob(job, { HOOKMILL_HOME: 'the-home' })).exitCode).toBe(0);
  expect(workspace.read('hookmill-plan.md')).toContain('1 to add');
  expect((await runJob(job)).exitCode).toBe(1);
});

test('each job is one that GitLab runs: with a script, an image, rules, and only known keys', () => {
  const known = ['image', 'rules', 'extends', 'script', 'artifacts'];
  for (const [name, job] of Object.entries(template)) {
    expect(Object.keys(job).filter(key => !known.includes(key))).toEqual([]);
    if (!name.startsWith('.')) expect(job.script?.every(line => typeof line === 'string')).toBe(true);
  }
});

test('the template pins the version of hookmill that it comes with', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const pinned = readFileSync(file, 'utf8').match(/HOOKMILL_VERSION:-([^}]*)/g);
  expect(new Set(pinned)).toEqual(new Set([`HOOKMILL_VERSION:-${version}`]));
});
