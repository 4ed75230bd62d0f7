import { randomBytes } from 'node:crypto';
import type { OpenFactory } from '../../operations/factory.ts';
import { openEmbeddedStore } from '../../store/embedded/embedded-store.ts';
import type { Home } from '../../store/home/home.ts';
import type { Store } from '../../store/ports/store.ts';
import { openPostgresStore } from '../../store/postgres/postgres-store.ts';
import { placeOfHome } from './home-place.ts';

/** A factory in a home whose files the test can read. */
export interface TestFactory extends OpenFactory {
  readonly home: Home;
}

/** Opens the store of a home, as a separate process would. */
export function storeIn({ directory: home }: Home, lockTimeoutMs = 5_000): Store {
  const { environment, postgres } = placeOfHome(home);
  const options = { home, environment, lockTimeoutMs, now: () => new Date(), readsInThread: false };
  return postgres ? openPostgresStore({ ...options, postgres }) : openEmbeddedStore(options);
}

/** Looks at the store of a home, and closes it again. */
export async function readStore<T>(home: Home, look: (store: Store) => Promise<T>): Promise<T> {
  const store = storeIn(home);
  return look(store).finally(() => store.close());
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
