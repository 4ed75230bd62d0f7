import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { listRuns } from '../../../../operations/log/runs.ts';
import { homeAt } from '../../../../store/home/home.ts';
import { applyTriggered, readNewestRun } from '../../../support/apply-triggered.ts';
import { bearerOf } from '../../../support/daemon.ts';
import { send } from '../../../support/http.ts';
import { canBecomeOthers } from '../../../support/privilege.ts';
import { factoryIn } from '../../../support/stored.ts';
import { startWebhookDaemon } from '../../../support/webhook-daemon.ts';
import { makeWorkspace } from '../../../support/workspace.ts';
import { recordRun } from './record-runs.ts';
import {
  enterable,
  nodeCommand,
  openRunBench,
  outputOf,
  type RunBench,
  runThatIs,
  temporaryDirectory,
} from './run-samples.ts';

const propose = nodeCommandOf(`import fs from 'node:fs';
  fs.mkdirSync('artifacts');
  fs.writeFileSync('artifacts/comment.md', 'Looks good');
  fs.writeFileSync('artifacts/result.json', '{"message": "Proposed", "costUsd": 0.5}');
  console.log('proposed');`);
const payload = Buffer.from('{"secret": "HOSTILE"}');

/** A command, made when the test runs. */
function nodeCommandOf(source: string) {
  return (settings: Record<string, unknown> = {}) => nodeCommand(source, settings);
}

/** What the second command finds: its user, its folder, its variables and its standard input. */
const look = ['sh', '-c', 'id -un; ls; ls artifacts; cat artifacts/comment.md; echo; env; cat'];

const readArtifact = async ({ store }: RunBench, id: string, name: string) => {
  const artifact = await store.runFiles.readArtifact(id, name);
  return artifact && (await new Response(artifact.stream as unknown as ReadableStream).text());
};

test('a second command gets the artifacts and variables of a run, and nothing else', async () => {
  const bench = await openRunBench();
  const argv = ['sh', '-c', `${look[2]}; echo done > artifacts/link.txt`];
  const observed: unknown[] = [];
  await bench.start(
    { runner: propose({ afterwards: { argv, environment: ['WANTED'] } }) },
    {
      environment: { ...process.env, WANTED: 'wanted', OTHER: 'other' },
      observe: (_, state, usage) => void observed.push([state, usage?.costUsd]),
    },
  );
  const id = await recordRun(bench.deliveryLog, {
    payload,
    flow: { order: { lane: 'a lane', hold: false } },
  });
  const run = await runThatIs(bench, id, { state: 'succeeded' });
  expect(run).toMatchObject({ attempts: 1, claims: 2, report: { message: 'Proposed', costUsd: 0.5 } });
  const output = await outputOf(bench, id);
  const second = output.slice(output.indexOf('[hookmill: afterwards, attempt 1 at'));
  expect(second).toMatch(/\]\n\S+\nartifacts\ncomment\.md\nresult\.json\nLooks good\n/);
  for (const line of [`HOOKMILL_RUN_ID=${id}`, 'HOOKMILL_LANE=a lane', 'WANTED=wanted'])
    expect(second).toContain(line);
  expect(second).not.toMatch(/HOSTILE|OTHER=|HOOKMILL_PAYLOAD_FILE|prompt\.md/);
  expect(await readArtifact(bench, id, 'link.txt')).toBe('done\n');
  expect(existsSync(`${bench.store.runFiles.locate(id)}.afterwards`)).toBe(false);
  expect(observed).toEqual([
    ['proposed', 0.5],
    ['succeeded', undefined],
  ]);
});

test('only the second command is repeated when it fails, also by a retry', async () => {
  const bench = await openRunBench();
  const backOff = { firstSeconds: 0.001, maxSeconds: 0.001 };
  const argv = ['sh', '-c', 'test -e /dev/null && exit 3'];
  await bench.start({ runner: propose({ afterwards: { argv } }), attempts: 2, backOff });
  const id = await recordRun(bench.deliveryLog);
  const failed = await runThatIs(bench, id, { state: 'failed' });
  expect(failed).toMatchObject({ attempts: 2, error: 'the command exited with status 3' });
  await bench.deliveryLog.retryRun({ id, nowMs: Date.now() });
  await runThatIs(bench, id, { state: 'failed', claims: 5 });
  expect((await outputOf(bench, id)).match(/^proposed$/gm)).toHaveLength(1);
});

