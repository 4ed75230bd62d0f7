import type { Commit } from '../../schema/commit.ts';
import type {
  FormFormat,
  IdentitySource,
  Outcome,
  RunState,
  RunWait,
  UnidentifiedOutcome,
  UnloggedReason,
} from '../../schema/delivery.ts';
import type { EventHeaders } from '../../schema/headers.ts';
import type { RunSaid } from '../../schema/run-report.ts';
import type {
  HealthCounts,
  HealthRecord,
  HistoryFilter,
  RunTallies,
  RunTalliesFilter,
  StoredHealth,
  TalliedHistory,
  TallyStep,
} from './tallies.ts';

/** The facts that are recorded of every delivery, whatever its outcome. */
interface DeliveryFacts {
  /** `dlv_…`, see `createSortableId`. */
  readonly id: string;
  readonly factory: string;
  /** The webhook's name. */
  readonly webhook: string;
  readonly uid: string;
  readonly atMs: number;
  /** Bytes of the body that were read, or that an unverified sender announced: less than 2 GiB. */
  readonly size: number;
  /** The auth mode or signature scheme that authenticated it; absent if none did. */
  readonly authenticatedBy?: string;
  /** Set if not the current value of its secret verified it, but the one before, during an overlap. */
  readonly verifiedWith?: 'previous' | undefined;
}

export interface DeliveryMetadata extends DeliveryFacts {
  /** The applied state when it arrived. */
  readonly appliedState?: AppliedStateRef;
}

export interface AcceptedDelivery extends DeliveryMetadata {
  readonly identity: string;
  readonly identitySource: IdentitySource;
  /** The time for which an earlier delivery with this identity is the same one, in ms; absent: as long as the log keeps it. */
  readonly sameForMs?: number | undefined;
  /** The identity from the source `body` by which an earlier delivery may be known that it duplicates, besides its own. */
  readonly bodyIdentity?: string | undefined;
  /** Digest of what its signature covers. An accepted delivery with it has the same one, whatever its identity. */
  readonly contentDigest?: string | undefined;
  /** The body's exact bytes. Do not change them before the delivery is recorded. */
  readonly payload: Uint8Array;
  /** Set if the body is a form: how it became the payload that was judged. */
  readonly form?: FormFormat | undefined;
  readonly headers: EventHeaders;
  /** A run for each automation that matched; recorded together with the delivery, or not at all. */
  readonly runs: readonly NewRun[];
}

export interface UnidentifiedDelivery extends DeliveryMetadata {
  readonly outcome: UnidentifiedOutcome;
  /** For the webhook's owner; never shown to the sender. */
  readonly reason?: string;
}

/** The automations that were applied when a delivery arrived. Equal `digest` means equal `json`. */
export interface AppliedStateRef {
  readonly digest: string;
  readonly json: string;
  /** The commit that the automations come from, in a factory that follows a branch. */
  readonly commit?: Commit | undefined;
}

export interface NewRun {
  /** `run_…`, see `createSortableId`. */
  readonly id: string;
  readonly automation: string;
  /** Absent if it may start at any time, beside any other run. */
  readonly flow?: RunFlow;
  /** The run whose work it does again: it takes the deliveries that that one has gathered. */
  readonly againOf?: string;
}

/**
 * The rules by which a run may start, beside its due time. A lane is the runs of one automation that share a limit, an
 * order or a burst; its name is short, and no other factory, automation or kind of lane has the same one.
 */
export interface RunFlow {
  /** The runner that executes the run; absent for `defaultRunner`. */
  readonly runner?: string;
  /** At most `runs` runs of the lane are running at the same time. */
  readonly limit?: { readonly lane: string; readonly runs: number };
  /**
   * The runs of the lane start one after the other, as they were recorded. With `hold`, a failed one keeps the others
   * waiting until it is retried or dismissed. With `latest`, the run cancels the queued ones before it, or all that have not
   * ended.
   */
  readonly order?: {
    readonly lane: string;
    readonly hold: boolean;
    readonly latest?: { readonly cancelRunning: boolean };
  };
  /**
   * Deliveries join the lane's run that was not attempted yet, instead of starting another one. It is due `forMs` after
   * the last of them, but at most `atMostMs` after the first.
   */
  readonly burst?: { readonly lane: string; readonly forMs: number; readonly atMostMs: number };
  /** The ends of which receivers are told. */
  readonly notify?: readonly EndToTell['state'][];
  /** A run fails instead of starting once so many runs of its automation were started within an hour. */
  readonly runsPerHour?: number;
}

