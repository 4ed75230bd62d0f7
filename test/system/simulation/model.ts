import type { SqliteDatabase, Statement } from '../../../store/home/sqlite.ts';
import type { RunFlow } from '../../../store/ports/delivery-log.ts';

/** What the simulated operator has set of each runner. */
export const runnerPlaces: Readonly<Record<string, number>> = { default: 1, second: 2, acts: 1, asks: 1 };
/** The runners, and automations, whose runs succeed only by their second command; `asks` needs an approval. */
export const commandRunners: ReadonlySet<string> = new Set(['acts', 'asks']);
/** Attempts that a run may have. */
export const attemptsMax = 3;
/** Time within which a daemon looks for work by itself (docs/runs.md: within 2 s), in ms. */
const pollMs = 2_000;
/** Messages of claims before a run is claimed if nothing is wrong, each with a commit: one in progress, and its own. */
const claimCommits = 5;
/** Time that these messages take, without their commits, in ms. */
const claimMessagesMs = 200;
/** The error of an attempt that did not end by itself: its daemon ended, was stopped, or lost its claim. */
const interruptedPattern = /^the daemon ended, or lost its claim, during|^it was stopped$/;
/** Claims that a cancel may need at once: by a daemon that dies with it, and by one whose answer is lost. */
const cancelClaimsMin = 12;
/** Shortest wait until a cancel that failed is tried again, in ms. */
const cancelWaitMs = 1_000;

/** A rule that was broken. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** A run as the log has it. */
interface Row {
  readonly seq: number;
  readonly id: string;
  readonly delivery: string;
  readonly automation: string;
  readonly runner: string;
  readonly state: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  readonly attempts: number;
  readonly claims: number;
  readonly claimedBy: string | null;
  readonly dueMs: number;
  readonly startedAtMs: number | null;
  readonly waitsUntilMs: number | null;
  readonly parked: string | null;
  readonly error: string | null;
  readonly cancel: string | null;
  readonly dismissed: number | null;
}

interface DeliveryRow {
  readonly id: string;
  readonly atMs: number;
  readonly outcome: string;
  readonly identity: string;
  readonly duplicateOf: string | null;
}

interface PauseRow {
  readonly automation: string;
  readonly untilMs: number | null;
}

/** A delivery as a sender knows it: one event, sent again until a daemon accepts it. */
export interface SentEvent {
  readonly identity: string;
  /** The rules of its run. */
  readonly flow: RunFlow | undefined;
  /** Every try, with the ID of its delivery and its run, and what the daemon answered. */
  readonly tries: {
    readonly delivery: string;
    readonly run: string;
    answer?: 'accepted' | 'duplicate' | 'refused';
  }[];
}

/** What the model must know of a daemon. */
export interface WatchedDaemon {
  readonly name: string;
  /** Since when nothing was wrong with it and it was started; undefined while something is. */
  readonly healthySinceMs: number | undefined;
  nowMs(): number;
}

interface Execution {
  readonly run: string;
  readonly claims: number;
  readonly claimedBy: string;
  readonly daemon: string;
}

const over: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled']);

/**
 * What must be true of the log and of the daemons after each step, as docs/runs.md and docs/running.md promise it. It
 * knows what senders, receivers and operators saw, and reads what is committed; nothing of how the product decides.
 */
