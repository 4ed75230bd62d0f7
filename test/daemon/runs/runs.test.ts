import { readdirSync, readFileSync, statSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import type { Run } from '../../../store/delivery-log.ts';
import { openSqliteReader } from '../../../store/embedded/delivery-log/read/reader.ts';
import { bearerOf, startDaemonForTest, type TestDaemon } from '../../support/daemon.ts';
import { send } from '../../support/http.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

interface Served {
  readonly workspace: Workspace;
  readonly daemon: TestDaemon;
  post(body: string | Uint8Array, headers?: Record<string, string>): Promise<string>;
  runsOf(deliveryId: string): Run[];
}

/** A daemon whose command is this node program, with automations that each start a run of every delivery. */
async function serve(automations: readonly string[], source: string, runs: object): Promise<Served> {
  const workspace = makeWorkspace();
  workspace.write('command.mjs', source);
  workspace.write('webhooks/orders.yaml', 'secretName: ORDERS\ndeliveryIdHeader: X-Event\n');
  const secret = (await workspace.hookmill('secrets', 'generate', 'ORDERS')).stdout.trim();
  const { stdout } = await workspace.hookmill('apply', '-o', 'json');
  const [{ uid }] = JSON.parse(stdout).changes;
  for (const name of automations) {
    const trigger = { provider: 'webhook', event: 'received', filter: { webhook_ids: [uid] } };
    workspace.write(
      `automations/${name}.yaml`,
      JSON.stringify({ prompt: `Do ${name}.`, triggers: [trigger] }),
    );
  }
  await workspace.hookmill('apply');
  const argv = [process.execPath, workspace.path('command.mjs')];
  const runner = { kind: 'command', argv, timeLimitSeconds: 4, outputBytes: 10_000 };
  const daemon = await startDaemonForTest({
    workspace,
    settings: {
      runs: { runner, backOff: { firstSeconds: 0.01, maxSeconds: 0.01 }, concurrency: 8, ...runs },
    },
  });
  const log = openSqliteReader(workspace.path('.hookmill/deliveries.db'));
  onTestFinished(() => log.close());
  return {
    workspace,
    daemon,
    post: async (body, headers = {}) => {
      const url = `${daemon.ingressUrl}/webhooks/w/${uid}`;
      const answer = await send(url, { headers: { ...bearerOf(secret), ...headers }, body });
      expect(answer.status).toBe(202);
      return answer.deliveryId ?? '';
    },
    runsOf: deliveryId => log.listRunsOfDelivery(deliveryId),
  };
}

test('what a sender writes reaches a command as a file alone: no argument, no variable, no message holds any of it', async () => {
  const source = `
    import { readFileSync, writeFileSync } from 'node:fs';
    const stdin = readFileSync(0, 'utf8');
    writeFileSync('seen.json', JSON.stringify({ argv: process.argv, env: process.env, stdin, cwd: process.cwd() }));`;
  const { workspace, post, runsOf } = await serve(['act'], source, {});
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
  await expect.poll(() => runsOf(id)[0]?.state, { timeout: 10_000 }).toBe('succeeded');

  const [run] = runsOf(id);
  const directory = `.hookmill/runs/${run?.id}`;
  expect(readdirSync(workspace.path(directory)).sort()).toEqual([
    'event-payload.json',
    'output.log',
    'prompt.md',
    'seen.json',
  ]);
  expect(readFileSync(workspace.path(`${directory}/event-payload.json`)).equals(body)).toBe(true);
  const seen = workspace.read(`${directory}/seen.json`);
  expect(seen).not.toContain(marker);
  const { argv, env, stdin, cwd } = JSON.parse(seen);
  expect(argv).toEqual([process.execPath, workspace.path('command.mjs')]);
  expect(cwd).toBe(workspace.path(directory));
  expect(stdin).toBe(workspace.read(`${directory}/prompt.md`));
  expect(stdin).toMatch(/^Do act\.\n\n---\n/);
  for (const told of ['orders', id, 'event-payload.json', 'untrusted']) expect(stdin).toContain(told);
  expect(env).toMatchObject({ HOOKMILL_DELIVERY_ID: id, HOOKMILL_WEBHOOK: 'orders' });
});

test('a command that writes without end, ignores its signal, leaves children or fails harms nothing but its own run', async () => {
  const source = `
    import { spawn } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    const behave = {
      flood: () => {
        const line = 'x'.repeat(65_536);
        const write = () => process.stdout.write(line, write);
        write();
      },
      stubborn: () => {
        process.on('SIGTERM', () => undefined);
        setInterval(() => undefined, 1_000);
      },
      fork: () => {
        const children = [1, 2, 3].map(() => spawn('sleep', ['600'], { stdio: 'inherit' }));
        writeFileSync('children', children.map(({ pid }) => pid).join(' '));
        for (const child of children) child.unref();
      },
      fail: () => process.exit(1),
      good: () => undefined,
    };
    behave[process.env.HOOKMILL_AUTOMATION]();`;
  const automations = ['fail', 'flood', 'fork', 'good', 'stubborn'];
  const { workspace, post, runsOf, daemon } = await serve(automations, source, { attempts: 1 });
  const first = await post('{"n":0}');
  const runOf = (deliveryId: string, automation: string) =>
    runsOf(deliveryId).find(run => run.automation === automation);
  await expect.poll(() => runOf(first, 'good')?.state, { timeout: 10_000 }).toBe('succeeded');
  await expect.poll(() => runOf(first, 'stubborn')?.state).toBe('running');

  // Meanwhile the ingress answers, and further runs start beside the two that hold on.
  const second = await post('{"n":1}');
  await expect.poll(() => runOf(second, 'good')?.state, { timeout: 10_000 }).toBe('succeeded');

  const ended = () => runsOf(first).every(({ state }) => state === 'succeeded' || state === 'failed');
  await expect.poll(ended, { timeout: 25_000, interval: 50 }).toBe(true);
  const outcome = (name: string) => {
    const { state, attempts, error } = runOf(first, name) ?? {};
    return { state, attempts, error };
  };
  const timedOut = { state: 'failed', attempts: 1, error: 'the command took more than 4 s and was ended' };
  expect(automations.map(outcome)).toEqual([
    { state: 'failed', attempts: 1, error: 'the command exited with 1' },
    timedOut,
    { state: 'succeeded', attempts: 1, error: undefined },
    { state: 'succeeded', attempts: 1, error: undefined },
    timedOut,
  ]);
  const directoryOf = (name: string) => workspace.path(`.hookmill/runs/${runOf(first, name)?.id}`);
  expect(statSync(`${directoryOf('flood')}/output.log`).size).toBeLessThan(11_000);
  for (const pid of readFileSync(`${directoryOf('fork')}/children`, 'utf8').split(' ')) {
    await expect.poll(() => isAlive(Number(pid))).toBe(false);
  }
  await post('{"n":2}');
  expect((await daemon.readyz()).status).toBe('ready');
});

/** Whether there is such a process; one that has ended and waits for its parent is none. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
