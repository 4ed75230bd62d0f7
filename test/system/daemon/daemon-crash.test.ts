import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { Agent } from 'node:http';
import { execa } from 'execa';
import { expect, inject, onTestFinished, test } from 'vitest';
import { bearerOf, startDaemon } from '../../support/daemon.ts';
import { eventually } from '../../support/eventually.ts';
import { send } from '../../support/http.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const rounds = inject('isLong') ? 20 : 2;

test('loses no answered delivery and accepts none twice, killed again and again under load', async () => {
  const workspace = makeWorkspace();
  const settings = { limits: { deliveriesPerMinute: 1_000_000 }, logLevel: 'error' };
  const answered = new Map<string, string>();
  const unanswered: string[] = [];
  let sent = 0;
  let daemon = await startDaemon({ workspace, settings });
  onTestFinished(async () => {
    await daemon.stop('SIGKILL');
  });
  const { uid, secret, rows } = await daemon.webhook();

  for (let round = 1; round <= rounds; round++) {
    const agent = new Agent({ keepAlive: true });
    const url = `${daemon.ingressUrl}/webhooks/w/${uid}`;
    let answersLeft = 10 * round;
    /** Sends what went unanswered before, then new deliveries, until the daemon is gone. */
    const sender = async () => {
      for (;;) {
        const identity = unanswered.pop() ?? `delivery-${++sent}`;
        const headers = { ...bearerOf(secret), 'x-service-delivery-id': identity };
        const answer = await send(url, { agent, headers, body: `{"n":${sent}}` }).catch(() => undefined);
        if (answer?.deliveryId === undefined) return unanswered.push(identity);
        answered.set(identity, answer.deliveryId);
        if (--answersLeft === 0) daemon.process.kill('SIGKILL');
      }
    };
    await Promise.all(Array.from({ length: 16 }, sender));
    await daemon.process;
    agent.destroy();
    daemon = await startDaemon({ workspace, settings });
  }

  const accepted = (await rows()).filter(({ outcome }) => outcome === 'Accepted');
  const idOf = new Map(accepted.map(({ identity = '', id }) => [identity, id]));
  expect(idOf.size).toBe(accepted.length);
  // Each round has ten answers more than the one before; some were of duplicates.
  expect(answered.size).toBeGreaterThan(3 * rounds * rounds);
  for (const [identity, id] of answered) expect(idOf.get(identity)).toBe(id);
});

// Takes the whole time to stop. A read of a FIFO stands for a sync of a disk that does not answer.
test.runIf(inject('isLong'))('stops in time though a file does not answer', async () => {
  const workspace = makeWorkspace();
  const file = workspace.path('daemon.yaml');
  await execa('mkfifo', [file]);
  const child = workspace.start(['serve', '--config', file], { forceKillAfterDelay: false });
  // Succeeds once the daemon reads.
  const writeEnd = await eventually(() =>
    open(file, constants.O_WRONLY | constants.O_NONBLOCK).catch(() => undefined),
  );
  onTestFinished(() => writeEnd.close());
  child.kill('SIGTERM');
  expect((await child).stderr).toContain('the daemon did not stop in time');
});
