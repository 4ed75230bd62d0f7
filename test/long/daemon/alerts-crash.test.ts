import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { homeAt } from '../../../store/home/home.ts';
import { startAlertReceiver } from '../../support/alert-receiver.ts';
import { applyTriggered } from '../../support/apply-triggered.ts';
import { bearerOf, startDaemon } from '../../support/daemon.ts';
import { send } from '../../support/http.ts';
import { pickMoment } from '../../support/moment.ts';
import { readStore } from '../../support/stored.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const rounds = 200;
/** A run has usually failed after half of this time. */
const lifeMsMax = 200;

test('stopped or killed at random moments while runs fail, the daemon sends one alert for each automation that is held', {
  timeout: 3_600_000,
}, async () => {
  const receiver = await startAlertReceiver(secret);
  const workspace = makeWorkspace();
  await readStore(homeAt(workspace.home), ({ teamSecrets }) => teamSecrets.set('ALERTS', secret));
  const names = Array.from({ length: rounds }, (_, round) => `round-${round}`);
  const { secret: token, uid } = await applyTriggered(workspace, {});
  for (const [round, name] of names.entries()) {
    const filter = { webhook_ids: [uid], payload: { round: [round] } };
    const triggers = [{ provider: 'webhook', event: 'received', filter }];
    const keys = { prompt: 'Act.', triggers, order: '$.none', onFailure: 'hold' };
    workspace.write(`automations/${name}.yaml`, JSON.stringify(keys));
  }
  await workspace.hookmill('apply');
  const settings = {
    alerts: [{ url: receiver.url, secret: 'ALERTS' }],
    runs: { runner: { kind: 'command', argv: ['false'] }, attempts: 1 },
    limits: { deliveriesPerMinute: 1_000_000 },
  };
  const start = () => startDaemon({ workspace, settings });
  for (const [round] of names.entries()) {
    const daemon = await start();
    const sent = { headers: bearerOf(token), body: JSON.stringify({ round }) };
    expect(await send(`${daemon.ingressUrl}/webhooks/w/${uid}`, sent)).toMatchObject({ status: 202 });
    await delay(pickMoment() * lifeMsMax);
    await daemon.stop(round % 2 === 0 ? 'SIGTERM' : 'SIGKILL');
  }
  const last = await start();
  // The daemon after each round tells what the one before it did not.
  await expect.poll(() => new Set(told().map(({ automation }) => automation)).size).toBe(rounds);
  expect(new Set(told().map(({ automation, id, status }) => `${automation} ${id} ${status}`)).size).toBe(
    rounds,
  );
  expect(told().map(({ automation }) => automation)).toEqual(expect.arrayContaining(names));
  expect(await last.stop()).toBe(0);

  function told() {
    return receiver.alerts.filter(({ type }) => type === 'runs.held').map(({ data }) => data);
  }
});
