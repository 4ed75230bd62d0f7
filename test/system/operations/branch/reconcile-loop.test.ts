import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import type { Reconciled } from '../../../../operations/branch/reconcile.ts';
import {
  computeWaitMs,
  reconcileBackOffMsMax,
  startReconcileLoop,
} from '../../../../operations/branch/reconcile-loop.ts';
import { followedFactory, makeUpstream, webhook } from '../../../support/git-samples.ts';
import { serveSilence } from '../../../support/git-servers.ts';

const anHour = 3_600_000;
const failure: Reconciled = {
  result: 'failed',
  reason: 'remote',
  message: '',
  diagnostics: [],
  texts: new Map(),
};

test('reconciles at the start, and at once when it is triggered', async () => {
  const { loop, started } = scriptedLoop();
  (await started()).end();
  loop.trigger();
  (await started()).end();
});

test('makes one more reconcile of all triggers that come during one', async () => {
  const { loop, started, count } = scriptedLoop();
  const first = await started();
  for (let index = 0; index < 50; index++) loop.trigger();
  first.end();
  (await started()).end();
  // Had another been due, it would have begun before this one.
  loop.trigger();
  (await started()).end();
  expect(count()).toBe(3);
});

test('goes on after failures and errors, at once when it is triggered', async () => {
  const { loop, started, errors } = scriptedLoop();
  (await started()).end(failure);
  loop.trigger();
  (await started()).fail(new Error('unexpected'));
  loop.trigger();
  (await started()).end();
  expect(errors).toEqual([new Error('unexpected')]);
});

test('comes back by itself at each interval', async () => {
  const { started } = scriptedLoop(1);
  for (let index = 0; index < 5; index++) (await started()).end();
});

test('ends the reconcile under way when it stops, and begins no other', async () => {
  const { loop, started, count } = scriptedLoop();
  const running = await started();
  running.signal.addEventListener('abort', () => running.end({ result: 'stopped' }));
  loop.trigger();
  await loop.stop();
  loop.trigger();
  expect(count()).toBe(1);
});

test('waits about the interval, and longer after each failure, within the bound', () => {
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const interval = fc.integer({ min: 1_000, max: 24 * anHour });
  fc.assert(
    fc.property(interval, fc.nat(2_000), random, (intervalMs, failures, chance) => {
      const wait = computeWaitMs(intervalMs, failures, () => chance);
      expect(wait).toBeGreaterThanOrEqual(Math.floor(intervalMs / 2));
      expect(wait).toBeLessThanOrEqual(Math.ceil(Math.max(1.1 * intervalMs, reconcileBackOffMsMax)));
    }),
  );
  const waits = [1, 2, 3, 4].map(failures => computeWaitMs(30_000, failures, () => 0.5));
  expect(waits).toEqual([22_500, 45_000, 90_000, 180_000]);
});

test('a silent remote of one factory does not delay another', async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/pay.yaml': webhook() });
  const silent = await serveSilence();
  const slow = await followedFactory(`git://127.0.0.1:${silent.port}/x.git`);
  const quick = await followedFactory(upstream.bare);
  const slowLoop = startReconcileLoop({ ...quiet, reconcile: signal => slow.reconcile({ signal }) });
  await silent.connected;
  const applied = await new Promise<Reconciled>(resolve => {
    const loop = startReconcileLoop<Reconciled>({
      ...quiet,
      reconcile: signal => quick.reconcile({ signal }),
      onReconciled: resolve,
    });
    onTestFinished(() => loop.stop());
  });
  expect(applied).toMatchObject({ result: 'applied' });
  await slowLoop.stop();
});

const quiet = {
  intervalMs: anHour,
  random: () => 0.5,
  onError: (error: unknown) => {
    throw error;
  },
};

interface Running {
  readonly signal: AbortSignal;
  end(result?: Reconciled): void;
  fail(error: Error): void;
}

/** A loop whose reconciles end when the test says so. */
function scriptedLoop(intervalMs = anHour) {
  const running: Running[] = [];
  const errors: unknown[] = [];
  let announce: (() => void) | undefined;
  let count = 0;
  let taken = 0;
  const loop = startReconcileLoop<Reconciled>({
    intervalMs,
    random: () => 0.5,
    onError: error => errors.push(error),
    reconcile: signal => {
      count++;
      return new Promise((resolve, reject) => {
        running.push({ signal, end: (result = { result: 'stopped' }) => resolve(result), fail: reject });
        announce?.();
      });
    },
  });
  onTestFinished(async () => {
    for (const one of running) one.end();
    await loop.stop();
  });
  /** The next reconcile that begins. */
  const started = async (): Promise<Running> => {
    const index = taken++;
    for (;;) {
      const one = running[index];
      if (one) return one;
      await new Promise<void>(resolve => {
        announce = resolve;
      });
    }
  };
  return { loop, started, errors, count: () => count };
}
