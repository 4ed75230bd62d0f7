import type { AppliedState } from '../../schema/applied-state.ts';
import type { RateLimits } from '../../schema/rate-limits.ts';
import type { Alerts } from './alerts.ts';
import type { ApiTokens } from './api-tokens.ts';
import type { AuditLog } from './audit-log.ts';
import type { OfferedRunners, SenderStates, StoredIssuerKeys } from './daemon-records.ts';
import type { DeliveryLog, DeliveryLogOptions, DeliveryLogReader } from './delivery-log.ts';
import type { OnStateChange, Unparsed, Watch } from './documents.ts';
import type { ReconcileStatuses } from './reconcile-statuses.ts';
import type { Replicas } from './replicas.ts';
import type { RunFiles } from './run-files.ts';
import type { Seal } from './seal.ts';
import type { StoredSessions } from './stored-sessions.ts';
import type { TeamSecrets } from './team-secrets.ts';
import type { Transfer, TransferSource } from './transfer.ts';

/**
 * Everything that hookmill keeps. Each part is opened when it is first used. Several processes may have the same
 * store open. Operations reject with `StoreError`, operations of the delivery log with `DeliveryLogError`.
 */
export interface Store {
  /** The place of the store, so that another thread of this process can open it too. */
  readonly place: StorePlace;
  readonly appliedStates: AppliedStates;
  readonly teamSecrets: TeamSecrets;
  readonly apiTokens: ApiTokens;
  readonly auditLog: AuditLog;
  /** The sign-ins to the dashboard. They outlive the daemon. */
  readonly sessions: StoredSessions;
  readonly reconcileStatuses: ReconcileStatuses;
  readonly alerts: Alerts;
  readonly issuerKeys: StoredIssuerKeys;
  readonly offeredRunners: OfferedRunners;
  readonly senderStates: SenderStates;
  readonly runFiles: RunFiles;
  readonly mirrors: Mirrors;
  readonly daemonAddress: DaemonAddress;
  /** Seals and opens credentials with the store's key. */
  readonly seal: Seal;
  /** Reads the delivery log, also while a daemon writes it. */
  readonly deliveries: DeliveryLogReader;
  /** Everything that the daemons share; undefined if only one daemon at a time may have the store open. */
  readonly replicas: Replicas | undefined;
  /** Opens the delivery log for writing; the caller closes it. Fails with DeliveryLogError `version` or `unsafe`. */
  openDeliveryLog(options?: DeliveryLogOptions): Promise<DeliveryLog>;
  /** Lists what is wrong with how the delivery log is stored; nothing if it is intact. */
  checkDeliveryLog(): Promise<readonly string[]>;
  /**
   * Replaces a damaged delivery log by a copy of what can be read of it. Fails with `locked` while a daemon runs, and
   * with DeliveryLogError `damaged` if nothing can be read.
   */
  salvageDeliveryLog(): Promise<Salvaged>;
  /** Creates or updates the format of the store. Fails with `unsupported` where that always happens by itself. */
  migrate(): Promise<Migrated>;
  /** Looks at everything that the promises of the store depend on. Changes nothing. */
  check(): Promise<StoreReport>;
  /**
   * Seals all sealed values again that the key has not sealed, and returns their number. A home without `HOOKMILL_KEY`
   * gets a new key first. Daemons may go on. Calling it again goes on where it was stopped. Fails with `key` if a value
   * does not open, or if there is no old key.
   */
  rotateKey(): Promise<number>;
  /**
   * Opens everything that the store keeps as it is at one moment, while daemons go on. Everything that was committed before
   * is in it. PostgreSQL and SQLite keep what is removed meanwhile until it is closed.
   */
  openSnapshot(): Promise<TransferSource>;
  /** Opens the store to copy it, or to copy another one to it. Fails with `locked` while a daemon or another copy uses it. */
  openTransfer(): Promise<Transfer>;
  /**
   * Reserves the store for this daemon. Fails with `incomplete` while a copy or restore to it is not complete, without
   * disturbing the copy, and with `locked` while another daemon holds the store or a copy reads it.
   */
  claimDaemon(): Promise<Claim>;
  /** Fails with `unsafe` if other users can change what is stored, or read the secrets in it. */
  requireSafe(): Promise<void>;
  /** Closes what reading has opened. */
  close(): Promise<void>;
}

export interface Salvaged {
  readonly deliveries: number;
  readonly runs: number;
  /** What was left out because it is not what was stored: deliveries by their payload, and versions of automations. */
  readonly altered: { readonly deliveries: number; readonly snapshots: number };
  /** The damaged file, under its new name. */
  readonly damagedFile: string;
}