test('each attempt of the second command acts on what the first one left', async () => {
  const bench = await openRunBench();
  const backOff = { firstSeconds: 0.001, maxSeconds: 0.001 };
  const argv = ['sh', '-c', 'cat artifacts/comment.md; echo; rm artifacts/*; test "$HOOKMILL_ATTEMPT" = 2'];
  await bench.start({ runner: propose({ afterwards: { argv } }), attempts: 2, backOff });
  const id = await recordRun(bench.deliveryLog);
  await runThatIs(bench, id, { state: 'succeeded', attempts: 2 });
  expect((await outputOf(bench, id)).match(/^Looks good$/gm)).toHaveLength(2);
  expect(await readArtifact(bench, id, 'comment.md')).toBe('Looks good');
  await bench.store.runFiles.remove(id);
  expect(existsSync(`${bench.store.runFiles.locate(id)}.afterwards`)).toBe(false);
});

test('that hookmill cannot keep artifacts is not the result of a run: it waits, and goes on', async () => {
  const bench = await openRunBench();
  const { runFiles } = bench.store;
  const { keepArtifacts } = runFiles;
  const isFull = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  const kept = vi.fn(keepArtifacts).mockRejectedValueOnce(isFull);
  Object.assign(runFiles, { keepArtifacts: kept });
  const runner = propose({ afterwards: { argv: ['cat', 'artifacts/comment.md'] } });
  await bench.start({ runner, attempts: 1 });
  const id = await recordRun(bench.deliveryLog);
  const waiting = await runThatIs(bench, id, { state: 'queued', claims: 1 });
  expect(waiting).toMatchObject({
    attempts: 0,
    error: expect.stringContaining('could not be executed (ENOSPC)'),
  });
  expect(waiting).not.toHaveProperty('afterwards');
  await runThatIs(bench, id, { state: 'succeeded', attempts: 1 });
  expect(await outputOf(bench, id)).toMatch(/^Looks good$/m);
});

test('the second command does not act if something was left out of the artifacts, and the run says so', async () => {
  const bench = await openRunBench();
  const argv = ['sh', '-c', 'mkdir artifacts; echo x > artifacts/.odd'];
  const runner = { kind: 'command', argv, afterwards: { argv: ['echo', 'acted'] } };
  await bench.start({ runner, attempts: 1 });
  const id = await recordRun(bench.deliveryLog);
  const failed = await runThatIs(bench, id, { state: 'failed' });
  expect(failed.error).toMatch(/^not all artifacts were kept: .*; so the second command did not act$/);
  expect(await outputOf(bench, id)).not.toContain('acted');
});

test('the artifacts of an attempt are gone once another one has begun', async () => {
  const bench = await openRunBench();
  const go = join(temporaryDirectory(), 'go');
  const script = `test "$HOOKMILL_ATTEMPT" = 1 && { mkdir artifacts; echo old > artifacts/old.md; exit 1; }
    until [ -e ${go} ]; do sleep 0.02; done`;
  const backOff = { firstSeconds: 0.3, maxSeconds: 0.3 };
  const runner = { kind: 'command', argv: ['sh', '-c', script], afterwards: { argv: ['echo', 'acted'] } };
  await bench.start({ runner, backOff });
  const id = await recordRun(bench.deliveryLog);
  const list = () => bench.store.runFiles.listArtifacts(id);
  await expect.poll(list).toMatchObject([{ name: 'old.md' }]);
  await expect.poll(list).toEqual([]);
  writeFileSync(go, '');
  expect(await runThatIs(bench, id, { state: 'succeeded', attempts: 2 })).not.toHaveProperty('afterwards');
});

test('without artifacts there is nothing to do, and a run has succeeded', async () => {
  const bench = await openRunBench();
  await bench.start({ runner: nodeCommand('', { afterwards: { argv: ['false'] } }) });
  const id = await recordRun(bench.deliveryLog);
  expect(await runThatIs(bench, id, { state: 'succeeded' })).not.toHaveProperty('afterwards');
});