export interface Recorded {
  readonly id: string;
  /** The earlier delivery with the same identity or content digest. If set, only a Duplicate row is stored, and no run starts. */
  readonly duplicateOf?: string;
}

/** A delivery as the log returns it. */
export interface LoggedDelivery extends DeliveryFacts {
  readonly outcome: Outcome;
  readonly identity?: string;
  readonly identitySource?: IdentitySource;
  readonly reason?: string;
  readonly duplicateOf?: string;
  /** Digest of the automations that were applied when it arrived. */
  readonly snapshot?: string;
  /** The commit that the automations come from, in a factory that follows a branch. */
  readonly commit?: Commit;
  /** Only of accepted deliveries. */
  readonly headers?: EventHeaders;
  /** Only of accepted deliveries whose body is a form. */
  readonly form?: FormFormat;
}

/** The content of an accepted delivery: its payload, and the headers that were kept. */
export interface StoredEvent {
  /** As JSON: the body's exact bytes, or what was read of a form. */
  readonly payload: Uint8Array;
  readonly headers: EventHeaders;
}

export interface StoredContent extends Pick<StoredEvent, 'payload'> {
  /** The exact bytes that arrived: `payload` itself unless they are a form. */
  readonly body: Uint8Array;
}

export interface Run {
  readonly id: string;
  readonly deliveryId: string;
  readonly factory: string;
  readonly webhook: string;
  readonly automation: string;
  /** The name of the runner that executes it. */
  readonly runner: string;
  /** The lane whose order it keeps, or else whose limit it counts for. */
  readonly lane?: string;
  /** Whether an operator started it from a stored payload. */
  readonly replay: boolean;
  /** True if somebody started it by hand, with a payload that no sender sent. */
  readonly manual?: true;
  /** Digest of the automations that were applied when the run was recorded. */
  readonly snapshot?: string;
  readonly state: RunState;
  /** The number of its attempts, the current one included. A claim that was no attempt does not count. */
  readonly attempts: number;
  /** The number of all its claims. Each claim has a higher number than those before it: the fencing token of its attempt. */
  readonly claims: number;
  readonly notBeforeMs: number;
  readonly createdAtMs: number;
  readonly startedAtMs?: number;
  readonly finishedAtMs?: number;
  /** The daemon that executes it. A run that waits for its receiver belongs to none. */
  readonly claimedBy?: string;
  /** Until when a running run waits for its receiver to report the end. */
  readonly waitsUntilMs?: number;
  /** The receiver's last report on the current or last attempt. */
  readonly report?: RunReport;
  /** The reason why the last attempt failed. */
  readonly error?: string;
  /** The reason why a queued run does not start, beside its due time. */
  readonly waitsFor?: RunWait;
  /** True if the run failed without an attempt, because too many runs of its automation were started within an hour. */
  readonly stopped?: boolean;
  /** The request to cancel it. It has ended by that, or is about to: a daemon must first end what it started. */
  readonly cancel?: RunCancel;
  /** Set once its command has ended and a second one is to act on what it left. */
  readonly afterwards?: Afterwards;
  /** The run whose work somebody let this one do again. */
  readonly againOf?: string;
  /** True if an operator gave up the failed run, so that it does not hold those behind it. */
  readonly dismissed?: boolean;
  /** True of a failed run that keeps those behind it in its order waiting, until it is retried or dismissed. */
  readonly holds?: boolean;
  /** The last of its attempts, the oldest first; one that is being made has no end. Absent if none is known. */
  readonly history?: readonly PastAttempt[];
  /** The failed run that keeps a run that waits for its `order` waiting; absent if there is none. */
  readonly heldBy?: string;
  /** The number of deliveries that the run has taken up; `deliveryId` is the newest. Absent unless it has a `burst`. */
  readonly deliveryCount?: number;
}

/** An attempt at a run. */
export interface PastAttempt {
  /** Its number, which begins again with 1 after a retry by hand, and with a second command. */
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  /** The beginning of the reason why it failed. */
  readonly error?: string;
}

/** The state of a run whose command has ended, on its way to the second one. */
export interface Afterwards {
  /** When the first command had ended. */
  readonly sinceMs: number;
  /** The claim of its attempt, whose artifacts the second command acts on. */
  readonly claims: number;
  readonly approval?: Approval;
}

