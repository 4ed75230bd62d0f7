import { expect, test } from 'vitest';
import {
  interruptionsAloneMax,
  interruptionsMax,
  live,
  type RunEvent,
  type RunLife,
} from '../../../store/delivery-log/run-life.ts';

const queued: RunLife = {
  ...{ state: 'queued', parked: null, attempts: 0, claims: 0, notBeforeMs: 0, startedAtMs: null },
  ...{ finishedAtMs: null, claimedBy: null, claimedFor: null, waitsUntilMs: null, report: null, error: null },
  ...{ stopped: null, dismissed: null, cancel: null, afterwards: null, history: null, interrupted: null },
};

/** Lets events happen to a run; fails if one comes too late. */
function follow(run: RunLife, ...events: readonly RunEvent[]): RunLife {
  let life = run;
  for (const event of events) {
    const change = live(life, event);
    expect(change, event.kind).toBeDefined();
    life = { ...life, ...change };
  }
  return life;
}

const claimed = (claimFor: 'attempt' | 'alone' | 'cancel') =>
  ({ kind: 'claimed', for: claimFor, by: 'daemon', atMs: 1 }) as const;
const gone = { kind: 'daemon gone', atMs: 2 } as const;
const cancelled = { kind: 'cancelled', cancel: { by: 'ada', atMs: 3 } } as const;
const repeat = (times: number, ...events: readonly RunEvent[]) =>
  Array.from({ length: times }, () => events).flat();
const underClaim = ({ claims }: RunLife) => ({ id: 'run', claims, claimedBy: 'daemon' });

test('a run fails only if it ends two daemons that execute nothing else', () => {
  const many = follow(queued, ...repeat(20, claimed('attempt'), gone));
  expect(many).toMatchObject({ state: 'queued', attempts: 20, interrupted: { times: 20, alone: 0 } });
  const suspect = follow(queued, ...repeat(interruptionsMax, claimed('attempt'), gone));
  expect(suspect.interrupted).toEqual({ times: interruptionsMax, alone: 0 });
  const last = follow(suspect, ...repeat(interruptionsAloneMax - 1, claimed('alone'), gone));
  expect(last.state).toBe('queued');
  expect(last.notBeforeMs).toBe(gone.atMs + 10_000);
  // Another daemon ends while it waits: it is not the run that ends them.
  expect(follow(last, gone).interrupted).toEqual({ times: 4, alone: 0 });
  const failed = follow(last, claimed('alone'), gone);
  expect(failed).toMatchObject({
    state: 'failed',
    finishedAtMs: 2,
    error: expect.stringContaining('5 attempts in a row; the run is'),
  });
  expect(follow(failed, { kind: 'retried', atMs: 4 })).toMatchObject({
    state: 'queued',
    attempts: 0,
    interrupted: null,
  });
});

test('an attempt that ends by itself begins the count of interruptions again, and one that a stop cuts short does not', () => {
  const running = follow(queued, claimed('attempt'), gone, claimed('attempt'));
  const postpone = (isInterrupted: boolean) =>
    follow(running, {
      kind: 'postponed',
      postponement: { ...underClaim(running), atMs: 4, notBeforeMs: 5, attempted: true, isInterrupted },
    });
  expect(postpone(false).interrupted).toBeNull();
  expect(postpone(true).interrupted).toEqual({ times: 1, alone: 0 });
});

test('a cancel that cannot finish takes no attempt back, keeps the history, and waits until it is due', () => {
  const asked = follow(
    queued,
    claimed('attempt'),
    { kind: 'waits', attempt: { id: 'run', claims: 1, claimedBy: 'daemon' }, untilMs: 9 },
    cancelled,
    claimed('cancel'),
  );
  const put = { ...underClaim(asked), atMs: 6, notBeforeMs: 1_006, attempted: false };
  const waiting = follow(asked, { kind: 'postponed', postponement: put });
  expect(waiting).toMatchObject({
    state: 'queued',
    attempts: 1,
    notBeforeMs: 1_006,
    history: [{ attempt: 1 }],
  });
  expect(live(waiting, claimed('attempt'))).toBeUndefined();
  expect(follow(asked, gone)).toMatchObject({ state: 'queued', attempts: 1, interrupted: null });
});
