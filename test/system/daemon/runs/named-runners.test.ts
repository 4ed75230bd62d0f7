import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { homeAt } from '../../../../store/home/home.ts';
import { applyTriggered, readNewestRun } from '../../../support/apply-triggered.ts';
import { bearerOf } from '../../../support/daemon.ts';
import { eventually } from '../../../support/eventually.ts';
import { send } from '../../../support/http.ts';
import { canBecomeOthers } from '../../../support/privilege.ts';
import { readStore } from '../../../support/stored.ts';
import {
  openWebhookDaemon,
  startWebhookDaemon,
  type WebhookDaemon,
} from '../../../support/webhook-daemon.ts';
import { makeWorkspace } from '../../../support/workspace.ts';
import { recordRun } from './record-runs.ts';
import { enterable, nodeCommand, openRunBench, outputOf, runThatIs } from './run-samples.ts';

const deploy = {
  kind: 'command',
  argv: ['printenv', 'GH_TOKEN', 'HOOKMILL_RUNNER', 'HOOKMILL_LANE'],
  secretEnvironment: { GH_TOKEN: 'BOT' },
  factories: ['def*'],
  automations: ['deploy-*'],
};

async function post(daemon: WebhookDaemon, { uid, secret }: { uid: string; secret: string }, issue = 1) {
  const sent = { headers: bearerOf(secret), body: JSON.stringify({ issue }) };
  expect((await send(`${daemon.ingressUrl}/webhooks/w/${uid}`, sent)).status).toBe(202);
}

/** Waits until the daemon serves what `applyTriggered` applied after its start. */
const servesApplied = (daemon: WebhookDaemon) =>
  eventually(async () => (await daemon.readyz()).factories[0]?.serial === 2);

test('an automation gets the runner that it names, with its team secret and lane, and plans refuse what is not offered', async () => {
  const workspace = makeWorkspace();
  const runners = { deploy, mine: { kind: 'directory', factories: ['other'] } };
  const daemon = await startWebhookDaemon({ workspace, settings: { runs: { runners } } });
  await workspace.hookmill('secrets', 'set', 'BOT', { stdin: 'the value of the bot' });
  const webhook = await applyTriggered(workspace, {
    'deploy-app': { runner: 'deploy', order: '$.issue', attempts: 1 },
  });
  await servesApplied(daemon);
  await post(daemon, webhook);
  const run = await eventually(async () => {
    const newest = await readNewestRun(workspace);
    return newest?.state === 'succeeded' ? newest : undefined;
  });
  expect(run).toMatchObject({ runner: 'deploy', lane: expect.stringMatching(/^[\w-]{22}$/) });
  const { stdout: output } = await workspace.hookmill('runs', 'logs', run.id);
  expect(output).toContain(`[secret]\ndeploy\n${run.lane}\n`);
  expect((await workspace.hookmill('runs', 'list')).stdout).toContain('deploy-app on deploy');
  expect((await workspace.hookmill('automations', 'list')).stdout).toMatch(
    /^deploy-app +yes, on deploy +hook$/m,
  );
  expect((await workspace.hookmill('automations', 'show', 'deploy-app')).stdout).toContain(`
runs     The runner \`deploy\` executes its runs.
runs     A run has at most 1 attempt.
runs     Runs with the same \`$.issue\` start one after the other; when one fails, the next one starts.
`);
  expect((await workspace.hookmill('runners', 'list')).stdout).toBe(
    `RUNNER   KIND       AUTOMATIONS  REPOSITORIES
default  directory  *
deploy   command    deploy-*
`,
  );
  expect(await daemon.metrics()).toContain('hookmill_runner_places{runner="deploy"} 4');

  for (const [name, runner, message, hint] of [
    ['deploy-app', 'deplyo', 'the daemon offers no runner deplyo', 'did you mean deploy?'],
    ['deploy-app', 'mine', 'may not use the runner mine', 'it may use default, deploy;'],
    ['triage', 'deploy', 'the automation triage of the factory default may not use', 'it may use default;'],
  ] as const) {
    workspace.remove('automations');
    const triggers = [{ provider: 'webhook', event: 'received', filter: { webhook: 'hook' } }];
    workspace.write(
      `automations/${name}.yaml`,
      `prompt: Act.\nrunner: ${runner}\ntriggers: ${JSON.stringify(triggers)}\n`,
    );
    for (const command of ['plan', 'apply']) {
      const { exitCode, stdout, stderr } = await workspace.hookmill(command);
      expect(exitCode).toBe(1);
      expect(stdout + stderr).toContain(`automations/${name}.yaml:2:9: error: `);
      expect(stdout + stderr).toContain(message);
      expect(stdout + stderr).toContain(hint);
    }
  }
});

test('a busy runner leaves the places of others free', async () => {
  const workspace = makeWorkspace();
  const sleep = { kind: 'command', argv: ['sleep', '600'] };
  const quick = { kind: 'directory', factories: ['*'] };
  const daemon = await startWebhookDaemon({
    workspace,
    settings: { runs: { runner: sleep, concurrency: 1, runners: { quick } } },
  });
  const webhook = await applyTriggered(workspace, { act: {}, look: { runner: 'quick' } });
  await servesApplied(daemon);
  const statesOf = (automation: string) =>
    readStore(homeAt(workspace.home), async ({ deliveries }) => {
      const runs = await deliveries.listRuns({ factory: 'default', automation, limit: 9 });
      return runs.map(({ state }) => state).sort();
    });
  for (let n = 0; n < 3; n++) await post(daemon, webhook, n);
  await expect.poll(() => statesOf('look')).toEqual(['succeeded', 'succeeded', 'succeeded']);
  expect(await statesOf('act')).toEqual(['queued', 'queued', 'running']);
  expect(await daemon.metrics()).toContain('hookmill_runner_runs{runner="default"} 1');
});