test.runIf(canBecomeOthers)('the second command has a user and a team secret of its own', async () => {
  const bench = await openRunBench();
  await bench.store.teamSecrets.set('BOT', 'the value of the bot');
  const user = { user: 'nobody' };
  const afterwards = { ...user, argv: ['sh', '-c', 'id -un; echo "$GH_TOKEN"; echo x > artifacts/x'] };
  const runner = { ...propose(), afterwards: { ...afterwards, secretEnvironment: { GH_TOKEN: 'BOT' } } };
  await bench.start({ directory: enterable(), runner });
  const id = await recordRun(bench.deliveryLog);
  await runThatIs(bench, id, { state: 'succeeded' });
  expect(await outputOf(bench, id)).toMatch(/\]\nnobody\n\[secret\]\n/);
  expect(await readArtifact(bench, id, 'x')).toBe('x\n');
});

test('what needs approval waits for it, says so, and is done again differently', async () => {
  const workspace = makeWorkspace();
  const { hookmill } = workspace;
  const { uid, secret } = await applyTriggered(workspace);
  const afterwards = { argv: ['cat', 'artifacts/comment.md'], approval: 'required' };
  const daemon = await startWebhookDaemon({
    workspace,
    settings: { runs: { runner: propose({ afterwards }) } },
  });
  const sent = { headers: bearerOf(secret), body: '{"n":1}' };
  expect((await send(`${daemon.ingressUrl}/webhooks/w/${uid}`, sent)).status).toBe(202);
  const factory = factoryIn(homeAt(workspace.home));
  onTestFinished(() => factory.store.close());
  const list = async () => (await listRuns(factory, { limit: 9 }, 'manage')).rows;
  await expect.poll(list).toMatchObject([{ state: 'queued', waitsFor: 'approval' }]);
  const [{ id = '' } = {}] = await list();
  expect((await hookmill('why', id)).stdout).toContain(`hookmill runs approve ${id}`);
  expect((await hookmill('runs', 'list')).stdout).toContain('queued (waits for approval)');
  expect((await hookmill('runs', 'again', id)).stderr).toContain('wait for its end, or cancel it first');
  expect(await hookmill('runs', 'approve', id)).toMatchObject({ exitCode: 0, stderr: `Approved ${id}.\n` });
  await expect
    .poll(list)
    .toMatchObject([{ state: 'succeeded', afterwards: { approval: { by: expect.any(String) } } }]);
  expect((await hookmill('runs', 'logs', id)).stdout).toContain('Looks good');
  expect((await hookmill('runs', 'approve', id)).stderr).toMatch(/has approved the run/);

  workspace.write('prompt.md', 'Look again.\n');
  const again = await hookmill('runs', 'again', id, '--prompt', 'prompt.md');
  const [, newest = ''] = /^(run_\w+)\n$/.exec(again.stdout) ?? [];
  await expect.poll(list).toMatchObject([{ id: newest, againOf: id, waitsFor: 'approval' }, { id }]);
  expect(workspace.read(`.hookmill/runs/${newest}/prompt.md`)).toMatch(/^Look again\.\n/);
  expect((await hookmill('runs', 'show', newest)).stdout).toContain(`again of`);
  expect((await hookmill('runs', 'again', id, '--runner', 'deploy')).stderr).toContain(
    'the daemon offers no runner deploy',
  );
});

test('a run that nobody approves in time is cancelled', async () => {
  const workspace = makeWorkspace();
  const { uid, secret } = await applyTriggered(workspace);
  const afterwards = { argv: ['true'], approval: 'required', approvalDays: 0.000_001 };
  const settings = { runs: { runner: propose({ afterwards }) } };
  const daemon = await startWebhookDaemon({ workspace, settings });
  await send(`${daemon.ingressUrl}/webhooks/w/${uid}`, { headers: bearerOf(secret), body: '{}' });
  const reason = expect.stringMatching(/^nobody approved it by 2\S+Z$/);
  await expect
    .poll(() => readNewestRun(workspace))
    .toMatchObject({ state: 'cancelled', cancel: { by: 'hookmill', reason } });
});
