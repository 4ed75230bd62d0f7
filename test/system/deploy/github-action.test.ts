import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { execa } from 'execa';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createScaffold } from '../../../cli/scaffold/scaffold.ts';
import { homeAt } from '../../../store/home/home.ts';
import { applyDirectory } from '../../support/factory.ts';
import { startLoopbackServer } from '../../support/loopback-server.ts';
import { startManagedDaemon } from '../../support/management.ts';
import { factoryIn, readStore } from '../../support/stored.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';
import { jobEnvironment, readStep, root, runStep } from './action-steps.ts';
import { makeSmallTarball } from './package-tarball.ts';

const { file, integrity } = makeSmallTarball();
const inputs = { package: file, integrity };
let workspace: Workspace;
let home: string;
let env: Record<string, string>;
let installed: string;

beforeAll(async () => {
  const { directory, path } = makeWorkspace();
  const given = { ...jobEnvironment(directory), RUNNER_TEMP: directory };
  expect(await runStep('Install', directory, inputs, given)).toMatchObject({ exitCode: 0, stderr: '' });
  installed = path('hookmill');
});

beforeEach(async () => {
  workspace = makeWorkspace();
  const elsewhere = makeWorkspace();
  home = elsewhere.path('the home');
  workspace.write('summary', '');
  workspace.write('output', '');
  env = {
    ...jobEnvironment(workspace.directory),
    GITHUB_ACTIONS: 'true',
    GITHUB_WORKSPACE: workspace.directory,
    GITHUB_STEP_SUMMARY: workspace.path('summary'),
    GITHUB_OUTPUT: workspace.path('output'),
    RUNNER_TEMP: elsewhere.directory,
  };
  workspace.write('webhooks/a.yaml', 'secretName: TOKEN\n');
  await addToken(home);
  symlinkSync(installed, elsewhere.path('hookmill'));
});

/** Makes a home with a team secret. */
const addToken = (home: string) =>
  readStore(homeAt(home), ({ teamSecrets }) => teamSecrets.set('TOKEN', 'a-secret-of-the-team', 'default'));

test('Install refuses a tarball with another integrity, and none', async () => {
  const wrong = { ...inputs, integrity: integrity.replace('sha512-', 'sha512-A') };
  const refused = await runStep('Install', workspace.directory, wrong, env);
  expect(refused.stderr).toBe(
    `hookmill is not installed: ${file} has the integrity ${integrity}, not HOOKMILL_INTEGRITY`,
  );
  expect(refused.exitCode).toBe(1);
  const validated = await runStep('Validate', workspace.directory, inputs, env);
  expect(validated.exitCode).not.toBe(0);
  const nowhere = await runStep('Install', workspace.directory, { integrity }, env);
  expect(nowhere.exitCode).toBe(1);
});

test('Validate passes valid definitions, and annotates the line of a mistake', async () => {
  const valid = await runStep('Validate', workspace.directory, inputs, env);
  expect({ exitCode: valid.exitCode, stdout: valid.stdout }).toEqual({ exitCode: 0, stdout: '' });
  workspace.write('teams/pay/webhooks/b.yaml', 'secretName: TOKEN\nauthMod: token\n');
  const wrong = await runStep('Validate', workspace.directory, { ...inputs, directory: 'teams/pay' }, env);
  expect(wrong.exitCode).toBe(1);
  expect(wrong.stdout).toMatch(/^::error file=teams\/pay\/webhooks\/b\.yaml,line=2,/m);
});

