import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startAlerts } from '../../../daemon/alerts/start-alerts.ts';
import { startHealth } from '../../../daemon/health/start-health.ts';
import { openOperationsThread } from '../../../daemon/operations-thread/operations-thread.ts';
import { homeAt } from '../../../store/home/home.ts';
import type { DeliveryLog } from '../../../store/ports/delivery-log.ts';
import { bearerOf, startDaemon } from '../../support/daemon.ts';
import { acceptedDelivery } from '../../support/deliveries.ts';
import { eventually } from '../../support/eventually.ts';
import { newHome } from '../../support/factory.ts';
import { send } from '../../support/http.ts';
import { readStore, storeIn } from '../../support/stored.ts';
import { makeWorkspace } from '../../support/workspace.ts';

test('each delivery is tallied once, also when the daemon is killed meanwhile', async () => {
  const workspace = makeWorkspace();
  const settings = { logLevel: 'warn', limits: { deliveriesPerMinute: 1_000_000 } };
  let daemon = await startDaemon({ workspace, settings });
  onTestFinished(async () => {
    await daemon.stop('SIGKILL');
  });
  const { factory, uid, secret } = await daemon.webhook();
  const countTallied = async () => {
    const { tallies } = await readStore(homeAt(workspace.home), ({ deliveries }) =>
      deliveries.readHistory({ factory, uid, sinceHour: 0 }),
    );
    return tallies.reduce((sum, { accepted }) => sum + accepted, 0);
  };
  let sent = 0;
  const post = () => {
    const url = `${daemon.ingressUrl}/webhooks/w/${uid}`;
    return send(url, { headers: bearerOf(secret), body: `{"n":${++sent}}` });
  };
  await Promise.all(Array.from({ length: 20 }, post));
  await eventually(async () => (await countTallied()) > 0);
  await Promise.all(Array.from({ length: 5 }, post));
  await daemon.stop('SIGKILL');
  daemon = await startDaemon({ workspace, settings });
  await Promise.all(Array.from({ length: 5 }, post));
  await eventually(async () => (await countTallied()) >= sent);
  expect(await countTallied()).toBe(sent);
});

test('the operations thread is asked only if there may be webhooks to judge', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const store = storeIn(newHome());
  const deliveryLog = await store.openDeliveryLog();
  let looks = Promise.withResolvers<void>();
  const thread = openOperationsThread({ place: store.place, deliveryLog });
  const asked: string[] = [];
  const health = startHealth({
    thread: {
      run: (...given) => {
        asked.push(given[0]);
        return thread.run(...given);
      },
    },
    ...{
      deliveryLog,
      replicas: undefined,
      alerts: store.alerts,
      targets: { receivers: [], dashboardUrl: '' },
      log: pino({ enabled: false }),
      nowMs: Date.now,
    },
    onLooked: () => looks.resolve(),
  });
  onTestFinished(async () => {
    await health.stop();
    vi.useRealTimers();
    await thread.close();
    await deliveryLog.close();
    await store.close();
  });
  const look = async () => {
    looks = Promise.withResolvers();
    vi.advanceTimersToNextTimer();
    await looks.promise;
    return asked.splice(0);
  };
  expect(await look()).toEqual([]);
  await deliveryLog.recordAccepted(acceptedDelivery());
  health.observeDeliveries();
  expect(await look()).toEqual(['lookAtWebhooks']);
});

test('a stop waits for a look at health in progress, and no look at alerts begins after it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const store = storeIn(newHome());
  const deliveryLog = await store.openDeliveryLog();
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const recordHealth: DeliveryLog['recordHealth'] = async record => {
    asked.resolve();
    await answer.promise;
    return deliveryLog.recordHealth(record);
  };
  const ended: string[] = [];
  const logged: string[] = [];
  const log = pino({ level: 'trace' }, { write: line => logged.push(line) });
  const common = { log, nowMs: Date.now, random: Math.random };
  const targets = { receivers: ['http://127.0.0.1:9/'], dashboardUrl: '' };
  const settings = { alerts: [], repositories: [] };
  const thread = openOperationsThread({ place: store.place, deliveryLog });
  const served = { listSenders: () => [] };
  const alerts = startAlerts({ ...common, store, deliveryLog, settings, targets, thread, served });
  const health = startHealth({
    ...{ ...common, replicas: undefined, alerts: store.alerts, targets, deliveryLog: { recordHealth } },
    thread,
    onLooked: () => {
      ended.push('looked');
      alerts.wake();
    },
  });
  onTestFinished(() => void vi.useRealTimers());
  vi.advanceTimersToNextTimer();
  await asked.promise;
  const stopping = health.stop().then(() => ended.push('stopped'));
  await setImmediate();
  expect(ended).toEqual([]);
  answer.resolve();
  await stopping;
  expect(ended).toEqual(['stopped']);
  await alerts.stop();
  await deliveryLog.close();
  await store.close();
  alerts.wake();
  await alerts.stop();
  expect(logged).toEqual([]);
});
