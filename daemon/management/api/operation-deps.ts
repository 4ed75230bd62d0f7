import type { OpenFactory } from '../../../operations/factory.ts';
import type { Changeable } from '../../../operations/record-writes.ts';
import type { AppliedState } from '../../../schema/applied-state.ts';
import type { ActivityCounter } from './activity.ts';
import type { ThreadRequest } from './thread-request.ts';

/** Everything that the handlers in the operations thread need for one request. */
export interface OperationDeps extends Changeable, Pick<ThreadRequest, 'baseUrl' | 'problem'> {
  readonly readState: (factory: string) => Promise<AppliedState>;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly countActivity: ActivityCounter;
  readonly now: () => Date;
}

/** Opens a factory for operations. */
export function openFactory(deps: OperationDeps, name: string): OpenFactory {
  const { store, deliveryLog, randomBytes, now, readState } = deps;
  return {
    ...{ name, store, randomBytes, now },
    readState: () => readState(name),
    useDeliveryLog: work => work(deliveryLog),
  };
}
