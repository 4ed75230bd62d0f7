import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { nameReceiver } from '../../../daemon/alerts/alert-settings.ts';
import { startAlerts } from '../../../daemon/alerts/start-alerts.ts';
import { openOperationsThread } from '../../../daemon/operations-thread/operations-thread.ts';
import { type Finding, followEpisodes } from '../../../operations/attention/follow-episodes.ts';
import type { NewRun } from '../../../store/ports/delivery-log.ts';
import type { Store } from '../../../store/ports/store.ts';
import { StoreError } from '../../../store/ports/store-error.ts';
import { startAlertReceiver } from '../../support/alert-receiver.ts';
import { acceptedDelivery, newRun, sampleAtMs } from '../../support/deliveries.ts';
import { newHome } from '../../support/factory.ts';
import { storeIn } from '../../support/stored.ts';

const secret = `whsec_${randomBytes(32).toString('base64')}`;

/** A store with the team secret that alerts are signed with, and its delivery log. */
async function openPlace() {
  const store = storeIn(newHome());
  await store.teamSecrets.set('ALERTS', secret);
  const deliveryLog = await store.openDeliveryLog();
  onTestFinished(async () => {
    await deliveryLog.close();
    await store.close();
  });
  return { store, deliveryLog, logged: [] as string[], clock: { nowMs: sampleAtMs } };
}

type Place = Awaited<ReturnType<typeof openPlace>>;

/** The alerts of a daemon on a store. */
function watch(
  { store, deliveryLog, logged, clock }: Place,
  urls: readonly string[],
  parts: Partial<Store> = {},
) {
  const settings = { alerts: urls.map(url => ({ url, secret: 'ALERTS' })), repositories: [] };
  const alerts = startAlerts({
    ...{ store: { ...store, ...parts }, deliveryLog, settings },
    targets: { receivers: settings.alerts.map(nameReceiver), dashboardUrl: '' },
    thread: openOperationsThread({ place: store.place, deliveryLog }),
    served: { listSenders: () => [] },
    log: pino({ level: 'warn' }, { write: line => logged.push(line) }),
    ...{ nowMs: () => clock.nowMs, random: Math.random },
  });
  onTestFinished(() => alerts.stop());
  return alerts;
}

/** Records runs that are stopped when they are claimed, which is a failure that alerts tell. */
async function stopRuns({ store, deliveryLog }: Place, factory: string, runs: readonly NewRun[]) {
  const stopped = runs.map(run => ({ ...run, flow: { ...run.flow, runsPerHour: 0 } }));
  await deliveryLog.recordAccepted(acceptedDelivery({ factory, runs: stopped }));
  const claim = { daemonId: 'one', nowMs: sampleAtMs, places: { default: 1 } };
  do await deliveryLog.claimRuns(claim);
  while ((await store.deliveries.countUnfinishedRuns()).queued > 0);
}

function makeRuns(count: number, notify?: readonly ['failed']): NewRun[] {
  return Array.from({ length: count }, (_, n) => ({
    ...newRun(`automation-${n}`),
    ...(notify && { flow: { notify } }),
  }));
}

test('a failure of runs is forgotten only when its alert is stored', async () => {
  const receiver = await startAlertReceiver(secret);
  const place = await openPlace();
  const { store } = place;
  await stopRuns(place, 'default', [newRun()]);
  let isFull = true;
  const change: Store['alerts']['change'] = async change => {
    const state = change(await store.alerts.read());
    if (!isFull || state.episodes.length === 0) return store.alerts.change(change);
    isFull = false;
    throw new StoreError('unwritable', 'the disk is full');
  };
  const alerts = watch(place, [receiver.url], { alerts: { ...store.alerts, change }, replicas: undefined });
  alerts.wake();
  await expect.poll(() => place.logged).toHaveLength(1);
  // What failed is that an alert could not be stored.
  expect(isFull).toBe(false);
  expect(receiver.alerts).toEqual([]);
  alerts.wake();
  await expect
    .poll(() => receiver.alerts)
    .toMatchObject([{ type: 'runs.stopped', data: { automation: 'triage' } }]);
});

