import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, inject, onTestFinished, test } from 'vitest';
import { hasEnded } from '../../../../schema/delivery.ts';
import { interruptionsAloneMax, interruptionsMax } from '../../../../store/delivery-log/run-life.ts';
import { homeAt } from '../../../../store/home/home.ts';
import { applyTriggered, readNewestRun } from '../../../support/apply-triggered.ts';
import { bearerOf, startDaemon, startDaemonForTest } from '../../../support/daemon.ts';
import { eventually } from '../../../support/eventually.ts';
import { send } from '../../../support/http.ts';
import { startReceiver } from '../../../support/loopback-server.ts';
import { pickMoment } from '../../../support/moment.ts';
import { readStore } from '../../../support/stored.ts';
import { openWebhookDaemon } from '../../../support/webhook-daemon.ts';
import { makeWorkspace } from '../../../support/workspace.ts';
import { isAlive } from './run-samples.ts';

// Each attempt records itself and a child that ignores SIGTERM. A later one first records what is left of those before.
const script = `
  echo "$HOOKMILL_ATTEMPT $HOOKMILL_FENCING_TOKEN" >> "$OUT/attempts"
  for pid in $(cat "$OUT/pids"); do grep -hs ^State: "/proc/$pid/status" >> "$OUT/left"; done
  [ "$HOOKMILL_ATTEMPT" = 1 ] || exit 0
  (trap '' TERM; while :; do sleep 600; done) &
  echo "$$ $!" >> "$OUT/pids"
  wait`;

test.runIf(process.platform === 'linux')(
  'repeats the run of a killed daemon at once, after it has ended what that left',
  async () => {
    const workspace = makeWorkspace();
    for (const name of ['attempts', 'pids', 'left']) workspace.write(name, '');
    const runner = { kind: 'command', argv: ['sh', '-c', script], environment: ['OUT'] };
    const start = { workspace, settings: { runs: { runner } }, env: { OUT: workspace.directory } };
    const { uid, secret } = await applyTriggered(workspace);

    const killed = await startDaemon(start);
    const url = `${killed.ingressUrl}/webhooks/w/${uid}`;
    expect((await send(url, { headers: bearerOf(secret), body: '{}' })).status).toBe(202);
    const pids = (await eventually(() => workspace.read('pids'))).trim().split(' ');
    onTestFinished(() => endAll(pids));
    await killed.stop('SIGKILL');
    // Both are alive: a dead process would be a zombie.
    for (const pid of pids) expect(readFileSync(`/proc/${pid}/status`, 'utf8')).not.toMatch(/^State:\s+Z/m);

    await startDaemonForTest(start);
    const findRun = () => readNewestRun(workspace);
    await expect.poll(findRun).toMatchObject({ state: 'succeeded', attempts: 2, claims: 2 });
    expect(workspace.read('attempts')).toBe('1 1\n2 2\n');
    // A dead process that init has not looked at yet is a zombie.
    expect(workspace.read('left')).toMatch(/^(State:\s+Z \(zombie\)\n)*$/);
    // Nothing made it wait.
    const run = await findRun();
    expect(run?.notBeforeMs).toBe(run?.createdAtMs);
  },
);

test.runIf(process.platform === 'linux')(
  'cancels the run of a killed daemon only after it has ended what that left',
  async () => {
    const workspace = makeWorkspace();
    for (const name of ['attempts', 'pids', 'left']) workspace.write(name, '');
    const runner = { kind: 'command', argv: ['sh', '-c', script], environment: ['OUT'] };
    const start = { workspace, settings: { runs: { runner } }, env: { OUT: workspace.directory } };
    const { uid, secret } = await applyTriggered(workspace);
    const killed = await startDaemon(start);
    await send(`${killed.ingressUrl}/webhooks/w/${uid}`, { headers: bearerOf(secret), body: '{}' });
    const pids = (await eventually(() => workspace.read('pids'))).trim().split(' ');
    onTestFinished(() => endAll(pids));
    await killed.stop('SIGKILL');
    const { id = '' } = (await readNewestRun(workspace)) ?? {};
    const { stderr } = await workspace.hookmill('runs', 'cancel', id);
    expect(stderr).toBe(`${id} is being cancelled.\n`);
    expect((await workspace.hookmill('runs', 'list')).stdout).toContain('running (is being cancelled)');
    for (const pid of pids) expect(isAlive(pid)).toBe(true);

    await startDaemonForTest(start);
    await expect
      .poll(() => readNewestRun(workspace))
      .toMatchObject({ state: 'cancelled', attempts: 1, claims: 2 });
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(workspace.read('attempts')).toBe('1 1\n');
  },
);

