import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Run } from '../../../../store/ports/delivery-log.ts';
import { makeUpstream } from '../../../support/git-samples.ts';
import { serve, serveHere } from './serve-command.ts';

test('a command gets the payload only as a file: no argument, variable or message contains any of it', async () => {
  const source = `
    const { readFileSync, writeFileSync } = require('node:fs');
    const stdin = readFileSync(0, 'utf8');
    writeFileSync('seen.json', JSON.stringify({ argv: process.argv, env: process.env, stdin, cwd: process.cwd() }));`;
  const { workspace, post, runsOf } = await serveHere(['act'], process.execPath, source);
  const marker = 'c4n4ry';
  const evil = `$(touch ${marker}) \`touch ${marker}\`; touch ${marker} #\n--${marker}='"\\0../${marker}`;
  const body = Buffer.from(
    ` ${JSON.stringify({ [evil]: evil, HOOKMILL_RUN_ID: evil, prompt: evil, n: [1e300] })}\r\n`,
  );
  const id = await post(body, {
    'X-Event': `${marker}; touch ${marker}`,
    'User-Agent': marker,
    'X-Env': marker,
  });
  await expect.poll(async () => (await runsOf(id))[0]?.state).toBe('succeeded');

  const [run] = await runsOf(id);
  const directory = `.hookmill/runs/${run?.id}`;
  expect(readdirSync(workspace.path(directory)).sort()).toEqual([
    'event-headers.json',
    'event-payload.json',
    'home',
    'prompt.md',
    'seen.json',
  ]);
  expect(readFileSync(workspace.path(`${directory}/event-payload.json`)).equals(body)).toBe(true);
  expect(JSON.parse(workspace.read(`${directory}/event-headers.json`))).toMatchObject({
    'user-agent': marker,
  });
  const seen = workspace.read(`${directory}/seen.json`);
  expect(seen).not.toContain(marker);
  const { argv, env, stdin, cwd } = JSON.parse(seen);
  expect(argv).toEqual([process.execPath, workspace.path('command')]);
  expect(cwd).toBe(workspace.path(directory));
  expect(stdin).toBe(workspace.read(`${directory}/prompt.md`));
  expect(stdin).toMatch(/^Do act\.\n\n---\n/);
  for (const told of ['orders', id, 'event-payload.json', 'untrusted']) expect(stdin).toContain(told);
  expect(env).toMatchObject({ HOOKMILL_DELIVERY_ID: id, HOOKMILL_WEBHOOK: 'orders' });
});

test('a command that writes without end, ignores its signal, leaves children or fails harms nothing but its own run', async () => {
  // A shell is there in milliseconds: only who means to takes longer than the limit.
  const script = `case $HOOKMILL_AUTOMATION in
    flood) while printf %0100000d 0; do sleep 0.1; done ;;
    stubborn) trap '' TERM; while :; do sleep 600; done ;;
    fork) for child in 1 2 3; do sleep 600 & echo $! >> children; done ;;
    fail) exit 1 ;;
  esac`;
  const automations = ['fail', 'flood', 'fork', 'good', 'stubborn'];
  const { workspace, store, post, runsOf, daemon } = await serveHere(automations, 'sh', script, {
    timeLimitSeconds: 3,
  });
  const first = await post('{"n":0}');
  const runOf = async (deliveryId: string, automation: string) =>
    (await runsOf(deliveryId)).find(run => run.automation === automation);
  await expect.poll(async () => (await runOf(first, 'good'))?.state).toBe('succeeded');
  await expect.poll(async () => (await runOf(first, 'stubborn'))?.state).toBe('running');

  // Meanwhile the ingress answers, and further runs start beside the two that hold on.
  const second = await post('{"n":1}');
  await expect.poll(async () => (await runOf(second, 'good'))?.state).toBe('succeeded');

  const hasEnded = ({ state }: Run) => state === 'succeeded' || state === 'failed';
  await expect.poll(async () => (await runsOf(first)).every(hasEnded)).toBe(true);
  const runs = await runsOf(first);
  const outcome = (name: string) => {
    const { state, attempts, error } = runs.find(run => run.automation === name) ?? {};
    return { state, attempts, error };
  };
  const timedOut = { state: 'failed', attempts: 1, error: 'the command timed out after 3 s' };
  expect(automations.map(outcome)).toEqual([
    { state: 'failed', attempts: 1, error: 'the command exited with status 1' },
    timedOut,
    { state: 'succeeded', attempts: 1, error: undefined },
    { state: 'succeeded', attempts: 1, error: undefined },
    timedOut,
  ]);
  const idOf = (name: string) => runs.find(run => run.automation === name)?.id;
  const output = await store.runFiles.readOutput(idOf('flood') ?? '');
  output?.stream.destroy();
  expect(output?.size).toBeLessThan(11_000);
  for (const pid of workspace
    .read(`.hookmill/runs/${idOf('fork')}/children`)
    .trim()
    .split('\n')) {
    await expect.poll(() => isAlive(Number(pid))).toBe(false);
  }
  await post('{"n":2}');
  expect((await daemon.readyz()).status).toBe('ready');
});

