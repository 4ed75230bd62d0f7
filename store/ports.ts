import type { ApiTokens } from './api-tokens.ts';
import type { AppliedStates } from './applied-states.ts';
import type { DeliveryLog, DeliveryLogOptions, DeliveryLogReader } from './delivery-log.ts';
import type { ReconcileStatuses } from './reconcile-statuses.ts';
import type { RunFiles } from './run-files.ts';
import type { Seal } from './seal.ts';
import type { TeamSecrets } from './team-secrets.ts';

/** Everything that hookmill keeps. Each part is opened with its first use. */
export interface Store {
  readonly appliedStates: AppliedStates;
  readonly teamSecrets: TeamSecrets;
  readonly apiTokens: ApiTokens;
  readonly reconcileStatuses: ReconcileStatuses;
  readonly runFiles: RunFiles;
  readonly mirrors: Mirrors;
  readonly daemonAddress: DaemonAddress;
  /** Seals and opens credentials with the store's key. */
  readonly seal: Seal;
  /** Reads the delivery log, also while a daemon writes it. */
  readonly deliveries: DeliveryLogReader;
  /** Opens the delivery log for writing. Fails with DeliveryLogError `version` or `unsafe`. */
  openDeliveryLog(options?: DeliveryLogOptions): Promise<DeliveryLog>;
  /** Reserves the store for this daemon. Fails with `locked` while another one holds it. */
  claimDaemon(): Promise<Claim>;
  close(): Promise<void>;
}

export interface Claim {
  release(): void;
}

/** Local copies of the repositories that factories follow. */
export interface Mirrors {
  /**
   * Gives the factory's directory to `work`, created for its owner only, and no other process uses it meanwhile.
   * Fails with `locked`.
   */
  use<T>(factory: string, work: (directory: string) => Promise<T>): Promise<T>;
}

/** Where the daemon received when it last started, so that commands print the right URLs without being told. */
export interface DaemonAddress {
  /** The ingress' URL; undefined if no daemon ever started, or if the record cannot be read. */
  read(): Promise<string | undefined>;
  record(ingressUrl: string): Promise<void>;
}

export interface StoreOptions {
  /** The home directory. It is created with the first write. */
  readonly home: string;
  /** The environment: HOOKMILL_KEY is the key to sealed values, if it is set. */
  readonly environment: NodeJS.ProcessEnv;
  /** How long to wait for another process that changes the same thing. */
  readonly lockTimeoutMs: number;
  readonly now: () => Date;
  /** Answers questions to the delivery log in a thread of its own, so that they never delay the caller's. */
  readonly readsInThread: boolean;
}