export interface Approval {
  /** Who approved, as the audit log names them. */
  readonly by: string;
  readonly atMs: number;
}

/** A request to cancel a run. */
export interface RunCancel {
  /** Who asked, as the audit log names them; hookmill itself if nobody has approved the run in time. */
  readonly by: string;
  readonly atMs: number;
  readonly reason?: string;
}

/**
 * How a request to cancel a run was taken. `requested`: a daemon ends what the run has started, and then the run.
 * `ended`: not at all, because it had ended.
 */
export type CancelTaken = 'cancelled' | 'requested' | 'ended';

/** An automation whose runs do not start. */
export interface Pause {
  readonly factory: string;
  readonly automation: string;
  /** Who asked, as the audit log names them. */
  readonly by: string;
  readonly atMs: number;
  /** When it ends; absent if only somebody can end it. */
  readonly untilMs?: number;
}

/** The end of a run of which receivers are to be told. */
export interface EndToTell {
  readonly seq: number;
  readonly run: string;
  /** Null if retention has removed the run. */
  readonly factory: string | null;
  /** Null if the run has been queued again since. */
  readonly finishedAtMs: number | null;
  readonly state: 'succeeded' | 'failed';
}

/** A delivery that a run has taken up. */
export type RunDelivery = Pick<LoggedDelivery, 'id' | 'atMs' | 'size'>;

/** A report of a receiver, or what a command has left as its result. Everything in it is from outside. */
export interface RunReport extends RunSaid {
  readonly atMs: number;
  /** The number of reports of this attempt, this one included. */
  readonly count: number;
}

export interface RunClaim {
  readonly daemonId: string;
  readonly nowMs: number;
  /** How many runs each runner may begin, by its name. Runs of other runners stay queued. */
  readonly places: RunnerPlaces;
  /** Only runs that are due since this time; by default, all that are due. */
  readonly dueMs?: number;
  /** Absent if no run can end the daemon. */
  readonly alone?: {
    /** The runners whose runs might end the daemon. */
    readonly runners: readonly string[];
    /** Whether the daemon executes nothing now. */
    readonly isIdle: boolean;
  };
}

export type RunnerPlaces = Readonly<Record<string, number>>;

export interface ClaimedRuns {
  readonly runs: readonly Run[];
  /** When the next queued run is due, if any is left for a runner that has places left. */
  readonly nextDueMs?: number;
  /** Other runners with queued runs; absent if there are none. */
  readonly otherRunners?: readonly string[];
  /** Runs that ended as failed instead of starting (`runsPerHour`); absent if there are none. */
  readonly stopped?: readonly Run[];
  /**
   * Set if a run is due that daemons did not survive: `claimed` as the only one, or it `waits` until this daemon executes
   * nothing else. Claim no others until then.
   */
  readonly alone?: 'claimed' | 'waits';
  /** IDs of the runs of this daemon that somebody cancels: end their attempts. Absent if there are none. */
  readonly toCancel?: readonly string[];
}

/** A claim of a run, as `claimRuns` returned it. A result of an earlier claim changes nothing. */
export type RunAttempt = Pick<Run, 'id' | 'claims' | 'claimedBy'>;

export interface AwaitedReport extends RunAttempt {
  readonly untilMs: number;
}

export interface ReportedRun extends RunAttempt {
  /** What it does not say stays as in the report before it, but the message. */
  readonly report: Omit<RunReport, 'count'>;
  /** The number of reports of the attempt beyond which it is not kept. */
  readonly countMax: number;
}

/** How a report was kept. `lost`: not at all, because the run is not running under that claim. */
export type ReportKept = 'recorded' | 'lost' | 'too-many';

export interface RunResult extends RunAttempt {
  readonly state: 'succeeded' | 'failed' | 'cancelled';
  readonly atMs: number;
  readonly error?: string;
}

export interface RunPostponement extends RunAttempt {
  /** When the attempt ended. */
  readonly atMs: number;
  readonly notBeforeMs: number;
  /** False if the claim was no attempt, so that it does not count as one. */
  readonly attempted: boolean;
  /** True if the daemon stops, which says nothing of the run. */
  readonly isInterrupted?: boolean;
  readonly error?: string;
  /** Set if the command of the run has ended, and its second one is next, with attempts of its own. */
  readonly second?: { readonly sinceMs: number; readonly waitsForApproval: boolean };
}