test('a run whose runner is gone, or that may not use it any more, fails with that reason', async () => {
  const workspace = makeWorkspace();
  const start = (runners: object) =>
    openWebhookDaemon({ workspace, settings: { runs: { runners, runnerWaitSeconds: 0 } } });
  const offering = await start({ deploy: { kind: 'directory', factories: ['*'] } });
  const webhook = await applyTriggered(workspace, { act: { runner: 'deploy' } });
  await offering.stop();
  for (const [runners, reason] of [
    [{}, 'the daemon offers no runner deploy any more; add it to runs.runners, then retry the run'],
    [{ deploy: { kind: 'directory' } }, 'the automation may not use the runner deploy any more'],
  ] as const) {
    const daemon = await start(runners);
    await post(daemon, webhook, runners === undefined ? 0 : Object.keys(runners).length);
    const failed = await eventually(async () => {
      const newest = await readNewestRun(workspace);
      return newest?.error === reason ? newest : undefined;
    });
    expect(failed).toMatchObject({ state: 'failed', attempts: 1, runner: 'deploy' });
    await daemon.stop();
  }
});

test('a run whose runner no daemon offers waits, and fails only after the time that the operator sets', async () => {
  const bench = await openRunBench();
  const runnerWaitMs = 600_000;
  let aheadMs = 0;
  const options = { runnerWaitMs, findGone: async (names: readonly string[]) => names };
  await bench.start({ runner: nodeCommand('') }, { ...options, nowMs: () => Date.now() + aheadMs });
  const waiting = await recordRun(bench.deliveryLog, { flow: { runner: 'elsewhere' } });
  const own = await recordRun(bench.deliveryLog);
  await runThatIs(bench, own, { state: 'succeeded' });
  expect(await bench.store.deliveries.findRun(waiting)).toMatchObject({ state: 'queued', attempts: 0 });
  aheadMs = runnerWaitMs + 1_000;
  const error = expect.stringContaining('offers no runner elsewhere');
  await runThatIs(bench, waiting, { state: 'failed', error });
});

test('a daemon leaves the runs of runners that others offer', async () => {
  const bench = await openRunBench();
  await bench.start({ runner: nodeCommand('') });
  const elsewhere = await recordRun(bench.deliveryLog, { flow: { runner: 'elsewhere' } });
  const own = await recordRun(bench.deliveryLog);
  await runThatIs(bench, own, { state: 'succeeded' });
  expect(await bench.store.deliveries.findRun(elsewhere)).toMatchObject({ state: 'queued', attempts: 0 });
});

test.runIf(canBecomeOthers)(
  'two runners with different users see neither files, variables nor processes of each other',
  async () => {
    const bench = await openRunBench();
    for (const name of ['ONE', 'TWO']) await bench.store.teamSecrets.set(name, `the secret ${name}`);
    const directory = enterable();
    const command = (user: string, secret: string, script: string) => ({
      ...{ kind: 'command', argv: ['sh', '-c', script], user, environment: ['OTHER'], factories: ['*'] },
      secretEnvironment: { SECRET: secret },
    });
    const spying = `id -un; echo "$SECRET" | wc -c; cat "$OTHER/prompt.md"; ls "$OTHER"; cat /proc/[0-9]*/environ; ps -e`;
    const environment = { ...process.env, OTHER: '' };
    const first = await recordRun(bench.deliveryLog, { flow: { runner: 'one' } });
    environment.OTHER = `${directory}/${first}`;
    await bench.start(
      {
        directory,
        runners: {
          one: command('nobody', 'ONE', 'touch at-work; : a-mark-of-one; sleep 600'),
          two: command('daemon', 'TWO', spying),
        },
      },
      { environment },
    );
    await expect.poll(() => existsSync(`${environment.OTHER}/at-work`)).toBe(true);
    const second = await recordRun(bench.deliveryLog, { flow: { runner: 'two' } });
    await runThatIs(bench, second, {});
    await expect
      .poll(async () => (await bench.store.deliveries.findRun(second))?.finishedAtMs ?? 0)
      .toBeGreaterThan(0);
    const output = await outputOf(bench, second);
    expect(output).toMatch(/\]\ndaemon\n15\n/);
    expect(output).toContain('Permission denied');
    expect(output).not.toMatch(/a-mark-of-one|the secret ONE|Triage this payment|sleep/);
  },
);

test('a command without the value of its team secret fails at once, and says what to do', async () => {
  const bench = await openRunBench();
  await bench.start({ runner: { ...nodeCommand('console.log(1)'), secretEnvironment: { GH_TOKEN: 'BOT' } } });
  const run = await runThatIs(bench, await recordRun(bench.deliveryLog), { state: 'failed' });
  expect(run.error).toContain('the team secret BOT has no value; set it with `hookmill secrets set BOT`');
  expect(await outputOf(bench, run.id)).not.toContain('1\n1');
});
