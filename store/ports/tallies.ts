import type { endStates, Outcome, requestOutcomes } from '../../schema/delivery.ts';

/** The number of deliveries with each outcome in an hour. */
export type OutcomeCounts = Readonly<
  Record<'accepted' | 'duplicates' | 'rejectedAuth' | 'rejectedJson' | 'rejectedLarge' | 'handshakes', number>
>;

/** The deliveries of a webhook in one hour. A delivery is good if it was accepted, or a duplicate: its sender is fine. */
export interface Tally extends OutcomeCounts {
  readonly factory: string;
  readonly uid: string;
  /** The name of the webhook at its last delivery. */
  readonly webhook: string;
  /** Whole hours since 1970. */
  readonly hour: number;
  readonly firstGoodMs: number | null;
  readonly lastGoodMs: number | null;
  /** The longest time between two good deliveries of the hour, in ms. */
  readonly longestGapMs: number;
  /** The rejections after the last good delivery of the hour. */
  readonly rejectedInRow: number;
  readonly lastRejectedMs: number | null;
}

/** The facts of a delivery that are tallied. */
export interface TalliedRow {
  readonly factory: string;
  readonly uid: string;
  readonly webhook: string;
  readonly outcome: Outcome;
  readonly atMs: number;
}

/** The place in the log up to which its rows are tallied. */
export interface TallyPosition {
  readonly seq: number;
  /** With PostgreSQL, the last day of which rows were tallied, counted from 1970; otherwise 0. */
  readonly day: number;
}

/** The next rows of the log that are not tallied yet, together with the position that is written with them. */
export interface TallyStep {
  readonly from: TallyPosition;
  readonly to: TallyPosition;
  readonly tallies: readonly Tally[];
  /** Whether nothing follows for now. */
  readonly isEnd: boolean;
}

/** The field of a tally that counts the deliveries with an outcome. */
export const countOf: Readonly<Record<(typeof requestOutcomes)[number], keyof OutcomeCounts>> = {
  Accepted: 'accepted',
  Duplicate: 'duplicates',
  'Rejected (auth)': 'rejectedAuth',
  'Rejected (invalid JSON)': 'rejectedJson',
  'Rejected (too large)': 'rejectedLarge',
  Handshake: 'handshakes',
};

/** The number of rejections in an hour. */
export function countRejected({ rejectedAuth, rejectedJson, rejectedLarge }: OutcomeCounts): number {
  return rejectedAuth + rejectedJson + rejectedLarge;
}

/** The health of a webhook when it was last looked at. */
export interface StoredHealth {
  readonly factory: string;
  readonly uid: string;
  /** The name of the webhook at its last delivery. */
  readonly webhook: string;
  /** One of `healthStates`. */
  readonly state: string;
  /** Since when it is quiet or failing; null in other states. */
  readonly sinceMs: number | null;
  /** Silence counts from this time on: before, the webhook was disabled or unknown. */
  readonly fromMs: number;
}

/** The health of a webhook as it was just judged. */
export interface JudgedHealth extends Pick<StoredHealth, 'uid' | 'state' | 'sinceMs' | 'fromMs'> {
  /** The time at which it must be judged again, unless deliveries make it due before; null: it is forgotten. */
  readonly dueMs: number | null;
}

export interface HealthRecord {
  readonly nowMs: number;
  readonly judged: readonly JudgedHealth[];
}

/** The past by which webhooks are judged. */
export interface TalliedHistory {
  /** Since when deliveries could be received without a longer break; 0 if no daemon has judged yet. */
  readonly listeningSinceMs: number;
  readonly webhooks: readonly StoredHealth[];
  /** Sorted by webhook, then oldest first. */
  readonly tallies: readonly Tally[];
}

export interface HistoryFilter {
  readonly factory: string;
  readonly uid?: string;
  readonly sinceHour: number;
}

/** The webhooks that got a delivery, by what was last found of them. */
export interface HealthCounts {
  /** In the order of factories. */
  readonly counts: readonly FactoryHealthCount[];
  /** Those that are not healthy, failing ones first, up to a limit. */
  readonly unhealthy: readonly StoredHealth[];
}

export interface FactoryHealthCount {
  readonly factory: string;
  readonly state: string;
  readonly webhooks: number;
}

/** The runs of an automation that ended in one hour. A run that was retried by hand counts once for each end. */
export interface RunTally {
  readonly automation: string;
  /** Whole hours since 1970. */
  readonly hour: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
}

/** The last run of an automation that ended. Retention may have removed it. */
export interface LastRun {
  readonly automation: string;
  readonly id: string;
  readonly state: (typeof endStates)[number];
  readonly atMs: number;
}

/** The runs of one hour whose times from creation to success or failure are about the same. */
export interface RunDuration {
  readonly hour: number;
  /** Times of `2 ** (bucket / 8)` ms up to the next bucket's. */
  readonly bucket: number;
  readonly runs: number;
}

/** The runs of a factory that have not ended; each counts once. */
export interface RunsNow {
  readonly running: number;
  /** Those that start when they are due and a runner has a place. */
  readonly queued: number;
  /** Those that a failed run holds. */
  readonly held: number;
  /** Those that wait for anything else (`Run.waitsFor`). */
  readonly waiting: number;
}

export interface RunTallies {
  /** Sorted by automation, then oldest first. */
  readonly tallies: readonly RunTally[];
  readonly lastRuns: readonly LastRun[];
  readonly durations: readonly RunDuration[];
  readonly now: RunsNow;
}

export interface RunTalliesFilter {
  readonly factory: string;
  /** Whose last runs are wanted. */
  readonly automations: readonly string[];
  readonly sinceHour: number;
  /** From which hour on durations are wanted. */
  readonly durationsSinceHour: number;
}