export interface DueTimesCorrection {
  readonly nowMs: number;
  /** The time by which the clock was set back since the last correction. */
  readonly backMs: number;
}

export interface Replay {
  readonly deliveryId: string;
  readonly runs: readonly NewRun[];
  readonly appliedState: AppliedStateRef;
  readonly nowMs: number;
  /** Recorded first, under that id, with the outcome `Manual`. Then the runs are not replays, but started by hand. */
  readonly manual?: ManualDelivery;
}

/** A payload that no sender sent. It is kept like a delivery, but counts for no webhook. */
export interface ManualDelivery {
  readonly factory: string;
  /** The name of the webhook that it stands for. */
  readonly webhook: string;
  readonly payload: Uint8Array;
  readonly headers: EventHeaders;
}

/** Requests that have no row in the log, of one webhook and for one reason. */
export interface UnloggedCount {
  /** Empty for `unknown URL`, as the UID is. */
  readonly factory: string;
  readonly uid: string;
  readonly reason: UnloggedReason;
  /** Says more about the reason; usually empty. */
  readonly detail: string;
  readonly count: number;
  readonly lastAtMs: number;
}

export interface UnloggedFilter {
  readonly factory: string;
  readonly uid?: string;
  /** The whole minute of this time counts. */
  readonly sinceMs: number;
}

export interface PruneRule {
  /** The number of newest deliveries of each webhook that stay, whatever their age. */
  readonly keepNewest: number;
  /** Deliveries since this time stay, however many there are. */
  readonly keepSinceMs: number;
  /** Tallies of deliveries and runs before this hour are removed, counted from 1970. Without it, all stay. */
  readonly keepTalliesSinceHour?: number;
}

export interface Pruned {
  readonly deliveries: number;
  /** The runs removed with their deliveries: their files can be removed too. Absent if the store does not know them. */
  readonly runIds?: readonly string[];
}

export interface DeliveryLogStats {
  /** Deliveries that are not yet committed. */
  readonly waiting: number;
  /** Bytes of their payloads. */
  readonly waitingBytes: number;
  readonly committed: number;
  readonly commits: number;
  readonly failedCommits: number;
  readonly refusedFull: number;
  /** Rejections that were not logged, because too much was waiting or their commit failed. */
  readonly droppedRejections: number;
  /** Duration of the last transaction, the sync included. */
  readonly lastCommitMs: number;
  /** Deliveries in the last transaction. */
  readonly lastCommitDeliveries: number;
}

/** Selects deliveries. An absent field selects all. */
export interface DeliveryFilter extends LoggedTimes {
  readonly factory: string;
  /** The webhook's name when the delivery arrived. With `uid` too, deliveries with either are meant. */
  readonly webhook?: string;
  readonly uid?: string;
  /** One outcome, or several of which a delivery has one. */
  readonly outcome?: Outcome | readonly Outcome[];
  /** Only deliveries with a run of this automation. */
  readonly automation?: string;
  /** Only deliveries with a run in this state, and of `automation` if that is given too. */
  readonly state?: RunState;
  readonly content?: ContentFilter;
}

/** Selects runs. An absent field selects all. */
export interface RunFilter extends LoggedTimes {
  readonly factory: string;
  /** As in a `DeliveryFilter`. */
  readonly webhook?: string;
  readonly uid?: string;
  readonly automation?: string;
  readonly state?: RunState;
  /** The content of the run's delivery. */
  readonly content?: ContentFilter;
}

/** The times at which deliveries arrived or runs were created. Rows may be missed if the clock was set back by more than ten minutes. */
interface LoggedTimes {
  /** At this time or later. */
  readonly sinceMs?: number;
  /** Before this time. */
  readonly untilMs?: number;
}

/** What lists show of a delivery in one line, and what its title is made of. */
export interface DeliverySummary
  extends Pick<
    LoggedDelivery,
    'id' | 'outcome' | 'authenticatedBy' | 'reason' | 'duplicateOf' | 'headers' | 'form'
  > {
  /** The number of its runs in each state, replays included; states without runs are absent. */
  readonly runs: Readonly<Partial<Record<RunState, number>>>;
  /**
   * The first bytes of its body. Only of deliveries whose payload is kept, and not if the bodies of the newer ones that are
   * summarised with it are very long together.
   */
  readonly beginning?: Uint8Array;
}

