import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { expect, inject, onTestFinished, test } from 'vitest';
import { interruptionsAloneMax, interruptionsMax } from '../../../../store/delivery-log/run-life.ts';
import { applyTriggered, readNewestRun } from '../../../support/apply-triggered.ts';
import { bearerOf, startDaemon, startDaemonForTest } from '../../../support/daemon.ts';
import { eventually } from '../../../support/eventually.ts';
import { send } from '../../../support/http.ts';
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

// Six daemons. `npm test` has the daemon that is killed once, and the limit in the tests of stores.
test.runIf(inject('isLong'))(
  'a run that kills the daemon five times in a row fails, and ends no further one',
  async () => {
    const workspace = makeWorkspace();
    const { uid, secret } = await applyTriggered(workspace);
    const script = 'read go < "$OUT/ready"; kill -9 $PPID';
    execFileSync('mkfifo', [workspace.path('ready')]);
    // Open for both, it waits for no reader, and keeps what is written until there is one.
    const ready = await open(workspace.path('ready'), 'r+');
    onTestFinished(() => ready.close());
    const runner = { kind: 'command', argv: ['sh', '-c', script], environment: ['OUT'] };
    const start = { workspace, settings: { runs: { runner } }, env: { OUT: workspace.directory } };
    for (let n = 1; n <= 5; n++) {
      const daemon = await startDaemon(start);
      if (n === 1)
        await send(`${daemon.ingressUrl}/webhooks/w/${uid}`, { headers: bearerOf(secret), body: '{}' });
      expect((await readNewestRun(workspace))?.state).not.toBe('failed');
      await ready.write('go\n');
      expect((await daemon.process).signal).toBe('SIGKILL');
    }
    await ready.write('go\n');
    const error = expect.stringContaining('5 attempts in a row; the run is what ends it');
    const daemon = await startDaemonForTest(start);
    // With a database, the claim of the last daemon must run out first.
    await expect.poll(() => readNewestRun(workspace)).toMatchObject({ state: 'failed', attempts: 5, error });
    expect((await daemon.readyz()).status).toBe('ready');
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
