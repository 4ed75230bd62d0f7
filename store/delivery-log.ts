import type { Commit } from '../schema/commit.ts';
import type { IdentitySource, Outcome, RunState, UnidentifiedOutcome } from '../schema/delivery.ts';

/** What each delivery's row says, whatever became of it. */
interface DeliveryFacts {
  /** `dlv_…`, see `sortableId`. */
  readonly id: string;
  readonly factory: string;
  /** The webhook's name. */
  readonly webhook: string;
  readonly uid: string;
  readonly atMs: number;
  /** Bytes of the body, as far as it was read. */
  readonly size: number;
  /** The auth mode or signature scheme that vouched for it; absent where none did. */
  readonly authenticatedBy?: string;
}

export interface DeliveryMetadata extends DeliveryFacts {
  /** What was in force when it arrived. */
  readonly appliedState?: AppliedStateRef;
}

export interface AcceptedDelivery extends DeliveryMetadata {
  readonly identity: string;
  readonly identitySource: IdentitySource;
  /** The body's exact bytes; not to be written to until the delivery is recorded. */
  readonly payload: Uint8Array;
  /** A run for each automation that matched; recorded with the delivery or not at all. */
  readonly runs: readonly NewRun[];
}

export interface UnidentifiedDelivery extends DeliveryMetadata {
  readonly outcome: UnidentifiedOutcome;
  /** For the webhook's owner, never for the sender. */
  readonly reason?: string;
}

/** The automations in force when a delivery arrived. Equal `digest` means equal `json`. */
export interface AppliedStateRef {
  readonly digest: string;
  readonly json: string;
  /** That they come from, in a factory that follows a branch. */
  readonly commit?: Commit | undefined;
}

export interface NewRun {
  /** `run_…`, see `sortableId`. */
  readonly id: string;
  readonly automation: string;
}

export interface Recorded {
  readonly id: string;
  /** The delivery that was accepted under this identity before: nothing was stored or started but a Duplicate row. */
  readonly duplicateOf?: string;
}

/** A row of the log as read back. */
export interface LoggedDelivery extends DeliveryFacts {
  readonly outcome: Outcome;
  readonly identity?: string;
  readonly identitySource?: IdentitySource;
  readonly reason?: string;
  readonly duplicateOf?: string;
  /** Digest of the automations in force when it arrived. */
  readonly snapshot?: string;
  /** That they come from, in a factory that follows a branch. */
  readonly commit?: Commit;
}

export interface Run {
  readonly id: string;
  readonly deliveryId: string;
  readonly factory: string;
  readonly webhook: string;
  readonly automation: string;
  /** Started by an operator from a stored payload, not by the delivery's arrival. */
  readonly replay: boolean;
  /** Digest of the automations in force when the run was recorded. */
  readonly snapshot?: string;
  readonly state: RunState;
  /** Times it was claimed, the present time included. */
  readonly attempts: number;
  readonly notBeforeMs: number;
  readonly createdAtMs: number;
  readonly startedAtMs?: number;
  readonly finishedAtMs?: number;
  /** The daemon that executes it. */
  readonly claimedBy?: string;
  /** What went wrong in the last attempt. */
  readonly error?: string;
}

export interface RunClaim {
  readonly daemonId: string;
  readonly nowMs: number;
  readonly limit: number;
}

export interface ClaimedRuns {
  readonly runs: readonly Run[];
  /** When the next queued run is due, if any is left; past or present where `limit` was reached. */
  readonly nextDueMs?: number;
}

export interface RunResult {
  readonly id: string;
  readonly state: 'succeeded' | 'failed';
  readonly atMs: number;
  readonly error?: string;
}

export interface RunPostponement {
  readonly id: string;
  readonly notBeforeMs: number;
  readonly error?: string;
}

export interface Replay {
  readonly deliveryId: string;
  readonly runs: readonly NewRun[];
  readonly appliedState: AppliedStateRef;
  readonly nowMs: number;
}

export interface Retention {
  /** Newest rows of each webhook that stay, whatever their age. */
  readonly keepNewest: number;
  /** Rows at this time or later stay, however many. */
  readonly keepSinceMs: number;
}

export interface Pruned {
  readonly deliveries: number;
  /** Finished runs that went with their deliveries: what was kept for them elsewhere can go as well. */
  readonly runIds: readonly string[];
}

export interface DeliveryLogStats {
  /** Deliveries handed in and not yet committed, and the bytes of their payloads. */
  readonly waiting: number;
  readonly waitingBytes: number;
  readonly committed: number;
  readonly commits: number;
  readonly failedCommits: number;
  readonly refusedFull: number;
  /** Rejections that were not logged because too much was waiting. */
  readonly droppedRejections: number;
  /** Of the last transaction: its duration with the sync, and its deliveries. */
  readonly lastCommitMs: number;
  readonly lastCommitDeliveries: number;
}