/** Content that a delivery must have. Only accepted ones have any. */
export interface ContentFilter {
  /** See `isOfEventType`. */
  readonly eventType?: string;
  /** A text in the payload, in one of its spellings in JSON (`listJsonSpellings`). */
  readonly text?: string;
}

/** A part of a list, in the order of commits. */
export interface ListPart {
  readonly limit: number;
  /** Newest first: only rows recorded before the one with this id; none if it is not in the log. */
  readonly before?: string;
}

/** A part of a search, in the order of commits. */
export interface SearchPart extends ListPart {
  /**
   * Oldest first instead: only rows recorded after the one with this id, or all if it is empty. A row appears only when
   * none can be recorded before it any more, so a search that goes on with `lastId` misses none.
   */
  readonly after?: string;
}

export interface Found<Row> {
  readonly rows: Row[];
  /** The number of rows that were looked at. */
  readonly searched: number;
  /** The last row that was looked at, found or not: where the next part begins. Absent if there was none. */
  readonly lastId?: string;
  /** Whether there is nothing beyond it for now. */
  readonly isEnd: boolean;
}

/** A part of the runs whose time is over. */
export interface OverduePart {
  readonly waitsFor: 'receiver' | 'approval';
  readonly nowMs: number;
  readonly limit: number;
  /** How many to pass over. */
  readonly skip: number;
}

/** The runs of all factories that have not ended, or that somebody must act on. */
export interface UnfinishedRuns {
  readonly queued: number;
  /** The queued ones that are due, but wait for other runs. */
  readonly waiting: number;
  readonly running: number;
  /** The failed ones that hold those behind them in their order. Retention keeps them, too. */
  readonly holding: number;
  /** The earliest due time of a queued run that does not wait for other runs. */
  readonly firstDueMs?: number;
}

/** An automation with runs that have failed, or were stopped, since somebody last looked. */
export interface FailedAutomation {
  readonly factory: string;
  readonly automation: string;
  /** Another number after each further failure. */
  readonly failure: number;
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
  /** Whole hours since the time at which counting starts. */
  readonly hour: number;
  readonly deliveries: number;
}

/**
 * Reads the delivery log, also while a daemon writes it. A log that was never written reads as empty.
 * Queries reject with DeliveryLogError `full` (too many are waiting), `failed`, `closed` or `version`.
 */
