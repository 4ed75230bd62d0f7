import { setImmediate } from 'node:timers/promises';
import { describe, onTestFinished } from 'vitest';
import type { DeliveryLogOptions } from '../../../store/ports/delivery-log.ts';
import type { Store } from '../../../store/ports/store.ts';
import { createRandom } from '../../support/random.ts';
import type { MakePlace } from '../store/conformance/place.ts';
import { testRunFlow } from '../store/conformance/run-flow.ts';
import { testRuns } from '../store/conformance/runs.ts';
import { testSteering } from '../store/conformance/steering.ts';
import { loadProduct } from './product.ts';
import { createProcess, Scheduler } from './scheduler.ts';
import { SimulatedStore, SimulatedThread, type StoreKind } from './simulated-store.ts';

// What the simulation finds is worth something only if its store behaves as the real ones do.

const product = await loadProduct();

/** Makes simulated stores whose messages pass while the test waits for them. */
function simulatedPlaces(kind: StoreKind): MakePlace {
  return () => {
    const [random, scheduler] = [createRandom(1), new Scheduler(createRandom(2))];
    const store = new SimulatedStore({ kind, commitMs: 0, product, scheduler, random });
    let isOver = false;
    const goOn = async () => {
      while (!isOver) await (scheduler.isIdle ? setImmediate() : scheduler.step(scheduler.nowMs + 50));
    };
    onTestFinished(() => {
      isOver = true;
    });
    void goOn();
    const reader = Object.entries(store.reader).map(([verb, read]) => [
      verb,
      async (...given: never[]) => (read as (...given: never[]) => unknown)(...given),
    ]);
    const openDeliveryLog = async (options: DeliveryLogOptions = {}) => {
      const thread = new SimulatedThread(store, createProcess('daemon'), () => undefined);
      return product.toDeliveryLog(new product.GroupCommit(thread.asWorker(), store.manner, options));
    };
    const opened = { deliveries: Object.fromEntries(reader), openDeliveryLog, close: async () => undefined };
    return { open: () => opened as unknown as Store };
  };
}

describe.for<StoreKind>(['embedded', 'postgres'])('the simulated store, %s', kind => {
  describe('runs', () => testRuns(simulatedPlaces(kind)));
  describe('the flow of runs', () => testRunFlow(simulatedPlaces(kind)));
  describe('cancels and pauses', () => testSteering(simulatedPlaces(kind)));
});
