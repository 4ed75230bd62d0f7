import type { RunControl } from '../../../schema/definitions/automation-definition.ts';
import type { RunUsage } from '../../../schema/run-report.ts';
import type { Run, RunAttempt, StoredEvent } from '../../../store/ports/delivery-log.ts';
import type { Store } from '../../../store/ports/store.ts';
import type { Masking } from '../masking.ts';

/** One attempt at a run, prepared for its runner. */
export interface Attempt extends StoredEvent {
  readonly run: Run;
  /** Absolute; holds `prompt.md`, `event-payload.json` and `event-headers.json`, all on disk. */
  readonly directory: string;
  /** The number of deliveries that the run has gathered, all with attachments in the directory; 0 unless it gathers. */
  readonly gathered: number;
  /** The prompt and the envelope. It contains nothing that a sender wrote. */
  readonly message: string;
  /** The artifacts without which an attempt has failed. */
  readonly requires?: readonly string[] | undefined;
  /** The repository that the automation has chosen of its runner. */
  readonly repository?: string | undefined;
  /** The time limit that the automation asks for; a runner's own one may be shorter. */
  readonly timeLimitMs?: number | undefined;
  /** The attempt's own span (W3C Trace Context), if the daemon traces. */
  readonly traceparent?: string;
}

/** How an attempt ended, and what it has used, if it says so. A reason is for operators and never quotes the payload. */
export type AttemptResult = AttemptEnd & { readonly usage?: RunUsage };

type AttemptEnd =
  /** A reason, if any, reports a failure beside the run itself, such as output that could not be kept. */
  | { readonly kind: 'succeeded'; readonly reason?: string }
  /** Another attempt would end in the same way. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** Another attempt may succeed, after at least `afterMs`. Also used if the signal ended this attempt early. */
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs?: number }
  /** The receiver goes on with it, and has until `untilMs` to report the end. */
  | { readonly kind: 'waiting'; readonly untilMs: number; readonly reason: string }
  /** A second command is to act on what the first one left, at once or when somebody has approved it. */
  | {
      readonly kind: 'proposed';
      readonly sinceMs: number;
      /** When it is cancelled unless somebody approves it; absent if it needs no approval. */
      readonly approvalUntilMs?: number | undefined;
      readonly reason?: string;
    }
  /** hookmill itself could not begin, for example with a full disk. It does not count as an attempt. */
  | { readonly kind: 'unattempted'; readonly reason: string }
  /** Somebody cancelled the run, and nothing that it started is left. A reason says what went wrong beside that. */
  | { readonly kind: 'cancelled'; readonly reason?: string };

/** The reason with which the signal of an attempt aborts when somebody cancels the run. */
export class RunCancelled extends Error {
  override readonly name = 'RunCancelled';

  constructor() {
    super('somebody cancelled the run');
  }
}

/**
 * Fails with RunCancelled if somebody has cancelled a run. Call it when an attempt is about to start something: what it waits
 * for before, such as a secret, may take long.
 */
export async function requireNotCancelled(
  { id }: Pick<Run, 'id'>,
  { deliveries }: Pick<Store, 'deliveries'>,
): Promise<void> {
  if ((await deliveries.findRun(id))?.cancel) throw new RunCancelled();
}

/**
 * Carries out an attempt. When it resolves, everything that it started has ended. After `signal` aborts, it ends within
 * a few seconds, with `retry` if the work may be unfinished. The operator chooses and configures the runner.
 */
export type Runner = (attempt: Attempt, signal: AbortSignal) => Promise<AttemptResult>;

/** Makes something in a run's directory before its command starts. The variables tell the command where it is. */
export type PrepareCommand = (
  attempt: Attempt,
  signal: AbortSignal,
) => Promise<{ readonly failure?: AttemptResult; readonly variables?: Readonly<Record<string, string>> }>;

/** Tells the receiver of a run that the run was cancelled. Returns why it could not be told; undefined if it was. */
export type TellCancelled = (run: Run, signal: AbortSignal) => Promise<string | undefined>;

/** Makes an attempt at the second command of a run (`Run.afterwards`). */
export type RunAfterwards = (
  run: Run,
  automation: Pick<RunControl, 'timeLimit'>,
  signal: AbortSignal,
) => Promise<AttemptResult>;

/** A runner, its second command, and how it tells the receivers of its runs that one was cancelled. */
export interface CreatedRunner {
  readonly execute: Runner;
  readonly actAfterwards?: RunAfterwards | undefined;
  readonly tellCancelled?: TellCancelled | undefined;
  /** Opens the masking of an attempt whose receiver reports; undefined if a secret cannot be read. */
  readonly openMasking?: (run: Run) => Promise<Masking | undefined>;
  /** Whether its runs might end the daemon: they execute commands that are not isolated from it. */
  readonly mayEndDaemon?: boolean;
}

/** A runner that can execute runs, with its bounds. */
export interface OpenRunner extends CreatedRunner {
  readonly concurrency: number;
  readonly attempts: number;
  readonly backOff: { readonly firstSeconds: number; readonly maxSeconds: number };
  /** Whether an attempt finds in the run's directory what earlier ones left there. */
  readonly keep: boolean;
}

/** The time limit for an attempt, in whole ms: the operator's, or the automation's if that is shorter. */
export function boundTimeLimitMs(
  { timeLimitSeconds }: { readonly timeLimitSeconds: number },
  { timeLimitMs = Infinity }: Pick<Attempt, 'timeLimitMs'>,
): number {
  return Math.min(Math.ceil(timeLimitSeconds * 1_000), timeLimitMs);
}

/** Picks the claim of a run, by which the log recognises its attempt. */
export function toClaim({ id, claims, claimedBy }: Run): RunAttempt {
  return { id, claims, ...(claimedBy !== undefined && { claimedBy }) };
}

/** Adds to the reason of a result. */
export function addReason(result: AttemptResult, lost: string): AttemptResult {
  return { ...result, reason: result.reason ? `${result.reason}; ${lost}` : lost };
}
