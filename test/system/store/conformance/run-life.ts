import { expect, inject, test } from 'vitest';
import { hasEnded } from '../../../../schema/delivery.ts';
import { live, type RunEvent, type RunLife } from '../../../../store/delivery-log/run-life.ts';
import type { DeliveryLog, Run, RunAttempt } from '../../../../store/ports/delivery-log.ts';
import { acceptedDelivery, newRun, sampleAtMs } from '../../../support/deliveries.ts';
import { createRandom } from '../../../support/random.ts';
import { type MakePlace, openKept } from './place.ts';

const histories = inject('isLong') ? 500 : 30;
const steps = 25;
const daemonId = 'daemon one';

/** Tests that a store keeps of each event what the life of a run says, in random histories. */
export function testRunLife(makePlace: MakePlace): void {
  test(`live as their table of states says (${histories} random histories)`, async () => {
    const { store, log } = await openKept(makePlace);
    for (let seed = 1; seed <= histories; seed++) {
      const random = createRandom(seed);
      const run = newRun();
      let nowMs = sampleAtMs;
      await log.recordAccepted(acceptedDelivery({ atMs: nowMs, runs: [run] }));
      const history = { log, id: run.id, life: { ...fresh, notBeforeMs: nowMs }, past: [] as RunAttempt[] };
      const told: string[] = [];
      for (let step = 0; step < steps; step++) {
        nowMs += Math.floor(random() * 20_000);
        told.push(`${nowMs - sampleAtMs} ${await happen(history, random, nowMs)}`);
        const { heldBy: _, ...kept } = (await store.deliveries.findRun(run.id)) as Run;
        const row = { seed, told, ...kept };
        expect(row, `seed ${seed}: ${told.join('; ')}`).toEqual({ ...row, ...toKept(history.life) });
      }
      if (!hasEnded(history.life.state)) await finish(history, nowMs + 1e6);
    }
  }, 600_000);
}

interface History {
  readonly log: DeliveryLog;
  readonly id: string;
  life: RunLife;
  readonly past: RunAttempt[];
}

const fresh: RunLife = {
  ...{ state: 'queued', parked: null, attempts: 0, claims: 0, notBeforeMs: 0, startedAtMs: null },
  ...{ finishedAtMs: null, claimedBy: null, claimedFor: null, waitsUntilMs: null, report: null, error: null },
  ...{ stopped: null, dismissed: null, cancel: null, afterwards: null, history: null, interrupted: null },
};

/** Lets something happen to the run, in the store and by the table. Returns what. */
async function happen(history: History, random: () => number, nowMs: number): Promise<string> {
  const { log, past } = history;
  const pick = <T>(...all: readonly T[]) => all[Math.floor(random() * all.length)] as T;
  // A late result now and then.
  const attempt = random() < 0.85 ? past.at(-1) : pick(...past);
  const step = (event: RunEvent, isTaken: unknown) => {
    const change = live(history.life, event);
    expect(Boolean(isTaken), event.kind).toBe(change !== undefined);
    history.life = { ...history.life, ...change };
    return JSON.stringify(event);
  };
  const error = pick(undefined, 'it failed');
  const kind = pick(
    'claim',
    'claim',
    'claim',
    'ended',
    'postponed',
    'postponed',
    'second',
    'waits',
    'asked',
    'asked',
  );
  if (kind === 'claim') return claim(history, nowMs);
  if (kind === 'asked') return ask(history, pick, step, nowMs);
  if (!attempt) return 'nothing';
  if (kind === 'waits') {
    const isTaken = await log.awaitReport({ ...attempt, untilMs: nowMs });
    const { claimedBy: _, ...waiting } = attempt;
    if (isTaken) past.push(waiting);
    return step({ kind: 'waits', attempt, untilMs: nowMs }, isTaken);
  }
  if (kind === 'ended') {
    const result = {
      ...attempt,
      state: pick('succeeded', 'failed', 'failed', 'cancelled'),
      atMs: nowMs,
      ...(error && { error }),
    } as const;
    return step({ kind: 'ended', result }, await log.finishRun(result));
  }
  const second = kind === 'second' && { second: { sinceMs: nowMs, waitsForApproval: pick(true, false) } };
  const postponement = {
    ...{ ...attempt, atMs: nowMs, notBeforeMs: nowMs + pick(0, 1_000, 60_000), ...(error && { error }) },
    ...{ attempted: kind === 'second' || pick(true, false), isInterrupted: false, ...second },
  };
  return step({ kind: 'postponed', postponement }, await log.postponeRun(postponement));
}

async function ask(
  { log, id }: History,
  pick: <T>(...all: readonly T[]) => T,
  step: (event: RunEvent, isTaken: unknown) => string,
  atMs: number,
): Promise<string> {
  switch (pick('cancel', 'retry', 'dismiss', 'approve')) {
    case 'cancel': {
      const cancel = { by: 'ada', atMs };
      return step({ kind: 'cancelled', cancel }, (await log.cancelRun({ id, cancel })) !== 'ended');
    }
    case 'retry':
      return step({ kind: 'retried', atMs }, await log.retryRun({ id, nowMs: atMs }));
    case 'dismiss':
      return step({ kind: 'dismissed' }, await log.dismissRun(id));
    case 'approve': {
      const approval = { by: 'ada', atMs };
      return step({ kind: 'approved', approval }, await log.approveRun({ id, approval }));
    }
  }
}

/** Claims what is due: the run, to attempt it or to end what it started, or nothing. */
async function claim(history: History, nowMs: number): Promise<string> {
  const { log, life, past } = history;
  const { runs } = await log.claimRuns({ daemonId, nowMs, places: { default: 1 } });
  const isDue = life.claimedBy === null && life.notBeforeMs <= nowMs && !hasEnded(life.state);
  const isAttempt = life.state === 'queued' && life.parked === null && !life.cancel;
  const isClaimed = isDue && (life.cancel !== null || isAttempt);
  expect(runs.map(({ id }) => id)).toEqual(isClaimed ? [history.id] : []);
  if (!isClaimed) return 'claims nothing';
  const event = {
    kind: 'claimed',
    for: life.cancel ? 'cancel' : 'attempt',
    by: daemonId,
    atMs: nowMs,
  } as const;
  history.life = { ...life, ...live(life, event) };
  past.push(...runs.map(({ id, claims, claimedBy }) => ({ id, claims, ...(claimedBy && { claimedBy }) })));
  return JSON.stringify(event);
}

/** Ends the run, so that claims of other histories do not find it. */
async function finish(history: History, nowMs: number): Promise<void> {
  const { log, id } = history;
  const cancel = { by: 'ada', atMs: nowMs };
  await log.cancelRun({ id, cancel });
  const { runs } = await log.claimRuns({ daemonId, nowMs, places: { default: 0 } });
  const attempt = runs[0] ?? history.past.at(-1);
  if (attempt) await log.finishRun({ ...attempt, state: 'cancelled', atMs: nowMs });
}

/** The columns of a life as a `Run` has them: what is null is absent. */
function toKept({
  parked,
  stopped,
  dismissed,
  claimedFor: _,
  interrupted: __,
  ...life
}: RunLife): Partial<Run> {
  const kept = { ...life, waitsFor: parked, stopped, dismissed, holds: null };
  return Object.fromEntries(
    Object.entries(kept).map(([key, value]) => [key, value ?? undefined]),
  ) as Partial<Run>;
}
