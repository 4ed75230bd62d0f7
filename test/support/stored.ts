import { randomBytes } from 'node:crypto';
import type { OpenFactory } from '../../operations/factory.ts';
import type { AppliedState } from '../../schema/applied-state.ts';
import type { Home } from '../../store/embedded/files/home.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store } from '../../store/ports.ts';
import type { ReconcileStatus } from '../../store/reconcile-statuses.ts';

/** A factory in a home whose files the test may look at. */
export interface TestFactory extends OpenFactory {
  readonly home: Home;
}

/** Opens the store in a home, as another process would. */
export function storeIn(home: Home, lockTimeoutMs = 5_000): Store {
  return openStore({
    home: home.directory,
    environment: {},
    lockTimeoutMs,
    now: () => new Date(),
    readsInThread: false,
  });
}

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

export function readAppliedState(home: Home, factory: string): Promise<AppliedState> {
  return storeIn(home).appliedStates.read(factory);
}

export function readReconcileStatus(home: Home, factory: string): Promise<ReconcileStatus> {
  return storeIn(home).reconcileStatuses.read(factory);
}

export function setSecret({ store }: Pick<OpenFactory, 'store'>, name: string, value: string): Promise<void> {
  return store.teamSecrets.set(name, value);
}

export function declareSecret({ store }: Pick<OpenFactory, 'store'>, name: string): Promise<void> {
  return store.teamSecrets.create(name, undefined);
}
