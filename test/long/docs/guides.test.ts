import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { execa, type ResultPromise } from 'execa';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { createCallHere } from '../../../cli/backend/call-here.ts';
import { toOwnBaseUrl } from '../../../schema/ingress-url.ts';
import { homeAt } from '../../../store/home/home.ts';
import { followPage, type Reader } from '../../support/followed-page.ts';
import { startLoopbackServer } from '../../support/loopback-server.ts';
import { runShell } from '../../support/run-shell.ts';
import { factoryIn } from '../../support/stored.ts';
import { testLimitMs } from '../../support/test-limit.ts';
import { makeWorkspace, type RunResult, type Workspace } from '../../support/workspace.ts';

const root = join(import.meta.dirname, '../../..');
const guide = (page: string) => readFileSync(join(root, 'docs', page), 'utf8');

/** One part of a guide: from its heading of the second level to the next one. */
function part(page: string, heading: string): string {
  const found = guide(page)
    .split(/^## /m)
    .find(text => text.startsWith(`${heading}\n`));
  if (found === undefined) throw new Error(`${page} has no part "${heading}"`);
  return found;
}

let workspace: Workspace;
let reader: Reader;
let variables: Record<string, string>;

beforeEach(() => {
  workspace = makeWorkspace();
  const { directory, path, write } = workspace;
  write('bin/hookmill', `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'cli/bin.js')}" "$@"\n`);
  chmodSync(path('bin/hookmill'), 0o755);
  write('.gitconfig', '[user]\nname = Reader\nemail = reader@example.com\n');
  const { PATH, NODE_COMPILE_CACHE = '' } = process.env;
  const own = { PATH: `${path('bin')}:${dirname(process.execPath)}:${PATH}`, HOME: directory };
  const ports = { HOOKMILL_PORT: '0', HOOKMILL_MANAGEMENT_PORT: '0' };
  variables = { ...own, ...ports, NODE_COMPILE_CACHE, NO_COLOR: '1' };
  reader = makeReader(directory);
});

/** Somebody at a shell, who changes directories and keeps a second terminal for the daemon. */
function makeReader(directory: string): Reader {
  let cwd = directory;
  return {
    write: (file, content) => {
      mkdirSync(dirname(join(cwd, file)), { recursive: true });
      writeFileSync(join(cwd, file), content, { mode: 0o755 });
    },
    run: async command => {
      const [program, ...args] = command.split(' ');
      if (program === 'cd') cwd = join(cwd, args[0] ?? '');
      if (program === 'cd') return { stdout: '', stderr: '', exitCode: 0 };
      if (args[0] !== 'serve') return runShell(command, { cwd, env: variables });
      const options = { cwd, extendEnv: false, env: variables, reject: false };
      return serve(execa('bash', ['-c', `exec ${command}`], options));
    },
  };
}

async function serve(daemon: ResultPromise): Promise<RunResult> {
  onTestFinished(async () => {
    daemon.kill('SIGTERM');
    await daemon;
  });
  const [printed] = daemon.stdout ? await once(daemon.stdout, 'data') : [];
  return { stdout: String(printed), stderr: '', exitCode: 0 };
}

/** A factory with the webhook `deploys`, an automation of it and a payload, as somebody has who reads these pages later. */
async function makeFactory(): Promise<void> {
  const { write, hookmill } = workspace;
  write('webhooks/deploys.yaml', 'secretName: DEPLOYS_TOKEN\n');
  write('deploy.json', '{"action": "failed"}\n');
  await hookmill('secrets', 'generate', 'DEPLOYS_TOKEN');
  expect(await hookmill('apply')).toMatchObject({ exitCode: 0 });
}

async function addAutomation(): Promise<void> {
  const { write, hookmill } = workspace;
  const { uid } = JSON.parse((await hookmill('webhooks', 'show', 'deploys', '-o', 'json')).stdout);
  const trigger = `{ provider: webhook, event: received, filter: { webhook_ids: [${uid}] } }`;
  write('automations/triage.yaml', `prompt: Look.\ntriggers:\n  - ${trigger}\n`);
  expect(await hookmill('apply')).toMatchObject({ exitCode: 0 });
}

const options = { timeout: 2 * testLimitMs };

test('the first repository is made, followed and changed as its guide shows', options, async () => {
  expect(await followPage(guide('first-repository.md'), reader)).toBeGreaterThan(20);
});

test('a secret is rotated as its guide shows', options, async () => {
  await makeFactory();
  await addAutomation();
  await reader.run('hookmill serve');
  expect(await followPage(part('maintenance.md', 'Rotating a secret'), reader)).toBeGreaterThan(5);
});

test('a webhook with a custom scheme moves as its guide shows', options, async () => {
  workspace.write('old-secret.txt', 'a secret that the sender has\n');
  workspace.write('old-body.json', '{"action": "failed"}\n');
  expect(await followPage(part('moving.md', 'From another tool'), reader)).toBeGreaterThan(5);
});

test('a factory moves from the dashboard to files as its guide shows', options, async () => {
  await workspace.hookmill('secrets', 'declare', 'FIRST');
  const ownBaseUrl = toOwnBaseUrl('http://127.0.0.1:8080');
  const call = createCallHere(factoryIn(homeAt(workspace.path('.hookmill')), 'default', 0), {
    baseUrl: ownBaseUrl,
    ownBaseUrl,
    findDaemonProblem: async () => null,
    findIngress: async () => null,
  });
  const { webhook } = await call('createWebhook', {
    body: { name: 'deploys', secret: { kind: 'generated' } },
  });
  const filter = { webhook_ids: [webhook.uid] };
  const triggers = [{ provider: 'webhook' as const, event: 'received' as const, filter }];
  await call('createAutomation', { body: { name: 'triage', prompt: 'Look.', triggers } });
  expect(await followPage(part('moving.md', 'From the dashboard to files'), reader)).toBeGreaterThan(5);
});

test('a command sends its result as the guide shows, and the daemon keeps it', options, async () => {
  const posted: unknown[] = [];
  variables.RESULTS_URL = await startLoopbackServer(async (request, response) => {
    const { authorization, 'idempotency-key': key } = request.headers;
    posted.push({ authorization, key, body: await text(request) });
    response.end('created');
  });
  variables.RESULTS_TOKEN = 'post-results-only';
  await makeFactory();
  await addAutomation();
  const script = workspace.path('post-result.sh');
  const page = part('moving.md', 'Results').replace('/usr/local/bin/post-result.sh', script);
  expect(await followPage(page, reader)).toBeGreaterThan(4);
  expect(existsSync(script)).toBe(true);
  const key = expect.stringMatching(/^run_/);
  expect(posted).toEqual([{ authorization: 'Bearer post-results-only', key, body: 'failed\n' }]);
});

test('an automation and a webhook are paused as the guide shows', options, async () => {
  await makeFactory();
  await addAutomation();
  await reader.run('hookmill serve');
  expect(await followPage(part('maintenance.md', 'Pausing'), reader)).toBeGreaterThan(8);
});