// Twenty daemons. `npm test` has the daemon that is killed once, and the limit in the tests of stores.
test.runIf(inject('isLong'))(
  'in a loop of crashes, the run that kills its daemon each time fails after five, and no other one does, whatever ends the daemon then',
  async () => {
    const workspace = makeWorkspace();
    const whenKilling = (isKilling: boolean) => {
      const filter = { webhook: 'hook', payload: { kill: [isKilling] } };
      return { triggers: [{ provider: 'webhook', event: 'received', filter }] };
    };
    const receiver = await startReceiver((_, response) => {
      setTimeout(() => response.writeHead(204).end(), pickMoment() * 500);
    });
    const all = { attempts: 1, factories: ['*'], automations: ['*'] };
    const command = { kind: 'command', environment: ['OUT'], ...all };
    const runners = {
      kills: { ...command, argv: ['sh', '-c', 'echo >> "$OUT/killed"; kill -9 $PPID'] },
      acts: { ...command, argv: ['sleep', '0.3'] },
      sends: { kind: 'http', url: receiver.url, ...all },
    };
    const start = { workspace, settings: { runs: { runners } }, env: { OUT: workspace.directory } };
    // Definitions may name what a daemon offered.
    await (await startDaemon(start)).stop();
    const { uid, secret } = await applyTriggered(workspace, {
      kills: { runner: 'kills', ...whenKilling(true) },
      acts: { runner: 'acts', ...whenKilling(false) },
      keeps: whenKilling(false),
      sends: { runner: 'sends', ...whenKilling(false) },
    });
    workspace.write('killed', '');
    const post = (url: string, isKilling: boolean) =>
      send(url, { headers: bearerOf(secret), body: JSON.stringify({ kill: isKilling, at: pickMoment() }) });
    const list = () =>
      readStore(homeAt(workspace.home), ({ deliveries }) =>
        deliveries.listRuns({ factory: 'default', limit: 1_000 }),
      );
    for (let n = 1; n <= 20; n++) {
      const daemon = await startDaemon(start);
      const url = `${daemon.ingressUrl}/webhooks/w/${uid}`;
      if (n === 1) await post(url, true).catch(() => undefined);
      await post(url, false).catch(() => undefined);
      const hasFailed = (await list()).some(({ state }) => state === 'failed');
      if (hasFailed) await delay(pickMoment() * 600).then(() => daemon.process.kill('SIGKILL'));
      expect((await daemon.process).signal).toBe('SIGKILL');
    }
    await startDaemonForTest(start);
    await eventually(async () => (await list()).every(({ state }) => hasEnded(state)));
    const failed = (await list()).filter(({ state }) => state !== 'succeeded');
    const error = expect.stringContaining('5 attempts in a row; the run is what ends it');
    expect(failed).toMatchObject([{ automation: 'kills', state: 'failed', attempts: 5, error }]);
    expect(workspace.read('killed')).toBe('\n'.repeat(5));
    expect((await list()).length).toBeGreaterThan(45);
  },
);

test('a run during which the daemon stops again and again goes on: a stop says nothing of the run', async () => {
  const workspace = makeWorkspace();
  const { uid, secret } = await applyTriggered(workspace);
  workspace.write('started', '');
  const script = `echo started >> ${workspace.path('started')}; exec sleep 600`;
  const runner = { kind: 'command', argv: ['sh', '-c', script] };
  for (let n = 1; n <= interruptionsMax + interruptionsAloneMax; n++) {
    const daemon = await openWebhookDaemon({ workspace, settings: { runs: { runner } } });
    if (n === 1)
      await send(`${daemon.ingressUrl}/webhooks/w/${uid}`, { headers: bearerOf(secret), body: '{}' });
    await expect.poll(() => workspace.read('started')).toBe('started\n'.repeat(n));
    await daemon.stop();
    const error = 'the daemon stopped, which ended the command';
    expect(await readNewestRun(workspace)).toMatchObject({ state: 'queued', attempts: n, error });
  }
});

function endAll(pids: readonly string[]): void {
  for (const pid of pids) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended, as it should.
    }
  }
}
