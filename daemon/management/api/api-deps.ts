import type { Logger } from 'pino';
import type { OpenFactory, QueueableRuns } from '../../../operations/factory.ts';
import { type AppliedState, emptyAppliedState } from '../../../schema/applied-state.ts';
import { Refusal } from '../../../schema/refusal.ts';
import type { Store } from '../../../store/ports.ts';
import type { ServedFactories } from '../../served/served-factories.ts';
import type { KnownTokens } from '../guards/known-tokens.ts';
import type { SessionCookie } from '../guards/session-cookie.ts';
import type { Sessions } from '../guards/sessions.ts';
import type { SignInAttempts } from '../guards/sign-in-attempts.ts';
import type { LiveDeliveries } from '../live-deliveries.ts';

/** Everything that the handlers of the management API need. */
export interface ApiDeps {
  readonly store: Store;
  readonly served: ServedFactories;
  readonly deliveryLog: QueueableRuns;
  readonly live: LiveDeliveries;
  readonly tokens: KnownTokens;
  readonly sessions: Sessions;
  readonly cookie: SessionCookie;
  readonly signInAttempts: SignInAttempts;
  /** Gets the public URL of the ingress. */
  readonly baseUrl: () => string;
  readonly nowMs: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Logger;
}

/** Gets the applied state that is served; an empty one if the factory has none. Fails with `state-unreadable`. */
export function getServedState({ served }: Pick<ApiDeps, 'served'>, factory: string): AppliedState {
  const state = served.findState(factory);
  if (state) return state;
  if (!served.status().some(status => status.factory === factory)) return emptyAppliedState(factory);
  throw new Refusal('state-unreadable', {
    detail: `the applied state of the factory ${factory} cannot be read`,
  });
}

/** Opens a factory for operations; they see the state that is served. */
export function openServedFactory(deps: ApiDeps, name: string): OpenFactory {
  const { store, deliveryLog, randomBytes, nowMs } = deps;
  return {
    ...{ name, store, randomBytes },
    now: () => new Date(nowMs()),
    readState: async () => getServedState(deps, name),
    useDeliveryLog: work => work(deliveryLog),
  };
}

/** Resolves when the change is made and the ingress serves it. */
export async function serveChange<T>({ served }: Pick<ApiDeps, 'served'>, change: Promise<T>): Promise<T> {
  const changed = await change;
  await served.refresh();
  return changed;
}
