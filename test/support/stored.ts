import { randomBytes } from 'node:crypto';
import type { OpenFactory } from '../../operations/factory.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../store/embedded/embedded-store.ts';
import type { Home } from '../../store/embedded/files/home.ts';

/** A factory in a home whose files the test can read. */
export interface TestFactory extends OpenFactory {
  readonly home: Home;
}

/** Opens the store in a home, as a separate process would. */
export function storeIn(home: Home, lockTimeoutMs = 5_000): EmbeddedStore {
  return openEmbeddedStore({
    home: home.directory,
    environment: {},
    lockTimeoutMs,
    now: () => new Date(),
    readsInThread: false,
  });
}

/** Opens a factory in a home as the command line does. */
export function factoryIn(home: Home, name = 'default', lockTimeoutMs = 5_000): TestFactory {
  const store = storeIn(home, lockTimeoutMs);
  return {
    ...{ home, name, store, randomBytes },
    now: () => new Date(),
    readState: () => store.appliedStates.read(name),
    useDeliveryLog: async work => {
      const log = await store.openDeliveryLog();
      return work(log).finally(() => log.close());
    },
  };
}