test('every open alert is looked at again, however many before it stay open', async () => {
  const place = await openPlace();
  const { store } = place;
  const names = Array.from({ length: 250 }, (_, n) => `automation-${n}`);
  await stopRuns(place, 'default', makeRuns(120));
  const findings = names.map((name): Finding => {
    const problem = { reason: 'runs were stopped', sinceMs: sampleAtMs };
    return { type: 'runs.stopped', factory: 'default', subject: name, name, problem };
  });
  const context = { nowMs: sampleAtMs, randomBytes, receivers: [], dashboardUrl: '' };
  await store.alerts.change(state => followEpisodes(state, findings, context));
  place.clock.nowMs += 60_000;
  const alerts = watch(place, [], { replicas: undefined });
  const listOpen = async () => (await store.alerts.read()).episodes.map(({ name }) => name);
  expect(await listOpen()).toEqual(names);
  await expect
    .poll(() => {
      alerts.wake();
      return listOpen();
    })
    .toEqual(names.slice(0, 120));
});

test('an alert of a factory is told beside 1,010 failing automations of another, which is told that there are more', async () => {
  const receiver = await startAlertReceiver(secret);
  const place = await openPlace();
  await stopRuns(place, 'default', makeRuns(1_010));
  await stopRuns(place, 'other', [newRun()]);
  const alerts = watch(place, [receiver.url], { replicas: undefined });
  const ofType = (type: string) => receiver.alerts.filter(alert => alert.type === type);
  alerts.wake();
  // It is looked at together with the first ones of the other factory, and not behind them.
  await expect.poll(() => ofType('runs.stopped').some(({ data }) => data.factory === 'other')).toBe(true);
  expect(ofType('runs.stopped').length).toBeLessThan(110);
  await expect
    .poll(() => {
      alerts.wake();
      return ofType('quota.full');
    })
    .toMatchObject([{ data: { factory: 'default', status: 'open' } }]);
  expect(place.logged.filter(line => line.includes('a factory has used its share'))).toHaveLength(1);
  expect(alerts.countFull()).toBe(1);
});

test('all that is due is sent at once, alerts before notices, and what has no room waits in the log', async () => {
  const receiver = await startAlertReceiver(secret);
  receiver.answerWith(503);
  const place = await openPlace();
  const { store, clock } = place;
  const runs = makeRuns(700, ['failed']).map(run => ({ ...run, automation: 'triage' }));
  await stopRuns(place, 'default', runs);
  const alerts = watch(place, [receiver.url], { replicas: undefined });
  alerts.wake();
  await expect.poll(() => receiver.refused.length).toBeGreaterThanOrEqual(500);
  const waiting = async () => (await store.alerts.read()).messages.filter(({ kind }) => kind === 'notice');
  expect((await waiting()).length).toBeLessThan(600);
  expect((await store.deliveries.listEndsToTell(1_000)).length).toBeGreaterThan(100);
  receiver.answerWith(undefined);
  await expect
    .poll(async () => {
      clock.nowMs += 10_000;
      alerts.wake();
      return receiver.alerts.filter(({ type }) => type === 'run.failed').length;
    })
    .toBe(700);
  // The notices that came before it were waiting as long.
  expect(receiver.alerts.findIndex(({ type }) => type === 'runs.stopped')).toBeLessThan(10);
  expect(await store.deliveries.listEndsToTell(9)).toEqual([]);
});

test('ends of runs of which nobody is told are forgotten at once, and a new receiver is not told of them', async () => {
  const place = await openPlace();
  const { store, clock } = place;
  await stopRuns(place, 'default', makeRuns(130, ['failed']));
  const receiver = await startAlertReceiver(secret);
  clock.nowMs += 1_000;
  const alerts = watch(place, []);
  const left = () => store.deliveries.listEndsToTell(1_000);
  await expect
    .poll(
      async () => {
        alerts.wake();
        return (await left()).length;
      },
      { timeout: 20_000 },
    )
    .toBe(0);
  await alerts.stop();
  await stopRuns(place, 'default', [{ ...newRun('late'), flow: { notify: ['failed'] } }]);
  const later = watch(place, [receiver.url]);
  await expect
    .poll(
      async () => {
        later.wake();
        return (await left()).length;
      },
      { timeout: 20_000 },
    )
    .toBe(0);
  await expect.poll(async () => (await store.alerts.read()).messages).toEqual([]);
  expect(receiver.alerts.filter(({ type }) => type === 'run.failed')).toEqual([]);
});
