import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { nameReceiver } from '../../../daemon/alerts/alert-settings.ts';
import { startAlerts } from '../../../daemon/alerts/start-alerts.ts';
import { openOperationsThread } from '../../../daemon/operations-thread/operations-thread.ts';
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