export class Model {
  readonly #events = new Map<string, SentEvent>();
  readonly #flows = new Map<string, RunFlow>();
  readonly #executing = new Set<Execution>();
  /** The claims that each daemon has been given and not ended, by runner. */
  readonly #places = new Map<
    string,
    { readonly taken: Map<string, string>; readonly freeSinceMs: Map<string, number> }
  >();
  readonly #cancelled = new Set<string>();
  /** The claims that only end a run which somebody cancels: they execute nothing, so no lane counts them. */
  readonly #claimedToCancel = new Set<string>();
  readonly #cancelAsked = new Map<string, number>();
  readonly #retried = new Set<string>();
  readonly #ended = new Set<string>();
  /** The attempts of each run that were interrupted. */
  readonly #interruptions = new Map<string, number>();
  readonly #reportedEnds = new Map<string, string>();
  /** Since when each run could start, or could be waited for, and by whose commit: that daemon knows of it. */
  readonly #startable = new Map<
    string,
    { readonly sinceMs: number; readonly by: string; readonly dueMs: number }
  >();
  readonly #selectRuns: Statement<[], Row>;
  readonly #selectDeliveries: Statement<[], DeliveryRow>;
  readonly #selectPauses: Statement<[], PauseRow>;
  readonly #isHeld: (claimedBy: string) => boolean;
  /** Far less than the poll: nobody may wait for that. */
  readonly #promptMs: number;
  #rows: ReadonlyMap<string, Row> = new Map();
  #deliveries: readonly DeliveryRow[] = [];
  /** The automations whose runs must not start. */
  #pauses: readonly PauseRow[] = [];
  /** The claims under which the first command of each run succeeded. */
  readonly #proposals = new Map<string, number>();
  readonly #acted = new Set<string>();
  /** The ends of each run of which the receiver of alerts is to be told, and the messages that it has of them. */
  readonly #toTell = new Map<string, number>();
  readonly #told = new Map<string, Set<string>>();
  readonly #approvals = new Set<string>();
  /** Deliveries before this time may be removed. */
  #prunedBeforeMs = -Infinity;
  readonly #pruned = new Set<string>();