describe('Plan', () => {
  const planned = (given: Record<string, string> = {}) =>
    runStep('Plan', workspace.directory, { ...inputs, home, ...given }, env);

  test('writes the plan to the summary, and says that there are changes', async () => {
    const { exitCode } = await planned();
    expect(exitCode).toBe(0);
    expect(workspace.read('summary')).toContain('### hookmill plan: 1 to add, 0 to change, 0 to destroy');
    expect(workspace.read('output')).toBe('changes=true\n');
    await applyDirectory(factoryIn(homeAt(home)), workspace.directory);
    await planned();
    expect(workspace.read('output')).toBe('changes=true\nchanges=false\n');
  });

  test('fails where the definitions cannot be applied, and says why in the summary', async () => {
    workspace.write('webhooks/b.yaml', 'secretName: NONE\n');
    const { exitCode } = await planned();
    expect(exitCode).toBe(1);
    expect(workspace.read('summary')).toContain('there is no team secret NONE');
    expect(workspace.read('output')).toBe('changes=false\n');
  });

  test('fails where there is nothing to plan', async () => {
    expect((await planned({ directory: 'nowhere' })).exitCode).toBe(1);
    expect(workspace.read('output')).toBe('changes=false\n');
  });

  test('shows the plan of the other files although Validate has failed', async () => {
    expect(readStep('Plan').if).toMatch(/^!cancelled\(\) && steps\.install\.outcome == 'success' && /);
    workspace.write('webhooks/b.yaml', 'authMode: tokn\nsecretName: TOKEN\n');
    expect((await runStep('Validate', workspace.directory, inputs, env)).exitCode).toBe(1);
    expect((await planned()).exitCode).toBe(1);
    expect(workspace.read('summary')).toContain('| Add | webhook <code>a</code> |');
    expect(workspace.read('summary')).toContain('authMode cannot be');
  });

  test('plans for the factory that it is given', async () => {
    expect((await planned({ factory: 'other' })).exitCode).toBe(1);
    expect(workspace.read('summary')).toMatch(/^<!-- hookmill-plan other . -->/);
    expect(workspace.read('summary')).toContain('the factory other may not use');
  });

  test('plans with a daemon, so that it needs no home', async () => {
    const daemon = await startManagedDaemon();
    const { token } = await daemon.client({ permission: 'read' });
    const server = { home: '', server: daemon.managementUrl, api_token: token };
    await planned(server);
    expect(workspace.read('summary')).toContain('there is no team secret TOKEN');
  });

  test.each(['', '.hookmill', 'a/link', 'nowhere', '.'])('refuses the home %j', async given => {
    await addToken(workspace.home);
    mkdirSync(workspace.path('a'));
    symlinkSync(workspace.home, workspace.path('a/link'));
    const { exitCode, stdout } = await planned({ home: given });
    expect({ exitCode, stdout }).toEqual({
      exitCode: 1,
      stdout:
        '::error title=hookmill::Give the input server, or home: an existing directory outside the workspace.',
    });
  });

  test('is left out of pull requests from forks', () => {
    const condition = readStep('Plan').if?.replaceAll(/\s+/g, ' ');
    expect(condition).toContain("github.event_name != 'pull_request_target'");
    expect(condition).toContain('github.event.pull_request.head.repo.full_name == github.repository');
  });
});

describe('Comment', () => {
  const plan = '<!-- hookmill-plan default . -->\n### hookmill plan: no changes\n';
  const comment = async (api: Awaited<ReturnType<typeof startApi>>) => {
    writeFileSync(`${env.RUNNER_TEMP}/hookmill-plan.md`, plan);
    workspace.write('event.json', '{"pull_request": {"number": 7}}');
    return runStep(
      'Comment',
      workspace.directory,
      { ...inputs, token: 'the-token' },
      {
        ...env,
        GITHUB_ACTION_PATH: `${root}/deploy/ci/github`,
        GITHUB_API_URL: api.url,
        GITHUB_REPOSITORY: 'acme/hooks',
        GITHUB_EVENT_PATH: workspace.path('event.json'),
      },
    );
  };

  test('posts the plan once, and later replaces it', async () => {
    const others = Array.from({ length: 120 }, (_, id) => ({ id, body: 'hm', login: 'someone' }));
    const api = await startApi(others);
    expect((await comment(api)).exitCode).toBe(0);
    expect((await comment(api)).exitCode).toBe(0);
    expect(api.writes).toEqual([
      { request: 'POST /repos/acme/hooks/issues/7/comments', body: plan },
      { request: 'PATCH /repos/acme/hooks/issues/comments/120', body: plan },
    ]);
  });

  test('does not change comments of others with the same first line', async () => {
    const api = await startApi([{ id: 0, body: `${plan}All is fine.`, login: 'mallory' }]);
    await comment(api);
    expect(api.writes.map(({ request }) => request)).toEqual(['POST /repos/acme/hooks/issues/7/comments']);
  });

  test('warns, and does not fail, where its token may not comment', async () => {
    const api = await startApi([], 403);
    const { exitCode, stdout } = await comment(api);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('::warning') });
  });

  test('fails where GitHub does', async () => {
    const api = await startApi([], 500);
    const { exitCode, stdout } = await comment(api);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: expect.stringContaining('::error') });
  });

  test('has nothing to post where there was no plan', async () => {
    const nothing = await runStep('Comment', workspace.directory, inputs, env);
    expect(nothing.exitCode).toBe(0);
  });
});

