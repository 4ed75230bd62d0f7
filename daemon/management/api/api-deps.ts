import type { Logger } from 'pino';
import type { OpenFactory, QueueableRuns } from '../../../operations/factory.ts';
import { type AppliedState, emptyAppliedState } from '../../../schema/applied-state.ts';
import { Refusal } from '../../../schema/refusal.ts';
import type { Store } from '../../../store/ports.ts';
import type { ServedStates } from '../../served/served-states.ts';
import type { SessionCookie } from '../guards/browser-guards.ts';
import type { KnownTokens } from '../guards/known-tokens.ts';
import type { Sessions } from '../guards/sessions.ts';
import type { SignInAttempts } from '../guards/sign-in-attempts.ts';
import type { LiveDeliveries } from '../live-deliveries.ts';

/** Everything that the handlers of the management API work with. */
export interface ApiDeps {
  readonly store: Store;
  readonly served: Pick<ServedStates, 'findState' | 'refresh' | 'status'>;
  readonly deliveryLog: QueueableRuns;
  readonly live: LiveDeliveries;
  readonly tokens: KnownTokens;
  readonly sessions: Sessions;
  readonly cookie: SessionCookie;
  readonly signInAttempts: SignInAttempts;
  /** The ingress' public URL. */
  readonly baseUrl: () => string;
  readonly nowMs: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Logger;
}

/** The applied state that is served, the empty one of a factory that has none. Fails with `state-unreadable`. */
export function getServedState({ served }: Pick<ApiDeps, 'served'>, factory: string): AppliedState {
  const state = served.findState(factory);
  if (state) return state;
  if (!served.status().some(status => status.factory === factory)) return emptyAppliedState(factory);
  throw new Refusal('state-unreadable', { detail: `the applied state of ${factory} was never readable` });
}

/** The factory as operations need it: judged by the state that is served. */
export function openFactory(deps: ApiDeps, name: string): OpenFactory {
  const { store, deliveryLog, randomBytes, nowMs } = deps;
  return {
    ...{ name, store, randomBytes },
    now: () => new Date(nowMs()),
    readState: async () => getServedState(deps, name),
    useDeliveryLog: work => work(deliveryLog),
  };
}