export interface DeliveryLogReader {
  /** In the order of their commits, newest first. */
  listDeliveries(filter: Omit<DeliveryFilter, 'content'> & ListPart): Promise<LoggedDelivery[]>;
  /** Looks for deliveries for a limited time, so it may find fewer than there are: see `Found`. */
  searchDeliveries(filter: DeliveryFilter & SearchPart): Promise<Found<LoggedDelivery>>;
  findDelivery(id: string): Promise<LoggedDelivery | undefined>;
  /** Summarises the deliveries with these ids, in any order, with at most so many bytes of each body. */
  summarizeDeliveries(ids: readonly string[], bytes: number): Promise<DeliverySummary[]>;
  /** The number of deliveries accepted for a UID since a time, and when the last one in the log was accepted. */
  countAccepted(uid: string, sinceMs: number): Promise<AcceptedCount>;
  /** Those of these IDs of a provider's events that a UID has accepted, in any order. */
  listAcceptedEvents(uid: string, eventIds: readonly string[]): Promise<string[]>;
  /** The number of deliveries for a UID in each hour since a time, and the latest one in the log. */
  countByHour(uid: string, sinceMs: number): Promise<HourlyActivity>;
  /** The payload as JSON, see `StoredEvent`; undefined unless the delivery was accepted. */
  readPayload(deliveryId: string): Promise<Uint8Array | undefined>;
  /** The payload with the body that it was read from; undefined unless the delivery was accepted. */
  readContent(deliveryId: string): Promise<StoredContent | undefined>;
  /** In the order in which they were recorded, newest first. */
  listRuns(filter: Omit<RunFilter, 'content'> & ListPart): Promise<Run[]>;
  /** Does the same for runs. */
  searchRuns(filter: RunFilter & SearchPart): Promise<Found<Run>>;
  /** The last row of a factory that a search with `after` would find now; undefined if there is none. */
  findLast(kind: 'deliveries' | 'runs', factory: string): Promise<string | undefined>;
  findRun(id: string): Promise<Run | undefined>;
  /**
   * The runs that it started or that took it up, oldest first, replays included. Of runs that were recorded together, those
   * with a flow come last.
   */
  listRunsOfDelivery(deliveryId: string): Promise<Run[]>;
  /** The deliveries that a run works with, in the order of their commits: one, or all that it has gathered. */
  listRunDeliveries(runId: string): Promise<RunDelivery[]>;
  countUnfinishedRuns(): Promise<UnfinishedRuns>;
  /** The pauses of a factory, or of all, that have not ended; those that began first come first. */
  listPauses(of: { readonly factory?: string; readonly nowMs: number }): Promise<Pause[]>;
  /** The runs whose time is over until which they wait for their receivers, or for approval; in the order of that time. */
  listOverdueRuns(part: OverduePart): Promise<Run[]>;
  /** The first run of each automation of which runs wait for approval. */
  listUnapprovedRuns(): Promise<Run[]>;
  /** The ends of which receivers are to be told (`forgetEnds`), in turns of factories, the oldest first. */
  listEndsToTell(limit: number): Promise<EndToTell[]>;
  /** The automations with failures that nobody has looked at (`forgetFailures`), in turns of factories; the longest known first. */
  listFailedAutomations(limit: number): Promise<FailedAutomation[]>;
  /** A failed run of an automation that holds those behind it; undefined if there is none. */
  findHoldingRun(of: { readonly factory: string; readonly automation: string }): Promise<Run | undefined>;
  /** The automations of an applied state, as the JSON text that was recorded. */
  readSnapshot(digest: string): Promise<string | undefined>;
  /** The requests without a row since a time, one sum for each webhook, reason and detail; the last ones first. */
  sumUnlogged(filter: UnloggedFilter): Promise<UnloggedCount[]>;
  /** Adds up the first rows that are not tallied yet, for `recordTallies`. */
  readNextTallies(): Promise<TallyStep>;
  readHistory(filter: HistoryFilter): Promise<TalliedHistory>;
  /** The webhooks that must be judged now; those that wait longest first. */
  listDueHealth(nowMs: number, limit: number): Promise<StoredHealth[]>;
  /** The ends of runs by hours, how long they took, and the runs that have not ended. */
  readRunTallies(filter: RunTalliesFilter): Promise<RunTallies>;
  /** Counts the webhooks of one factory, or of all. */
  countHealth(factory?: string): Promise<HealthCounts>;
}

/** A reader whose methods are synchronous. */
export type SynchronousReader = {
  readonly [V in keyof DeliveryLogReader]: (
    ...given: Parameters<DeliveryLogReader[V]>
  ) => Awaited<ReturnType<DeliveryLogReader[V]>>;
};

export interface DeliveryLogOptions {
  /** Called when a commit has queued runs, which can be claimed now. */
  readonly onRunsQueued?: () => void;
  /** Called when deliveries were committed. Calling `rows` makes their rows. */
  readonly onCommitted?: (rows: () => readonly LoggedDelivery[]) => void;
  /** Called when other daemons may have taken over the runs that were claimed here, because this one seemed dead. */
  readonly onClaimsLost?: () => void;
  /** Called when nothing more can be recorded; everything that waited was rejected. */
  readonly onFatal?: (error: Error) => void;
  readonly deliveriesWaitingMax?: number;
  readonly deliveryBytesWaitingMax?: number;
  readonly commitWaitMs?: number;
}

/**
 * The daemon's record of every delivery and run. Writes that arrive together are committed together. Each promise
 * resolves once its commit is on disk, or rejects with DeliveryLogError `full`, `failed` or `closed`; the promise of a delivery
 * also with `late`.
 */