/** The versions of a store's format before and after it was migrated; before the first time, the version is 0. */
export interface Migrated {
  readonly before: number;
  readonly after: number;
}

export interface StoreReport {
  readonly facts: Readonly<Record<string, string>>;
  /** Says what is wrong and what to do. */
  readonly problems: readonly string[];
}

export function addProblems(report: StoreReport, problems: readonly string[]): StoreReport {
  return { ...report, problems: [...report.problems, ...problems] };
}

/** The applied state of each factory. */
export interface AppliedStates {
  /** The factories that may have an applied state, sorted. */
  listFactories(): Promise<string[]>;
  /**
   * The applied state of a factory; an empty one if nothing has been applied yet. It `isDamaged` if something else than
   * the store changed it: then it must not be served. The next change replaces it.
   */
  read(factory: string): Promise<AppliedState>;
  /** Reads the states of the factories, or of all, without parsing or keeping them. Fails only if it cannot go on. */
  readEach(
    factories?: readonly string[],
  ): AsyncIterable<Unparsed<AppliedState> & { readonly factory: string }>;
  /**
   * Changes the applied state of a factory under its lock. `change` gets the current state; without a `next` state,
   * nothing is written. The store increments the serial, and returns the state as it is stored afterwards.
   * Fails with `locked`, or with `serial-moved` if a writer that ignored the lock came in between.
   */
  change<T>(
    factory: string,
    change: (state: AppliedState) => Promise<StateChange<T>>,
  ): Promise<{ readonly state: AppliedState; readonly result: T }>;
  /** Returns a text that differs for each stored state. Cheaper than `read`; undefined if nothing is stored. */
  readVersion(factory: string): Promise<string | undefined>;
  /** Calls `onChange` whenever a state may have changed, and every few seconds. Resolves once it is watching. */
  watch(onChange: OnStateChange): Promise<Watch>;
}

export interface StateChange<T> {
  readonly next?: AppliedState;
  readonly result: T;
}

export interface Claim {
  release(): Promise<void>;
}

/** Local copies of the repositories that factories follow. */
export interface Mirrors {
  /**
   * Passes the factory's directory to `work`. Only its owner can read the directory, and no other process uses it
   * until `work` ends. Fails with `locked`.
   */
  use<T>(factory: string, work: (directory: string) => Promise<T>): Promise<T>;
}

/** The address of the last daemon, so that commands print the right URLs and find it without an option. */
export interface DaemonAddress {
  /** Undefined if no daemon has started yet, or if the record cannot be read. */
  read(): Promise<DaemonRecord | undefined>;
  record(daemon: DaemonRecord): Promise<void>;
}

export interface DaemonRecord {
  readonly ingressUrl: string;
  readonly managementUrl: string;
  /** Where its ingress listens, which may be behind a proxy; absent in records of earlier versions. */
  readonly listensAt?: string | undefined;
  /** Different for each start of a daemon. */
  readonly id: string;
  /** Whether it takes client addresses from proxies. */
  readonly trustsProxies: boolean;
  /** The connections that the ingress takes, if the limit of open files allows fewer than its settings. */
  readonly connections?: number | undefined;
  /** The addresses of self-managed providers that it may ask about their hooks. */
  readonly senderUrls?: readonly string[] | undefined;
  /** The authenticated deliveries per minute and webhook that it accepts. */
  readonly deliveriesPerMinute?: number | undefined;
  /** The limits of single webhooks, as `RateLimits` has them. */
  readonly webhooks?: RateLimits['webhooks'];
}

/** Plain data, which can be sent to a thread. */
export interface StorePlace {
  /** The home directory. It is created with the first write. */
  readonly home: string;
  /**
   * The environment variables: HOOKMILL_KEY is the key that seals values, HOOKMILL_OLD_KEY another one that opens them.
   * References to secrets may name others.
   */
  readonly environment: NodeJS.ProcessEnv;
  /** The database that keeps everything but caches; absent: the home keeps everything. */
  readonly postgres?: PostgresPlace | undefined;
  /** The time to wait for another process that changes the same thing. */
  readonly lockTimeoutMs: number;
}

/** Connection URLs, with passwords: print them with `describeTarget`. */
export interface PostgresPlace {
  readonly url: string;
  /** A URL for one connection that is notified of changes, if `url` leads to a pooler that shares connections. */
  readonly directUrl?: string | undefined;
  /** Whether a server that may forget in a crash what it has confirmed is accepted. */
  readonly mayLose: boolean;
}

export interface StoreOptions extends StorePlace {
  readonly now: () => Date;
  /** Reads the delivery log in a thread of its own, so that no query delays the calling thread. */
  readonly readsInThread: boolean;
  /** Called when the first file of a new home is written. */
  readonly onHomeCreated?: () => void;
}
