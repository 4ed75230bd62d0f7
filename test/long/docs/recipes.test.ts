import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { parseSettings } from '../../../daemon/parse-settings.ts';
import { startLoopbackServer } from '../../support/loopback-server.ts';
import {
  openRunBench,
  outputOf,
  runThatIs,
  temporaryDirectory,
} from '../../system/daemon/runs/run-samples.ts';
import { serve } from '../../system/daemon/runs/serve-command.ts';
import { expectNothingOfThePayload, folder, payload, runRecipe, standIn } from './run-recipe.ts';

test('each recipe is on the page, and each link of the page has its file', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/recipes.md'), 'utf8');
  for (const file of readdirSync(folder)) expect(page).toContain(`(../examples/runners/${file})`);
});

/** Speaks GitHub's endpoint that starts a workflow (version 2026-03-10 of its API), for one repository and token. */
async function serveGitHub() {
  const bodies: unknown[] = [];
  const url = await startLoopbackServer(async (request, response) => {
    const body = await json(request).catch(() => undefined);
    const answer = (status: number, content: object) =>
      response.writeHead(status).end(JSON.stringify(content));
    const { authorization, accept, 'x-github-api-version': version } = request.headers;
    if (authorization !== 'Bearer ghp_token') return answer(401, { message: 'Bad credentials' });
    if (
      request.url !== '/repos/acme/app/actions/workflows/hookmill.yaml/dispatches' ||
      request.method !== 'POST'
    )
      return answer(404, { message: 'Not Found' });
    if (accept !== 'application/vnd.github+json' || version !== '2026-03-10') return answer(400, {});
    bodies.push(body);
    const html_url = 'https://github.com/acme/app/actions/runs/1';
    return answer(200, { workflow_run_id: 1, run_url: 'https://api.github.com/…', html_url });
  });
  return { bodies, url };
}

test('a workflow of GitHub Actions is started with the IDs of the run, and fetches the payload itself', async () => {
  const bench = await openRunBench();
  const { bodies, url } = await serveGitHub();
  const variables = { GITHUB_DISPATCH_TOKEN: 'ghp_token', GITHUB_API_URL: url };
  const id = await runRecipe(bench, 'github-actions.yaml', variables);
  const run = await runThatIs(bench, id, { state: 'succeeded' });
  const inputs = { run_id: id, delivery_id: run.deliveryId, factory: 'default' };
  expect(bodies).toEqual([{ ref: 'main', inputs }]);
  expect(await outputOf(bench, id)).toContain('https://github.com/acme/app/actions/runs/1');

  const workflow = readFileSync(join(folder, 'github-workflow.yaml'), 'utf8');
  expect(Object.keys(parse(workflow).on.workflow_dispatch.inputs)).toEqual(Object.keys(inputs));
  const [, path = ''] = /\$HOOKMILL_URL\/api\/v1(\S+)"/.exec(workflow) ?? [];
  const route = path.replaceAll(/\$\w+/g, '{}');
  const { paths } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../../docs/reference/openapi.json'), 'utf8'),
  );
  const routes = Object.keys(paths).map(known => known.replaceAll(/\{\w+\}/g, '{}'));
  expect(routes).toContain(route);
});

test('a wrong token for GitHub fails the run, and is in no argument', async () => {
  const bench = await openRunBench();
  const { bodies, url } = await serveGitHub();
  const curl = standIn(
    'curl',
    `const { status, stdout } = require('node:child_process').spawnSync('/usr/bin/curl', args, { input: stdin });
    process.stdout.write(stdout);
    process.exit(status);`,
  );
  const variables = { GITHUB_DISPATCH_TOKEN: 'ghp_wrong', GITHUB_API_URL: url };
  const id = await runRecipe(bench, 'github-actions.yaml', variables, [curl]);
  await runThatIs(bench, id, { state: 'failed', error: 'the command exited with status 22' });
  expect(await outputOf(bench, id)).toContain('Bad credentials');
  expect(bodies).toEqual([]);
  expect(curl.calls()[0]?.args.join(' ')).not.toContain('ghp_wrong');
});

/** A cluster in which a Job ends with this condition when it is looked at for the second time. */
function fakeCluster(condition: 'Complete' | 'Failed') {
  return standIn(
    'kubectl',
    `const [verb, kind] = args;
    if (verb === 'create') console.log('apiVersion: v1\\nkind: ConfigMap\\nmetadata: { name: ' + args[2] + ' }');
    if (verb === 'get') {
      const looks = readFileSync(require('node:path').join(__dirname, 'calls'), 'utf8').split('"get"').length - 1;
      console.log(looks > 1 ? 'Condition ${condition}' : '');
    }
    if (verb === 'logs') console.log('the log of ' + args.at(-1));`,
  );
}