export interface DeliveryLog {
  recordAccepted(delivery: AcceptedDelivery): Promise<Recorded>;
  /** Adds it to the next commit without waiting for that; false if it was dropped because too much was waiting. */
  recordUnidentified(delivery: UnidentifiedDelivery): boolean;
  /**
   * Adds to the counts of requests without a row, each to the count of its minute. After a lost connection, some may be added
   * twice. Returns how many counts were given.
   */
  recordUnlogged(counts: readonly UnloggedCount[]): Promise<number>;
  /**
   * Adds to the tallies, and makes webhooks due that may not be healthy. Returns false and adds nothing if the rows were
   * tallied meanwhile, so that each row counts once.
   */
  recordTallies(step: TallyStep): Promise<boolean>;
  /**
   * Records how a daemon has judged webhooks, and when. Returns whether there may be more to judge now. The store may also
   * add up here what it has noted of runs.
   */
  recordHealth(record: HealthRecord): Promise<boolean>;
  /** Undefined unless the delivery was accepted. */
  readEvent(deliveryId: string): Promise<StoredEvent | undefined>;
  readSnapshot(digest: string): Promise<string | undefined>;
  /** As the reader does. */
  listRunDeliveries(runId: string): Promise<RunDelivery[]>;

  /**
   * Claims queued runs that are due and that their flow lets start, longest due first; they are then `running` under
   * this daemon. Other processes may queue runs too (a replay, a retry), so also claim at intervals. Whatever the
   * places, claims the runs of no daemon that somebody cancels (`Run.cancel`): end what they started, and finish them.
   */
  claimRuns(claim: RunClaim): Promise<ClaimedRuns>;
  /** False if the run is not running under that claim. */
  finishRun(result: RunResult): Promise<boolean>;
  /** Lets a run wait for its receiver, under no daemon; false if it is not running under that claim. */
  awaitReport(awaited: AwaitedReport): Promise<boolean>;
  /** Keeps a receiver's report on a running run, and counts it. */
  recordReport(reported: ReportedRun): Promise<ReportKept>;
  /** Queues a running run for another attempt; false if it is not running under that claim. */
  postponeRun(postponement: RunPostponement): Promise<boolean>;
  /**
   * Queues the runs that other daemons left running, or fails those that were left so too often in a row, and returns
   * their number. Call it at the start.
   */
  requeueRunsOfOthers(daemonId: string): Promise<number>;
  /**
   * Makes runs and pauses wait no longer than intended after the clock was set back: what began later than now begins now,
   * and what queued runs wait is shorter by `backMs`. Also call it at the start, because the clock may have been set while no
   * daemon ran. Returns the number of what changed.
   */
  correctDueTimes(correction: DueTimesCorrection): Promise<number>;
  /** Queues a failed run again and restarts the count of its attempts; false if it has not failed. */
  retryRun(run: { readonly id: string; readonly nowMs: number }): Promise<boolean>;
  /** Gives up a failed run, so that it no longer holds those behind it; false if it has not failed. A retry undoes it. */
  dismissRun(id: string): Promise<boolean>;
  /**
   * Cancels a run that has not ended. One that was never claimed has ended then; a daemon ends another one, which
   * `claimRuns` tells it.
   */
  cancelRun(run: { readonly id: string; readonly cancel: RunCancel }): Promise<CancelTaken>;
  /** Lets a run go on that waits for approval; false if it does not. */
  approveRun(run: { readonly id: string; readonly approval: Approval }): Promise<boolean>;
  /** Lets no run of an automation start, or changes the pause that it has. */
  pauseAutomation(pause: Pause): Promise<void>;
  /** Lets the runs of an automation start again; false if it is not paused. */
  resumeAutomation(of: Pick<Pause, 'factory' | 'automation'> & { readonly nowMs: number }): Promise<boolean>;
  /** Forgets failures that somebody has looked at. An automation that has failed again since stays listed. Returns how many were known. */
  forgetFailures(failures: readonly FailedAutomation['failure'][]): Promise<number>;
  /** Forgets ends, because receivers will be told of them. Returns how many there were. */
  forgetEnds(ends: readonly EndToTell['seq'][]): Promise<number>;
  /** Queues new runs from a stored payload. They gather no deliveries. False if the log has no payload of that delivery. */
  replay(replay: Replay): Promise<boolean>;

  /**
   * Removes what retention no longer keeps, in small steps between the commits of deliveries. A delivery stays with a run
   * that is queued or running, or that has failed and holds those behind it. A run is removed with its newest delivery.
   * Rejects with `closed` if the log is closed meanwhile.
   */
  prune(retention: PruneRule): Promise<Pruned>;

  stats(): DeliveryLogStats;
  /** Says within 5 s why nothing can be recorded, even if no delivery arrives; undefined while recording works. */
  describeTrouble(): string | undefined;
  /** Commits what is waiting, then closes the log. */
  close(): Promise<void>;
}
