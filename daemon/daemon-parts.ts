import type { Logger } from 'pino';
import type { OwnBaseUrl } from '../schema/ingress-url.ts';
import type { DeliveryLog } from '../store/ports/delivery-log.ts';
import type { Store } from '../store/ports/store.ts';
import type { ConnectionShares } from './http/connections.ts';
import type { PassedSockets } from './http/http-server.ts';
import type { UnloggedRequests } from './ingress/unlogged-requests.ts';
import type { IssuerKeys } from './issuers/issuer-keys.ts';
import type { LogOpening } from './log-opening.ts';
import type { LiveDeliveries } from './management/live-deliveries.ts';
import type { MetricSources, Metrics } from './observability/metrics.ts';
import type { Traces } from './observability/traces.ts';
import type { OperationsThread } from './operations-thread/operations-thread.ts';
import type { ServedStates } from './served/served-states.ts';
import type { DaemonSettings } from './settings.ts';

export interface DaemonOptions {
  readonly store: Store;
  /** The opening of the store's delivery log, if it has begun. */
  readonly opening?: LogOpening;
  readonly settings: DaemonSettings;
  /** The version of the package. */
  readonly version: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly sockets?: PassedSockets;
  readonly log: Logger;
  readonly nowMs: () => number;
  /** Ends a start in progress. A daemon that has started is stopped with `stop`. */
  readonly stopping: AbortSignal;
  /** Milliseconds since some moment; unlike `nowMs`, it never jumps when somebody sets the clock. */
  readonly monotonicMs: () => number;
  /** Called when the daemon cannot continue; the process must be restarted. */
  readonly onFatal: (error: unknown) => void;
}

/** The state of the daemon that changes while it runs. The management port shows it. */
export interface Condition {
  /** The public URL of the ingress. If no setting gives it, its port is known only once the ingress listens. */
  baseUrl: OwnBaseUrl;
  /** The URL at which the ingress listens; null until it does. */
  listensAt: string | null;
  phase: 'starting' | 'running' | 'stopping';
  /** Why the daemon cannot continue. */
  failure: string | undefined;
}

export type Close = () => Promise<unknown>;
/** Registers a function that closes a part. Parts are closed in reverse order. */
export type OnClose = (close: Close) => void;

/** The parts of a daemon that other parts use. */
export interface Parts {
  readonly deliveryLog: DeliveryLog;
  readonly served: ServedStates;
  readonly keys: IssuerKeys;
  readonly live: LiveDeliveries;
  readonly unlogged: UnloggedRequests;
  readonly metrics: Metrics;
  readonly traces: Traces | undefined;
  readonly readReconciles: MetricSources['readReconciles'];
  readonly thread: OperationsThread;
  /** Further threads of this kind, as the table of routes names them. */
  readonly threads: Readonly<Record<'lists' | 'outside', OperationsThread>>;
  readonly daemonId: string;
  readonly connections: ConnectionShares;
}