export interface DeliveryFilter {
  readonly factory: string;
  /** A webhook's name at the time. */
  readonly webhook?: string;
  readonly uid?: string;
  readonly outcome?: Outcome;
  readonly limit: number;
  /** Those committed before the delivery with this id; none if it is not in the log. */
  readonly before?: string;
}

export interface RunFilter {
  readonly factory: string;
  readonly automation?: string;
  readonly state?: RunState;
  readonly limit: number;
  /** Those recorded before the run with this id; none if it is not in the log. */
  readonly before?: string;
}

export interface AcceptedCount {
  readonly lastAtMs?: number;
  readonly accepted: number;
}

export interface HourlyActivity {
  readonly latest?: Pick<LoggedDelivery, 'id' | 'atMs' | 'outcome'>;
  readonly counts: readonly HourlyCount[];
}

export interface HourlyCount {
  readonly outcome: Outcome;
  /** Whole hours after the time from which on is counted. */
  readonly hour: number;
  readonly deliveries: number;
}

/** Reads the delivery log, also while a daemon writes it. A log that was never written reads as empty. */
export interface DeliveryLogReader {
  /** In the order of commit, newest first. */
  listDeliveries(filter: DeliveryFilter): Promise<LoggedDelivery[]>;
  findDelivery(id: string): Promise<LoggedDelivery | undefined>;
  /** When the last delivery to a UID was accepted, if any is in the log, and how many were since a time. */
  countAccepted(uid: string, sinceMs: number): Promise<AcceptedCount>;
  /** The last delivery to a UID that is in the log, and how many came in each hour since a time. */
  countByHour(uid: string, sinceMs: number): Promise<HourlyActivity>;
  /** The body's exact bytes; undefined unless the delivery was accepted. */
  readPayload(deliveryId: string): Promise<Uint8Array | undefined>;
  /** In the order in which they were recorded, newest first. */
  listRuns(filter: RunFilter): Promise<Run[]>;
  findRun(id: string): Promise<Run | undefined>;
  /** Oldest first, replays included. */
  runsOfDelivery(deliveryId: string): Promise<Run[]>;
  /** The automations applied at a delivery, as the JSON text that was recorded. */
  readSnapshot(digest: string): Promise<string | undefined>;
}

export interface DeliveryLogOptions {
  /** Called when a commit has queued runs: they can be claimed now. */
  readonly onRunsQueued?: () => void;
  /** Called when deliveries were committed; the rows are only made when they are asked for. */
  readonly onCommitted?: (rows: () => readonly LoggedDelivery[]) => void;
  /** Called when nothing more can be recorded. Everything that waited was rejected. */
  readonly onFatal?: (error: Error) => void;
  readonly deliveriesWaitingMax?: number;
  readonly deliveryBytesWaitingMax?: number;
}

/**
 * The daemon's record of every delivery and run. Writes that arrive together are committed together; each promise
 * resolves after the commit that carried it is on disk. They reject with DeliveryLogError `full`, `failed` or `closed`.
 */
export interface DeliveryLog {
  recordAccepted(delivery: AcceptedDelivery): Promise<Recorded>;
  /** Rides in the next commit and is never waited for; false if it was dropped because too much was waiting. */
  recordUnidentified(delivery: UnidentifiedDelivery): boolean;
  readPayload(deliveryId: string): Promise<Uint8Array | undefined>;
  readSnapshot(digest: string): Promise<string | undefined>;

  /**
   * Queued runs that are due, longest due first, now `running` under this daemon. Another process may queue runs
   * as well (a replay, a retry): claim at intervals too, it costs nothing when none is due.
   */
  claimRuns(claim: RunClaim): Promise<ClaimedRuns>;
  /** False if the run was not running. */
  finishRun(result: RunResult): Promise<boolean>;
  /** Back to queued for another attempt; false if the run was not running. */
  postponeRun(postponement: RunPostponement): Promise<boolean>;
  /** At start: runs that another daemon left running are queued again. Gives their number. */
  requeueRunsOfOthers(daemonId: string): Promise<number>;
  /** A failed run, queued again with its attempts counted anew; false if it is not failed. */
  retryRun(run: { readonly id: string; readonly nowMs: number }): Promise<boolean>;
  /** New runs from a stored payload; false if no payload of such a delivery is in the log. */
  replay(replay: Replay): Promise<boolean>;

  /** Removes what retention no longer keeps, in small steps between the commits of deliveries. Closing ends it with `closed`. */
  prune(retention: Retention): Promise<Pruned>;

  stats(): DeliveryLogStats;
  /** Commits what waits, then ends the thread. */
  close(): Promise<void>;
}
