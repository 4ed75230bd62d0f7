import type { Logger } from 'pino';
import type { ManagedFactory } from '../../../operations/change-factory.ts';
import { ApiProblem } from '../../../schema/api/problems.ts';
import { type AppliedState, emptyAppliedState } from '../../../schema/applied-state.ts';
import type { DeliveryLog } from '../../../store/delivery-log.ts';
import type { DeliveryLogQueries } from '../../../store/embedded/delivery-log/read/queries.ts';
import type { Home } from '../../../store/embedded/files/home.ts';
import type { Seal } from '../../../store/sealing.ts';
import type { AppliedStates } from '../../served/served-states.ts';
import type { LiveDeliveries } from '../live-deliveries.ts';
import type { ApiTokens } from './api-tokens.ts';
import type { SessionCookie } from './browser-guards.ts';
import type { Sessions } from './sessions.ts';
import type { SignInAttempts } from './sign-in-attempts.ts';

/** What the handlers of the management API work with. */
export interface ApiDeps {
  readonly home: Home;
  readonly seal: Seal;
  readonly appliedStates: Pick<AppliedStates, 'findState' | 'refresh' | 'status'>;
  readonly deliveryLog: Pick<DeliveryLog, 'replay' | 'retryRun'>;
  readonly queries: DeliveryLogQueries;
  readonly live: LiveDeliveries;
  readonly tokens: ApiTokens;
  readonly sessions: Sessions;
  readonly cookie: SessionCookie;
  readonly signInAttempts: SignInAttempts;
  /** The ingress' public URL. */
  readonly baseUrl: () => string;
  readonly lockTimeoutMs: number;
  readonly nowMs: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Logger;
}

/** The applied state that is served, the empty one of a factory that has none. Fails with `state-unreadable`. */
export function stateOf({ appliedStates }: Pick<ApiDeps, 'appliedStates'>, factory: string): AppliedState {
  const state = appliedStates.findState(factory);
  if (state) return state;
  if (!appliedStates.status().some(status => status.factory === factory)) return emptyAppliedState(factory);
  throw new ApiProblem('state-unreadable', { detail: `the applied state of ${factory} was never readable` });
}

export function factoryOf(deps: ApiDeps, name: string, ifSerial: number | undefined): ManagedFactory {
  const { home, seal, lockTimeoutMs, randomBytes, nowMs } = deps;
  return { home, name, seal, lockTimeoutMs, randomBytes, now: () => new Date(nowMs()), ifSerial };
}
