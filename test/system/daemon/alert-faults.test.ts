import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { nameReceiver } from '../../../daemon/alerts/alert-settings.ts';
import { startAlerts } from '../../../daemon/alerts/start-alerts.ts';
import { openOperationsThread } from '../../../daemon/operations-thread/operations-thread.ts';
import { type Finding, followEpisodes } from '../../../operations/attention/follow-episodes.ts';
import { StoreError } from '../../../store/ports/store-error.ts';
import { startAlertReceiver } from '../../support/alert-receiver.ts';
import { acceptedDelivery, newRun, sampleAtMs } from '../../support/deliveries.ts';
import { newHome } from '../../support/factory.ts';
import { storeIn } from '../../support/stored.ts';

const secret = `whsec_${randomBytes(32).toString('base64')}`;

test('a failure of runs is forgotten only when its alert is stored', async () => {
  const receiver = await startAlertReceiver(secret);
  const settings = {
    alerts: [{ url: receiver.url, secret: 'ALERTS' }],
    repositories: [],
  };
  const store = storeIn(newHome());
  await store.teamSecrets.set('ALERTS', secret);
  const deliveryLog = await store.openDeliveryLog();
  await deliveryLog.recordAccepted(acceptedDelivery({ runs: [{ ...newRun(), flow: { runsPerHour: 0 } }] }));
  await deliveryLog.claimRuns({ daemonId: 'one', nowMs: sampleAtMs, places: { default: 1 } });
  const failedOnce = Promise.withResolvers<void>();
  let isFull = true;
  const alerts = startAlerts({
    store: {
      ...{
        teamSecrets: store.teamSecrets,
        reconcileStatuses: store.reconcileStatuses,
        deliveries: store.deliveries,
        replicas: undefined,
      },
      alerts: {
        read: () => store.alerts.read(),
        change: async change => {
          const state = change(await store.alerts.read());
          if (!isFull || state.episodes.length === 0) return store.alerts.change(change);
          isFull = false;
          throw new StoreError('unwritable', 'the disk is full');
        },
      },
    },
    ...{ deliveryLog, settings, targets: { receivers: settings.alerts.map(nameReceiver), dashboardUrl: '' } },
    thread: openOperationsThread({ place: store.place, deliveryLog }),
    served: { listSenders: () => [] },
    log: pino({ level: 'warn' }, { write: () => failedOnce.resolve() }),
    ...{ nowMs: () => sampleAtMs, random: Math.random },
  });
  onTestFinished(async () => {
    await alerts.stop();
    await deliveryLog.close();
    await store.close();
  });
  alerts.wake();
  await failedOnce.promise;
  // What failed is that an alert could not be stored.
  expect(isFull).toBe(false);
  expect(receiver.alerts).toEqual([]);
  alerts.wake();
  await expect
    .poll(() => receiver.alerts)
    .toMatchObject([{ type: 'runs.stopped', data: { automation: 'triage' } }]);
});

test('every open alert is looked at again, however many before it stay open', async () => {
  const store = storeIn(newHome());
  const deliveryLog = await store.openDeliveryLog();
  const names = Array.from({ length: 250 }, (_, n) => `automation-${n}`);
  const stopped = names.slice(0, 120);
  const runs = stopped.map(name => ({ ...newRun(name), flow: { runsPerHour: 0 } }));
  await deliveryLog.recordAccepted(acceptedDelivery({ runs }));
  const claim = { daemonId: 'one', nowMs: sampleAtMs, places: { default: 1 } };
  for (let n = 0; n < 2; n++) await deliveryLog.claimRuns(claim);
  const findings = names.map((name): Finding => {
    const problem = { reason: 'runs were stopped', sinceMs: sampleAtMs };
    return { type: 'runs.stopped', factory: 'default', subject: name, name, problem };
  });
  const context = { nowMs: sampleAtMs, randomBytes, receivers: [], dashboardUrl: '' };
  await store.alerts.change(state => followEpisodes(state, findings, context));
  const alerts = startAlerts({
    ...{ store, deliveryLog, settings: { alerts: [], repositories: [] } },
    targets: { receivers: [], dashboardUrl: '' },
    thread: openOperationsThread({ place: store.place, deliveryLog }),
    served: { listSenders: () => [] },
    log: pino({ level: 'silent' }),
    ...{ nowMs: () => sampleAtMs + 60_000, random: Math.random },
  });
  onTestFinished(async () => {
    await alerts.stop();
    await deliveryLog.close();
    await store.close();
  });
  const listOpen = async () => (await store.alerts.read()).episodes.map(({ name }) => name);
  expect(await listOpen()).toEqual(names);
  await expect
    .poll(() => {
      alerts.wake();
      return listOpen();
    })
    .toEqual(stopped);
});