/** Whether the process is alive; one that has ended and waits for its parent is not. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

test.runIf(process.platform === 'linux')('a command finds our secrets in no environment', async () => {
  const key = Buffer.alloc(32, 7).toString('base64');
  const url = 'postgres://hookmill:pa55word@127.0.0.1/db';
  const script = 'env > own; cat /proc/$PPID/environ > of-the-daemon';
  const env = { HOOKMILL_KEY: key, HOOKMILL_STORE_DIRECT: url, BESIDE_HOOKMILL_KEY: 'kept' };
  const { workspace, post, runsOf } = await serve(['look'], 'sh', script, { env });
  const id = await post('{}');
  await expect.poll(async () => (await runsOf(id))[0]?.state).toBe('succeeded');
  const [run] = await runsOf(id);
  const read = (file: string) => workspace.read(`.hookmill/runs/${run?.id}/${file}`);
  expect(read('own')).toContain('HOOKMILL_RUN_ID');
  expect(read('of-the-daemon')).toContain('BESIDE_HOOKMILL_KEY=kept');
  for (const secret of [key, url]) expect(read('own') + read('of-the-daemon')).not.toContain(secret);
});

test('metrics count attempts by what became of the run, and the runs that are not over', async () => {
  const script = `case $HOOKMILL_AUTOMATION in
    fail) exit 1 ;;
    hold) while [ ! -e go ]; do sleep 0.05; done ;;
  esac`;
  const { workspace, daemon, post, runsOf } = await serveHere(['fail', 'hold'], 'sh', script);
  const id = await post('{}');
  const attempts = (automation: string, state: string) =>
    `\nhookmill_run_attempts_total{factory="default",automation="${automation}",state="${state}"} 1\n`;
  await expect.poll(daemon.metrics).toContain(attempts('fail', 'failed'));
  await expect.poll(daemon.metrics).toMatch(/^hookmill_runs_running 1$/m);
  const metrics = await daemon.metrics();
  expect(metrics).toMatch(/^hookmill_runs_queued 0$/m);
  expect(metrics).toMatch(/^hookmill_runs_waiting 0$/m);
  expect(metrics).toMatch(/^hookmill_run_queue_age_seconds 0$/m);
  const held = (await runsOf(id)).find(({ automation }) => automation === 'hold');
  workspace.write(`.hookmill/runs/${held?.id}/go`, '');
  await expect.poll(daemon.metrics).toContain(attempts('hold', 'succeeded'));
  expect(await daemon.metrics()).toMatch(/^hookmill_runs_running 0$/m);
});

test('a command gets a working copy of the repository in the settings', async () => {
  const { bare, commit } = makeUpstream();
  const after = commit({ README: 'hello' });
  const { workspace, post, runsOf } = await serveHere(
    ['look'],
    'sh',
    'cp "$HOOKMILL_WORKSPACE/README" seen',
    {
      workspace: { repository: bare, ref: '$.after' },
    },
  );
  const id = await post(JSON.stringify({ after }));
  await expect.poll(async () => (await runsOf(id))[0]?.state).toBe('succeeded');
  expect(workspace.read(`.hookmill/runs/${(await runsOf(id))[0]?.id}/seen`)).toBe('hello');
});

test('what a command leaves in artifacts/ is shown and downloaded, also through the API', async () => {
  const script =
    'mkdir artifacts; echo "all is well" > artifacts/report.md; ln -s /etc/passwd artifacts/passwd';
  const { workspace, daemon, post, runsOf } = await serveHere(['review'], 'sh', script);
  const id = await post('{}');
  await expect.poll(async () => (await runsOf(id))[0]?.state).toBe('succeeded');
  const run = (await runsOf(id))[0]?.id ?? '';
  expect((await workspace.hookmill('runs', 'show', run)).stdout).toContain('report.md (12 bytes)');
  const { stdout: token } = await workspace.hookmill('tokens', 'create', 'reader', '--permission', 'read');
  const remote = { env: { HOOKMILL_SERVER: daemon.managementUrl, HOOKMILL_TOKEN: token.trim() } };
  for (const options of [{}, remote]) {
    const hookmill = (...words: string[]) => workspace.hookmill(...words, options);
    expect((await hookmill('runs', 'artifacts', run)).stdout).toMatch(/^NAME +BYTES\nreport\.md +12\n$/);
    expect((await hookmill('runs', 'artifacts', run, 'report.md')).stdout).toBe('all is well\n');
    const missing = await hookmill('runs', 'artifacts', run, 'passwd');
    expect(missing).toMatchObject({ exitCode: 1, stdout: '' });
    expect(missing.stderr).toContain('no artifact with this name');
  }
});