test.each([
  ['Complete', 'succeeded'],
  ['Failed', 'failed'],
] as const)(
  'a Job in Kubernetes gets the files of the run, and its run ends as %s does',
  async (condition, state) => {
    const bench = await openRunBench();
    const kubectl = fakeCluster(condition);
    const id = await runRecipe(bench, 'kubernetes.yaml', { KUBECONFIG: '/etc/kubeconfig' }, [kubectl]);
    await runThatIs(bench, id, { state });
    const name = `hookmill-${id.replace('_', '-')}`;
    expect(await outputOf(bench, id)).toContain(`the log of job/${name}`);
    const calls = kubectl.calls();
    expectNothingOfThePayload(bench, id, calls);
    const [create, configMap, job] = calls;
    expect(create?.args.filter(word => word.startsWith('--from-file'))).toEqual(
      ['prompt.md', 'event-payload.json', 'event-headers.json'].map(file => `--from-file=${file}`),
    );
    expect(parse(configMap?.stdin ?? '').metadata.name).toBe(name);
    expect(calls.at(-1)?.args).toEqual(
      expect.arrayContaining(['delete', `job/${name}`, `configmap/${name}`]),
    );
    expectValidJob(parse(job?.stdin ?? ''), name);
  },
);

test.each([
  ['exit 0', { state: 'succeeded', report: { message: 'Done' } }],
  ['exit 3', { state: 'failed', report: { message: 'The program ended with 3' } }],
])('an agent behind HTTP whose program does `%s` reports that', async (end, expected) => {
  const bytes = readFileSync(join(folder, 'http-agent.yaml'));
  const { definition, diagnostics } = parseSettings('http-agent.yaml', bytes);
  expect(diagnostics).toEqual([]);
  const seen = join(temporaryDirectory(), 'seen');
  const script = `{ cat; cat event-payload.json; env; } > ${seen}; ${end}`;
  const agent = execa(process.execPath, [join(folder, 'http-agent.mjs'), 'sh', '-c', script], {
    env: { AGENT_TOKEN: 'of-the-agent', PORT: '0' },
    reject: false,
  });
  onTestFinished(async () => {
    agent.kill();
    await agent;
  });
  const [line] = (await once(agent.stdout, 'data')) as [Buffer];
  const url = `http://127.0.0.1:${/\d+/.exec(String(line))?.[0]}/runs`;
  const runner = { ...definition?.runs.runner, url };
  const { post, runsOf } = await serve(['act'], '', '', { runner, env: { AGENT_TOKEN: 'of-the-agent' } });
  const id = await post(payload);
  await expect.poll(async () => (await runsOf(id))[0]).toMatchObject(expected);
  const text = readFileSync(seen, 'utf8');
  expect(text).toContain('Do act.');
  expect(text).toContain(payload.toString());
  expect(text).not.toContain('of-the-agent');
  expect((await fetch(url, { method: 'POST' })).status).toBe(401);
  const headers = { authorization: 'Bearer of-the-agent', 'hookmill-callback': url };
  const noForm = () => fetch(url, { method: 'POST', headers, body: '--' });
  expect([(await noForm()).status, (await noForm()).status]).toEqual([400, 400]);
});

/** The rules of `batch/v1` that the API server applies to a Job, as far as the manifest uses them. */
// biome-ignore lint/suspicious/noExplicitAny: this checks the shape of a parsed file
function expectValidJob(manifest: any, name: string): void {
  expect(Object.keys(manifest)).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
  expect(manifest).toMatchObject({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name } });
  // RFC 1123; pods get the name with a suffix, and labels with it have at most 63 characters.
  expect(name).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
  const { backoffLimit, activeDeadlineSeconds, ttlSecondsAfterFinished, template, ...rest } = manifest.spec;
  expect(rest).toEqual({});
  for (const value of [backoffLimit, activeDeadlineSeconds, ttlSecondsAfterFinished])
    expect(value).toBeTypeOf('number');
  const { restartPolicy, containers, volumes, automountServiceAccountToken } = template.spec;
  expect(['Never', 'OnFailure']).toContain(restartPolicy);
  expect(automountServiceAccountToken).toBe(false);
  const names = volumes.map((volume: { name: string }) => volume.name);
  for (const container of containers) {
    expect(container).toMatchObject({ name: expect.any(String), image: expect.any(String) });
    for (const mount of container.volumeMounts) expect(names).toContain(mount.name);
  }
  expect(volumes).toContainEqual({ name: 'run', configMap: { name } });
}
