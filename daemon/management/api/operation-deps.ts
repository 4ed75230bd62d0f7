import type { OpenFactory, QueueableRuns } from '../../../operations/factory.ts';
import type { AppliedState } from '../../../schema/applied-state.ts';
import type { Store } from '../../../store/ports.ts';
import type { ThreadRequest } from './thread-request.ts';

/** Everything that the handlers in the operations thread need. */
export interface OperationDeps {
  readonly store: Store;
  readonly deliveryLog: QueueableRuns;
  readonly readState: (factory: string) => Promise<AppliedState>;
  readonly randomBytes: (count: number) => Uint8Array;
  // These are those of the current request.
  readonly nowMs: () => number;
  readonly baseUrl: () => string;
  readonly problem: () => ThreadRequest['problem'];
}

/** Opens a factory for operations. */
export function openFactory(deps: OperationDeps, name: string): OpenFactory {
  const { store, deliveryLog, randomBytes, nowMs, readState } = deps;
  return {
    ...{ name, store, randomBytes },
    now: () => new Date(nowMs()),
    readState: () => readState(name),
    useDeliveryLog: work => work(deliveryLog),
  };
}