test('the workflow that init writes validates, plans and comments in the same way', async () => {
  const written = createScaffold({ factory: 'default', directory: '.', ci: ['github'] });
  const text = written.find(({ path }) => path.endsWith('hookmill.yml'))?.content ?? '';
  const { steps } = parse(text).jobs.hookmill;
  const api = await startApi([]);
  workspace.write('event.json', '{"pull_request": {"number": 7}}');
  const variables = {
    ...{ ...env, HOOKMILL_PACKAGE: file, HOOKMILL_INTEGRITY: integrity, DIRECTORY: '.', HOOKMILL_HOME: home },
    ...{ GITHUB_API_URL: api.url, GITHUB_REPOSITORY: 'acme/hooks', GITHUB_TOKEN: 'the-token' },
    GITHUB_EVENT_PATH: workspace.path('event.json'),
  };
  for (const { run } of steps) {
    if (!run) continue;
    const options = { cwd: workspace.directory, reject: false, extendEnv: false, env: variables };
    expect(await execa('bash', ['-eo', 'pipefail', '-c', run], options)).toMatchObject({ exitCode: 0 });
  }
  expect(api.writes).toEqual([
    { request: 'POST /repos/acme/hooks/issues/7/comments', body: expect.stringContaining('1 to add') },
  ]);
  const plan = steps.find(({ name }: { name?: string }) => name === 'Plan');
  expect(plan.if).toContain('github.event.pull_request.head.repo.full_name == github.repository');
  expect(workspace.read('summary')).toContain('1 to add');
  const checkout = steps.find(({ uses }: { uses?: string }) => uses?.startsWith('actions/checkout@'));
  expect(checkout.with).toMatchObject({ 'fetch-depth': 0 });
});

interface StoredComment {
  readonly id: number;
  readonly body: string;
  readonly login: string;
}

/** As much of GitHub's API as the step uses, over HTTP. What the step posts is by github-actions[bot]. */
async function startApi(comments: StoredComment[], writeStatus = 200) {
  const writes: { request: string; body: string }[] = [];
  const url = await startLoopbackServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://api');
    const answer = (status: number, data: unknown) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(data));
    if (request.headers.authorization !== 'Bearer the-token') return answer(401, {});
    if (url.pathname === '/user') return answer(403, {});
    if (request.method === 'GET') {
      const [page, size] = [Number(url.searchParams.get('page')), Number(url.searchParams.get('per_page'))];
      const shown = comments.slice((page - 1) * size, page * size);
      return answer(
        200,
        shown.map(({ id, body, login }) => ({ id, body, user: { login } })),
      );
    }
    const { body } = JSON.parse(Buffer.concat(await request.toArray()).toString());
    writes.push({ request: `${request.method} ${url.pathname}`, body });
    if (writeStatus === 200 && request.method === 'POST') {
      comments.push({ id: comments.length, body, login: 'github-actions[bot]' });
    }
    return answer(writeStatus, {});
  });
  return { url, writes };
}
