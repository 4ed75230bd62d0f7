import type { RunEvent } from './history.ts';
import { type Execution, type Notes, runsOfWork, type Work } from './notes.ts';

/** A delivery that the database has as accepted. */
export interface StoredDelivery {
  readonly id: string;
  readonly identity: string;
  /** From its payload; undefined if that is missing or another one. */
  readonly work?: Work;
}

export interface StoredRun {
  readonly id: string;
  readonly deliveryId: string;
  readonly automation: string;
  readonly state: string;
}

export interface Stored {
  readonly accepted: readonly StoredDelivery[];
  readonly runs: readonly StoredRun[];
  /** In the order of time. */
  readonly history: readonly RunEvent[];
}

/** The cases that break each promise, one line for each. */
export type Violations = Readonly<Record<Promised, readonly string[]>>;

const promises = [
  'acknowledged deliveries lost',
  'identities accepted twice',
  'runs missing',
  'runs that did not end in success',
  'results of a lost lease accepted',
  'executions without a claim',
  'wrong answers',
  'replicas that did not recover',
] as const;
type Promised = (typeof promises)[number];

/** Compares what the sender was told, and what was executed, with what the database has. */
export function findViolations({ answers, incidents, executions }: Notes, stored: Stored): Violations {
  const told = groupIds(answers.filter(({ status }) => status === 202));
  const accepted = Map.groupBy(stored.accepted, ({ identity }) => identity);
  const claims = toClaims(stored.history, executions);
  return {
    'acknowledged deliveries lost': [...told].flatMap(([identity, ids]) => {
      const rows = accepted.get(identity) ?? [];
      if (rows.length === 0) return [`${identity} was acknowledged as ${[...ids]}, and is not accepted`];
      return rows.some(({ work }) => work) ? [] : [`${identity} lacks its payload`];
    }),
    'identities accepted twice': listTwice(told, accepted),
    'runs missing': listMissingRuns(stored),
    'runs that did not end in success': stored.runs
      .filter(({ state }) => state !== 'succeeded')
      .map(({ id, state }) => `${id} is ${state}`),
    'results of a lost lease accepted': listUnfenced(stored.history, claims),
    'executions without a claim': listUnclaimed(stored.history, executions),
    'wrong answers': answers
      .filter(({ status }) => status !== undefined && status !== 202 && status !== 503)
      .map(({ identity, replica, status }) => `${replica} answered ${status} to ${identity}`),
    'replicas that did not recover': [...incidents],
  };
}

function groupIds(answers: Notes['answers']): Map<string, Set<string>> {
  const ids = new Map<string, Set<string>>();
  for (const { identity, deliveryId = 'no id' } of answers) {
    ids.set(identity, (ids.get(identity) ?? new Set()).add(deliveryId));
  }
  return ids;
}

/** Identities with two accepted rows, or of which a sender was told another delivery than the accepted one. */
function listTwice(
  told: ReadonlyMap<string, ReadonlySet<string>>,
  accepted: ReadonlyMap<string, readonly StoredDelivery[]>,
): string[] {
  return [...new Set([...told.keys(), ...accepted.keys()])].flatMap(identity => {
    const stored = (accepted.get(identity) ?? []).map(({ id }) => id);
    const ids = new Set([...(told.get(identity) ?? []), ...stored]);
    return ids.size > 1 || stored.length > 1 ? [`${identity} is ${[...ids]}, of which ${stored} stored`] : [];
  });
}

function listMissingRuns({ accepted, runs }: Stored): string[] {
  const started = new Set(runs.map(({ deliveryId, automation }) => `${automation} of ${deliveryId}`));
  return accepted.flatMap(({ id, work = 'none' }) =>
    runsOfWork[work].map(automation => `${automation} of ${id}`).filter(run => !started.has(run)),
  );
}

/** A run belongs to a replica from its claim to the next one. */
interface Claim {
  readonly run: string;
  readonly replica: string;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly executions: readonly Execution[];
}

function toClaims(history: readonly RunEvent[], executions: readonly Execution[]): Claim[] {
  const executionsOf = Map.groupBy(executions, ({ run }) => run);
  const claimed = history.filter(({ kind }) => kind === 'claimed');
  return [...Map.groupBy(claimed, ({ run }) => run)].flatMap(([run, events]) =>
    events.map(({ replica, atMs: fromMs }, index) => {
      const untilMs = events[index + 1]?.atMs ?? Number.POSITIVE_INFINITY;
      const own = (executionsOf.get(run) ?? []).filter(
        execution =>
          execution.replica === replica && execution.startMs >= fromMs - 1 && execution.startMs < untilMs,
      );
      return { run, replica, fromMs, untilMs, executions: own };
    }),
  );
}

/** A replica executes a run once for each time that it claimed it, even if it claimed it again before it began. */
function listUnclaimed(history: readonly RunEvent[], executions: readonly Execution[]): string[] {
  const toKey = ({ run, replica }: RunEvent | Execution) => `${run} by ${replica}`;
  const claims = Map.groupBy(
    history.filter(({ kind }) => kind === 'claimed'),
    toKey,
  );
  return [...Map.groupBy(executions, toKey)].flatMap(([key, { length }]) => {
    const claimed = claims.get(key)?.length ?? 0;
    return length > claimed ? [`${key}: ${length} executions, ${claimed} claims`] : [];
  });
}

/** A result counts once, and only from the replica whose claim was the last, after its own execution ended. */
function listUnfenced(history: readonly RunEvent[], claims: readonly Claim[]): string[] {
  const claimsOf = Map.groupBy(claims, ({ run }) => run);
  const finished = Map.groupBy(
    history.filter(({ kind }) => kind === 'finished'),
    ({ run }) => run,
  );
  return [...finished].flatMap(([run, results]) => {
    if (results.length > 1) return [`${run} has ${results.length} results`];
    return results.flatMap(({ replica, atMs }) => {
      const claim = claimsOf.get(run)?.findLast(({ fromMs }) => fromMs < atMs);
      const hasEnded = claim?.executions.some(({ endMs = Number.POSITIVE_INFINITY }) => endMs <= atMs + 1);
      return claim?.replica === replica && hasEnded
        ? []
        : [`${run} got a result of ${replica}, and belonged to ${claim?.replica}`];
    });
  });
}