  /** `commitMs`: the longest time that a commit takes while nothing is wrong. */
  constructor(database: SqliteDatabase, commitMs: number, isHeld: (claimedBy: string) => boolean) {
    this.#promptMs = claimMessagesMs + claimCommits * commitMs;
    this.#isHeld = isHeld;
    this.#selectRuns = database.prepare(`
      SELECT runs.seq, runs.id, deliveries.id AS delivery, automation, runner, state, attempts, claims,
        claimed_by AS claimedBy, not_before_ms AS dueMs, started_at_ms AS startedAtMs, waits_until_ms AS waitsUntilMs,
        parked, error, cancel, dismissed
      FROM runs JOIN deliveries ON deliveries.seq = delivery ORDER BY runs.seq`);
    this.#selectDeliveries = database.prepare(`
      SELECT id, at_ms AS atMs, outcome, identity, duplicate_of AS duplicateOf
      FROM deliveries JOIN series ON key = series ORDER BY seq`);
    this.#selectPauses = database.prepare('SELECT automation, until_ms AS untilMs FROM pauses');
  }

  get rows(): ReadonlyMap<string, Row> {
    return this.#rows;
  }

  /** A sender begins to send an event, or sends it again. */
  sent(event: SentEvent, run: string): void {
    this.#events.set(event.identity, event);
    if (event.flow) this.#flows.set(run, event.flow);
  }

  began(execution: Execution): void {
    for (const other of this.#executing) {
      if (other.run !== execution.run) continue;
      // A daemon that lost its lease may still work, and even begin: fencing tokens are for that.
      if (this.#isHeld(other.claimedBy) && this.#isHeld(execution.claimedBy))
        throw new Violation(
          `${execution.run} is executed by ${execution.daemon} while ${other.daemon} executes it`,
        );
    }
    this.#executing.add(execution);
    const row = this.#rows.get(execution.run);
    if (row && over.has(row.state) && this.#isHeld(execution.claimedBy))
      throw new Violation(`${execution.run} is executed, but has ${row.state}`);
    const { daemon } = execution;
    const runner = row?.runner ?? '';
    const beside = [...this.#executing].filter(
      one => one.daemon === daemon && this.#rows.get(one.run)?.runner === runner,
    );
    if (beside.length > (runnerPlaces[runner] ?? 0))
      throw new Violation(`${daemon} executes ${beside.length} runs of the runner ${runner}`);
  }

  ended(execution: Execution): void {
    this.#executing.delete(execution);
  }

  /** A daemon was given claims, or ended one. */
  claimed(daemon: string, { id, claims }: Pick<Row, 'id' | 'claims'>, runner: string): void {
    this.#placesOf(daemon).taken.set(`${id}/${claims}`, runner);
  }

  released(daemon: string, { id, claims }: Pick<Row, 'id' | 'claims'>, nowMs: number): void {
    const { taken, freeSinceMs } = this.#placesOf(daemon);
    const runner = taken.get(`${id}/${claims}`);
    if (runner === undefined) return;
    const before = count(taken.values(), runner);
    taken.delete(`${id}/${claims}`);
    if (before >= (runnerPlaces[runner] ?? 0)) freeSinceMs.set(runner, nowMs);
  }

  /** All that a daemon did has ended with it. */
  died(daemon: string): void {
    for (const execution of this.#executing)
      if (execution.daemon === daemon) this.#executing.delete(execution);
    this.#places.delete(daemon);
  }

  /** An operator was told that a run is cancelled, or will be. */
  cancelTaken(run: string, taken: 'cancelled' | 'requested' | 'ended', nowMs: number): void {
    if (taken === 'cancelled') this.#cancelled.add(run);
    if (taken === 'requested' && !this.#cancelAsked.has(run)) this.#cancelAsked.set(run, nowMs);
  }

  /** An operator approves what the first command of a run proposes. */
  approvalAsked(run: string): void {
    this.#approvals.add(run);
  }

  /** A command left an artifact, and succeeded. */
  proposed({ id, claims }: Pick<Row, 'id' | 'claims'>): void {
    this.#proposals.set(id, claims);
  }

  /** The second command of a run acts on the artifacts that were left under a claim. */
  acts(id: string, automation: string, leftBy: number | undefined): void {
    if (leftBy === undefined || leftBy !== this.#proposals.get(id))
      throw new Violation(`the second command of ${id} acts on what claim ${leftBy} left`);
    if (automation === 'asks' && !this.#approvals.has(id))
      throw new Violation(`the second command of ${id} acts, and nobody has approved it`);
  }

  hasActed(id: string): void {
    this.#acted.add(id);
  }

  /** What is older may be removed once it is over. */
  pruneAsked(beforeMs: number): void {
    this.#prunedBeforeMs = Math.max(this.#prunedBeforeMs, beforeMs);
  }

  /** The receiver of alerts has a message. */
  told(id: string): void {
    const run = /^msg_(.+)_\d+_\d+$/.exec(id)?.[1];
    if (run === undefined) return;
    const messages = this.#told.get(`run_${run}`) ?? new Set();
    this.#told.set(`run_${run}`, messages.add(id));
    const ends = this.#toTell.get(`run_${run}`) ?? 0;
    if (messages.size > ends)
      throw new Violation(`run_${run} ended ${ends} times, which was told ${messages.size} times`);
  }

  /** An operator asks to try a failed run again. */
  retryAsked(run: string): void {
    this.#retried.add(run);
  }

  /** A daemon told the world how a run ended. */
  observed({ id, claims }: Pick<Row, 'id' | 'claims'>, state: string): void {
    if (!over.has(state)) return;
    const key = `${id}/${claims}`;
    if (this.#ended.has(key)) throw new Violation(`the end of ${key} was told twice`);
    this.#ended.add(key);
  }

  /** A receiver was told that its report of the end was recorded. */
  reportTaken(run: string, claims: number, state: string): void {
    const key = `${run}/${claims}`;
    if (this.#reportedEnds.has(key)) throw new Violation(`two reports of the end of ${key} were recorded`);
    this.#reportedEnds.set(key, state);
    const row = this.#rows.get(run);
    // Retention may have removed it since.
    if (state === 'succeeded' && row && row.state !== 'succeeded')
      throw new Violation(
        `the receiver of ${key} was told that its success is recorded, but the run is ${row.state}`,
      );
  }

  /** Compares the log after a commit with what was before, and with what the world was told. */
  readCommitted(by: string, nowMs: number): void {
    const rows = new Map(this.#selectRuns.all().map(row => [row.id, row]));
    const deliveries = this.#selectDeliveries.all();
    this.#notePruned(new Set(deliveries.map(({ id }) => id)));
    this.#deliveries = deliveries;
    const pauses = this.#selectPauses.all();
    // One that ended in this commit kept nothing in it from starting.
    this.#pauses = this.#pauses.filter(({ automation, untilMs }) =>
      pauses.some(other => other.automation === automation && other.untilMs === untilMs),
    );
    for (const [id, before] of this.#rows) {
      const row = rows.get(id);
      if (row) this.#compare(before, row, rows, nowMs);
      else if (!this.#pruned.has(before.delivery) || !over.has(before.state))
        throw new Violation(`${id} is gone`);
    }
    this.#rows = rows;
    this.#pauses = pauses;
    this.#checkIdentities();
    this.#checkLanes();
    this.#noteStartable(by, nowMs);
  }

  #notePruned(left: ReadonlySet<string>): void {
    for (const { id, atMs } of this.#deliveries) {
      if (left.has(id)) continue;
      if (atMs >= this.#prunedBeforeMs) throw new Violation(`${id} is gone`);
      this.#pruned.add(id);
    }
  }

  #isPaused({ automation }: Row, atMs = -Infinity): boolean {
    return this.#pauses.some(
      pause => pause.automation === automation && (pause.untilMs === null || pause.untilMs > atMs),
    );
  }

  /** A cancel that fails is not tried again at once. */
  #noteCancelClaim({ id, claims }: Row, nowMs: number): void {
    this.#claimedToCancel.add(`${id}/${claims}`);
    const asked = this.#cancelAsked.get(id);
    const tries = [...this.#claimedToCancel].filter(claim => claim.startsWith(`${id}/`)).length;
    if (asked !== undefined && tries > cancelClaimsMin + (nowMs - asked) / cancelWaitMs)
      throw new Violation(
        `${id} was claimed ${tries} times to be cancelled in ${Math.round(nowMs - asked)} ms`,
      );
  }

  #compare(before: Row, row: Row, rows: ReadonlyMap<string, Row>, nowMs: number): void {
    const { id, state, claims, attempts } = row;
    if (claims < before.claims) throw new Violation(`the claims of ${id} went back`);
    if (before.cancel !== null && attempts < before.attempts)
      throw new Violation(`${id} is being cancelled, which took an attempt back`);
    // An interrupted attempt counts, but does not make a run fail.
    const isInterrupted = before.state === 'running' && state !== 'running' && row.error !== before.error;
    if (isInterrupted && interruptedPattern.test(row.error ?? ''))
      this.#interruptions.set(id, (this.#interruptions.get(id) ?? 0) + 1);
    if (attempts - (this.#interruptions.get(id) ?? 0) > attemptsMax)
      throw new Violation(`${id} has ${attempts} attempts`);
    if (this.#cancelled.has(id) && state !== 'cancelled')
      throw new Violation(`${id} was cancelled, but is ${state}`);
    if (claims > before.claims) {
      if (row.cancel === null && this.#isPaused(row, row.startedAtMs ?? 0))
        throw new Violation(`${id} was started, though its automation is paused`);
      if (before.cancel === null) this.#checkOrder(row, rows);
      else this.#noteCancelClaim(row, nowMs);
    }
    const isToBeTold = this.#flows.get(id)?.notify?.some(one => one === state);
    if (isToBeTold && before.state !== state) this.#toTell.set(id, (this.#toTell.get(id) ?? 0) + 1);
    if (before.state === state || !over.has(before.state)) return;
    if (before.state === 'failed' && this.#retried.has(id)) {
      this.#interruptions.delete(id);
      return;
    }
    throw new Violation(`${id} had ${before.state}, and is ${state} again`);
  }

  /** Runs of an order start one after the other, as they were recorded. */
  #checkOrder(row: Row, rows: ReadonlyMap<string, Row>): void {
    const { order } = this.#flows.get(row.id) ?? {};
    if (!order) return;
    for (const other of rows.values()) {
      if (other.seq >= row.seq || this.#flows.get(other.id)?.order?.lane !== order.lane) continue;
      // It may have been retried after this one was started.
      if (this.#retried.has(other.id)) continue;
      const holds = order.hold && other.state === 'failed' && !other.dismissed;
      if (!over.has(other.state) || holds)
        throw new Violation(`${row.id} was started before ${other.id}, which is ${other.state}`);
    }
  }

  #checkIdentities(): void {
    const accepted = new Map<string, string>();
    for (const { id, outcome, identity, duplicateOf } of this.#deliveries) {
      const other = accepted.get(identity);
      if (outcome === 'Accepted' && other)
        throw new Violation(`${other} and ${id} of ${identity} are both accepted`);
      if (outcome === 'Accepted') accepted.set(identity, id);
      else if (duplicateOf !== other && !this.#pruned.has(`${duplicateOf}`))
        throw new Violation(`${id} is the duplicate of ${duplicateOf} instead of ${other}`);
    }
    const known = new Set(this.#deliveries.map(({ id }) => id));
    for (const { identity, tries, flow } of this.#events.values()) {
      for (const { delivery, answer } of tries) {
        if (this.#pruned.has(delivery)) continue;
        if (answer !== undefined && answer !== 'refused' && !known.has(delivery))
          throw new Violation(`${delivery} was answered with ${answer}, but is not in the log`);
        if (answer === 'accepted' && accepted.get(identity) !== delivery)
          throw new Violation(`${delivery} was accepted, but is not the accepted delivery of ${identity}`);
      }
      const runs = tries.filter(({ run }) => this.#rows.has(run));
      const begun = runs.some(({ delivery }) => delivery !== accepted.get(identity));
      if (!flow?.burst && (runs.length !== (accepted.has(identity) ? 1 : 0) || begun))
        throw new Violation(`${identity} has ${runs.length} runs`);
    }
  }

  #checkLanes(): void {
    const running = new Map<string, number>();
    for (const { id, state, claims } of this.#rows.values()) {
      const { limit, order } = this.#flows.get(id) ?? {};
      if (state !== 'running' || this.#claimedToCancel.has(`${id}/${claims}`)) continue;
      for (const [lane, most] of [
        [limit?.lane, limit?.runs ?? 0],
        [order?.lane, 1],
      ] as const) {
        if (lane === undefined) continue;
        const together = (running.get(lane) ?? 0) + 1;
        running.set(lane, together);
        if (together > most) throw new Violation(`${together} runs of the lane ${lane} are running`);
      }
    }
  }

  /** Whether something but its due time, a place and a daemon keeps a queued run from starting. */
  #isStartable(row: Row): boolean {
    if (row.cancel !== null || row.state !== 'queued' || row.parked === 'approval') return false;
    if (row.parked === 'paused' || this.#isPaused(row)) return false;
    const { limit, order } = this.#flows.get(row.id) ?? {};
    let running = 0;
    for (const other of this.#rows.values()) {
      const flow = this.#flows.get(other.id);
      if (order && flow?.order?.lane === order.lane && other.id !== row.id) {
        if (other.state === 'running' || (other.state === 'queued' && other.seq < row.seq)) return false;
        if (other.state === 'failed' && flow.order.hold && !other.dismissed && other.seq < row.seq)
          return false;
      }
      if (limit && flow?.limit?.lane === limit.lane && other.state === 'running') running++;
    }
    return !limit || running < limit.runs;
  }

  #noteStartable(by: string, nowMs: number): void {
    for (const row of this.#rows.values()) {
      const { id, dueMs } = row;
      if (!this.#isStartable(row)) this.#startable.delete(id);
      else if (this.#startable.get(id)?.dueMs !== dueMs)
        this.#startable.set(id, { sinceMs: nowMs, by, dueMs });
    }
  }

  /** Checks that nobody waits without a reason. */
  checkWaits(daemons: readonly WatchedDaemon[], nowMs: number): void {
    for (const [id, { sinceMs, by }] of this.#startable) {
      const row = this.#rows.get(id);
      if (!row) continue;
      for (const daemon of daemons) {
        const overdueMs = daemon.nowMs() - row.dueMs;
        if (daemon.healthySinceMs === undefined || overdueMs < 0) continue;
        const freeMs = this.#freeSince(daemon.name, row.runner);
        if (freeMs === undefined) continue;
        const waitedMs = Math.min(overdueMs, nowMs - Math.max(sinceMs, daemon.healthySinceMs, freeMs));
        const mostMs = by === daemon.name ? this.#promptMs : pollMs + this.#promptMs;
        if (waitedMs > mostMs)
          throw new Violation(
            `${id} could start at ${daemon.name} for ${Math.round(waitedMs)} ms, and did not`,
          );
      }
    }
    for (const [id, sinceMs] of this.#cancelAsked) {
      const row = this.#rows.get(id);
      if (!row || over.has(row.state) || (row.state === 'running' && row.claimedBy !== null)) continue;
      // A cancel that failed waits.
      const overdueMs = Math.min(...daemons.map(daemon => daemon.nowMs() - row.dueMs));
      if (overdueMs <= pollMs + this.#promptMs) continue;
      const healthyMs = Math.min(...daemons.map(({ healthySinceMs = Infinity }) => healthySinceMs));
      if (nowMs - Math.max(sinceMs, healthyMs) > 2 * pollMs + this.#promptMs)
        throw new Violation(
          `${id} was to be cancelled ${Math.round(nowMs - sinceMs)} ms ago, and is ${row.state}`,
        );
    }
  }

  /** What is left to do; empty once all events are accepted and all runs are over. */
  listUnfinished(): string[] {
    const runs = [...this.#rows.values()].filter(({ state }) => !over.has(state));
    const events = [...this.#events.values()].filter(
      ({ tries }) => !tries.some(({ answer }) => answer && answer !== 'refused'),
    );
    const untold = [...this.#toTell].filter(
      ([id, ends]) => this.#rows.has(id) && (this.#told.get(id)?.size ?? 0) < ends,
    );
    return [
      ...untold.map(([id]) => `the end of ${id} was not told`),
      ...events.map(({ identity }) => `${identity} is not accepted`),
      ...runs.map(row => `${row.id} is ${row.state}`),
    ];
  }

  listPaused(): string[] {
    return this.#pauses.flatMap(({ automation, untilMs }) => (untilMs === null ? automation : []));
  }

  /** Failed runs that hold those behind them. */
  listHolding(): string[] {
    const holds = ({ id, state, dismissed }: Row) =>
      state === 'failed' && !dismissed && this.#flows.get(id)?.order?.hold;
    return [...this.#rows.values()].filter(holds).map(({ id }) => id);
  }

  /** Checks how everything ended, by what the attempts of each run had for a result. */
  checkEnd(resultsOf: (run: string) => readonly string[]): void {
    for (const { id, automation, state, error, cancel } of this.#rows.values()) {
      const results = resultsOf(id);
      if (this.#cancelAsked.has(id) && state === 'failed' && results.length === 0)
        throw new Violation(`${id} was to be cancelled, and has failed`);
      if (state === 'cancelled' && cancel === null) throw new Violation(`${id} was cancelled by nobody`);
      if (state === 'succeeded' && commandRunners.has(automation) && !this.#acted.has(id))
        throw new Violation(`${id} has succeeded without its second command`);
      if (state === 'succeeded' && !results.includes('succeeded'))
        throw new Violation(`${id} has succeeded without an attempt that did`);
      if (
        state === 'failed' &&
        !interruptedPattern.test(error ?? '') &&
        !results.some(result => result === 'failed' || result === 'retry')
      )
        throw new Violation(`${id} has failed without an attempt that did`);
    }
  }

  #placesOf(daemon: string) {
    const places = this.#places.get(daemon) ?? {
      taken: new Map<string, string>(),
      freeSinceMs: new Map<string, number>(),
    };
    this.#places.set(daemon, places);
    return places;
  }

  /** Since when a daemon has a place for a runner; undefined if it has none. */
  #freeSince(daemon: string, runner: string): number | undefined {
    const { taken, freeSinceMs } = this.#placesOf(daemon);
    return count(taken.values(), runner) < (runnerPlaces[runner] ?? 0)
      ? (freeSinceMs.get(runner) ?? 0)
      : undefined;
  }
}

function count(all: Iterable<string>, wanted: string): number {
  let found = 0;
  for (const one of all) if (one === wanted) found++;
  return found;
}
