import { expect, onTestFinished, test } from 'vitest';
import { findInHealth } from '../../../../operations/attention/follow-episodes.ts';
import { type FoundHealth, lookAtWebhooks } from '../../../../operations/health/look-at-webhooks.ts';
import { readWebhookHealth } from '../../../../operations/health/show-health.ts';
import { type AppliedWebhook, emptyAppliedState } from '../../../../schema/applied-state.ts';
import { acceptedDelivery, rejectedDelivery, sampleAtMs } from '../../../support/deliveries.ts';
import { newHome } from '../../../support/factory.ts';
import { storeIn } from '../../../support/stored.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const { factory, uid, webhook: name } = acceptedDelivery();

/** A log in which a delivery came each hour for three weeks, the last one at `sampleAtMs`, and a daemon that looks. */
async function watchHourly() {
  const store = storeIn(newHome());
  const log = await store.openDeliveryLog();
  onTestFinished(async () => {
    await log.close();
    await store.close();
  });
  const hours = Array.from({ length: 21 * 24 }, (_, index) => sampleAtMs - index * hourMs).reverse();
  await Promise.all(hours.map(atMs => log.recordAccepted(acceptedDelivery({ atMs }))));
  const webhook: AppliedWebhook = {
    ...{ name, uid, secretName: 'A', authMode: 'token', enabled: true },
    credential: { kind: 'unset' },
  };
  const applied = { webhooks: [webhook], isReadable: true };
  const found: FoundHealth[] = [];
  let nowMs = sampleAtMs;
  /** Looks each minute for some time, as a daemon that runs. */
  const lookFor = async (ms: number) => {
    for (const untilMs = nowMs + ms; nowMs < untilMs; ) {
      nowMs += minuteMs;
      await log.recordHealth({ nowMs, judged: [] });
      await lookAtWebhooks({
        ...{ deliveries: store.deliveries, deliveryLog: log, nowMs, watched: [] },
        readState: async () => {
          if (!applied.isReadable) throw new Error('the state cannot be read');
          return { ...emptyAppliedState(factory), webhooks: applied.webhooks };
        },
        onFound: async some => void found.push(...some),
      });
    }
  };
  const state = async () =>
    (await store.deliveries.readHistory({ factory, sinceHour: 0 })).webhooks[0]?.state;
  const skip = (ms: number) => {
    nowMs += ms;
  };
  return { store, log, applied, found, webhook, lookFor, skip, state, now: () => nowMs };
}

test('finds silence when it is due, and its end with the next delivery', async () => {
  const { log, found, lookFor, state, now } = await watchHourly();
  await lookFor(119 * minuteMs);
  expect(await state()).toBe('healthy');
  // As good as nothing is judged while nothing is due.
  expect(found.length).toBeLessThan(5);
  await lookFor(4 * minuteMs);
  expect(await state()).toBe('quiet');
  const quiet = found.flatMap(findInHealth).filter(({ problem }) => problem);
  expect(quiet).toEqual([
    {
      ...{ type: 'webhook.quiet', factory, subject: uid, name },
      problem: {
        reason: expect.stringMatching(/^pay: no delivery for 2 hours; 60 minutes are usual/),
        sinceMs: sampleAtMs,
      },
    },
  ]);
  await log.recordAccepted(acceptedDelivery({ atMs: now() }));
  await lookFor(minuteMs);
  expect(await state()).toBe('healthy');
});

test('does not take the time without a daemon for silence', async () => {
  const { lookFor, skip, state } = await watchHourly();
  await lookFor(5 * minuteMs);
  skip(12 * hourMs);
  await lookFor(hourMs);
  expect(await state()).toBe('healthy');
  await lookFor(2 * hourMs);
  expect(await state()).toBe('quiet');
});

test('does not judge a disabled webhook, and counts silence from its return', async () => {
  const { applied, webhook, found, lookFor, state } = await watchHourly();
  applied.webhooks = [{ ...webhook, enabled: false }];
  await lookFor(5 * hourMs);
  expect(await state()).toBe('healthy');
  expect(found.flatMap(findInHealth).filter(({ problem }) => problem)).toEqual([]);
  applied.webhooks = [webhook];
  await lookFor(hourMs);
  expect(await state()).toBe('healthy');
  await lookFor(2 * hourMs);
  expect(await state()).toBe('quiet');
});

test('forgets a webhook that is no longer applied, but not because the applied state cannot be read', async () => {
  const { applied, lookFor, state, log, now } = await watchHourly();
  applied.isReadable = false;
  await lookFor(3 * minuteMs);
  expect(await state()).toBeDefined();
  applied.isReadable = true;
  applied.webhooks = [];
  await log.recordAccepted(acceptedDelivery({ atMs: now() }));
  await lookFor(2 * hourMs);
  expect(await state()).toBeUndefined();
});

test('a webhook fails since its first rejection after the last good delivery, also while more are rejected', async () => {
  const { log, store, found, lookFor, now } = await watchHourly();
  const firstMs = now() + 7 * minuteMs;
  const reject = async (atMs: number) => {
    log.recordUnidentified(rejectedDelivery({ atMs }));
    const asked = { factory, uid, outcome: 'Rejected (auth)', limit: 1 } as const;
    await expect.poll(async () => (await store.deliveries.listDeliveries(asked))[0]?.atMs).toBe(atMs);
  };
  for (let n = 0; n < 30; n++) await reject(firstMs + n * 1_000);
  await lookFor(8 * minuteMs);
  await reject(now() - 1_000);
  await lookFor(minuteMs);
  const failing = found.flatMap(findInHealth).filter(({ problem }) => problem);
  expect(failing).toMatchObject([
    { type: 'webhook.failing', problem: { sinceMs: firstMs } },
    { type: 'webhook.failing', problem: { sinceMs: firstMs } },
  ]);
  const health = await readWebhookHealth(store.deliveries, factory, { uid }, now());
  expect(health).toMatchObject({ state: 'failing', since: new Date(firstMs).toISOString() });
});

test('finds that a sender repeats one body, until the webhook says that each delivery is its own', async () => {
  const { log, store, found, applied, webhook, lookFor, now } = await watchHourly();
  const since = now();
  const repeat = async (times: number, everyMs: number) => {
    const at = (index: number) =>
      acceptedDelivery({ atMs: since + index * everyMs, identity: 'body-sha256:1' });
    for (let index = 0; index < times; index++) await log.recordAccepted(at(index));
  };
  const listProblems = () =>
    found
      .splice(0)
      .flatMap(findInHealth)
      .filter(({ type, problem }) => type === 'webhook.repeats' && problem);
  // Retries come sooner.
  await repeat(9, 5 * minuteMs);
  await lookFor(24 * hourMs);
  expect(listProblems()).toEqual([]);
  await repeat(4, 24 * hourMs);
  await lookFor(49 * hourMs);
  expect(listProblems().at(-1)).toMatchObject({
    ...{ type: 'webhook.repeats', subject: uid },
    problem: {
      reason: expect.stringMatching(
        /^pay: the same body, without an ID, came again \d times at least 30 minutes apart/,
      ),
    },
  });
  const [last] = await store.deliveries.listDeliveries({ factory, uid, limit: 1 });
  expect(last?.outcome).toBe('Duplicate');
  applied.webhooks = [{ ...webhook, identity: 'none' }];
  await lookFor(25 * hourMs);
  expect(listProblems()).toEqual([]);
});
