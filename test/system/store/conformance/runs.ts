import { expect, test, vi } from 'vitest';
import { interruptionsAloneMax, interruptionsMax } from '../../../../store/delivery-log/run-life.ts';
import type { DeliveryLog, NewRun, Run } from '../../../../store/ports/delivery-log.ts';
import { acceptedDelivery, newRun, sampleAtMs } from '../../../support/deliveries.ts';
import { type MakePlace, openAt, openKept, openLog } from './place.ts';

const claim = { daemonId: 'daemon one', nowMs: sampleAtMs, places: { default: 10 } };
const { nowMs } = claim;
const overduePart = { waitsFor: 'receiver', limit: 9, skip: 0 } as const;
/** The first claim of a run. */
const claimed = ({ id }: NewRun, claimedBy = claim.daemonId) => ({ id, claims: 1, claimedBy });

export function testRuns(makePlace: MakePlace): void {
  test('are recorded with their delivery, and reported when it is committed', async () => {
    const store = openAt(makePlace());
    const onRunsQueued = vi.fn();
    const log = await openLog(store, { onRunsQueued });
    await log.recordAccepted(acceptedDelivery());
    expect(onRunsQueued).not.toHaveBeenCalled();
    const runs = [newRun('triage'), newRun('notify')];
    const { id } = await log.recordAccepted(acceptedDelivery({ runs }));
    expect(onRunsQueued).toHaveBeenCalledOnce();
    const reader = store.deliveries;
    const queued = {
      deliveryId: id,
      factory: 'default',
      webhook: 'pay',
      runner: 'default',
      replay: false,
      snapshot: 'digest one',
      state: 'queued',
      attempts: 0,
      claims: 0,
      notBeforeMs: nowMs,
      createdAtMs: nowMs,
    };
    expect(await reader.listRunsOfDelivery(id)).toEqual(runs.map(run => ({ ...queued, ...run })));
    const [{ id: runId }] = runs as [NewRun];
    expect(await reader.listRunDeliveries(runId)).toEqual([{ id, atMs: nowMs, size: 39 }]);
    expect(await reader.listRunDeliveries('unknown')).toEqual([]);
  });

  test('of one delivery are listed in one order, whatever their automations say: as they were recorded, those with a flow last', async () => {
    const { store, log } = await openKept(makePlace);
    const flow = { limit: { lane: 'lane', runs: 9 } };
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(name => newRun(name)) as [NewRun, NewRun, NewRun, NewRun];
    const { id } = await log.recordAccepted(
      acceptedDelivery({ runs: [{ ...a, flow }, b, { ...c, flow }, d] }),
    );
    const [e, f] = [newRun('e'), newRun('f')];
    const appliedState = { digest: 'digest two', json: '{}' };
    await log.replay({ deliveryId: id, runs: [{ ...e, flow }, f], appliedState, nowMs });
    const names = (runs: readonly Run[]) => runs.map(({ automation }) => automation).join('');
    expect(names(await store.deliveries.listRunsOfDelivery(id))).toBe('bdacfe');
    expect(names(await store.deliveries.listRuns({ factory: 'default', limit: 9 }))).toBe('efcadb');
  });

  test('are each given to one claim only, the one that waits longest first', async () => {
    const { log } = await openKept(makePlace);
    const runs = Array.from({ length: 5 }, () => newRun());
    await log.recordAccepted(acceptedDelivery({ runs: runs.slice(2), atMs: nowMs }));
    await log.recordAccepted(acceptedDelivery({ runs: runs.slice(0, 2), atMs: nowMs - 1 }));
    const first = await log.claimRuns({ ...claim, places: { default: 3 } });
    expect(first.runs.map(({ id }) => id)).toEqual(runs.slice(0, 3).map(({ id }) => id));
    const together = await Promise.all([log.claimRuns(claim), log.claimRuns(claim)]);
    const rest = together.flatMap(claimed => claimed.runs.map(({ id }) => id));
    expect(rest.sort()).toEqual(
      runs
        .slice(3)
        .map(({ id }) => id)
        .sort(),
    );
    expect(first.runs[0]).toMatchObject({
      state: 'running',
      attempts: 1,
      claimedBy: 'daemon one',
      startedAtMs: nowMs,
    });
    expect(await log.claimRuns(claim)).toEqual({ runs: [] });
  });

  test('are counted until they end, with the first time at which a queued one is due', async () => {
    const { store, log } = await openKept(makePlace);
    expect(await store.deliveries.countUnfinishedRuns()).toEqual({
      queued: 0,
      waiting: 0,
      running: 0,
      holding: 0,
    });
    const [first, later] = [newRun(), newRun()];
    await log.recordAccepted(acceptedDelivery({ runs: [later, newRun()], atMs: nowMs }));
    await log.recordAccepted(acceptedDelivery({ runs: [first], atMs: nowMs - 5 }));
    expect(await store.deliveries.countUnfinishedRuns()).toEqual({
      ...{ queued: 3, waiting: 0, running: 0, holding: 0 },
      firstDueMs: nowMs - 5,
    });
    await log.claimRuns({ ...claim, places: { default: 1 } });
    expect(await store.deliveries.countUnfinishedRuns()).toEqual({
      ...{ queued: 2, waiting: 0, running: 1, holding: 0 },
      firstDueMs: nowMs,
    });
    await log.finishRun({ ...claimed(first), state: 'succeeded', atMs: nowMs });
    expect(await store.deliveries.countUnfinishedRuns()).toEqual({
      ...{ queued: 2, waiting: 0, running: 0, holding: 0 },
      firstDueMs: nowMs,
    });
  });

  test('are stored as claimed before the claim is answered', async () => {
    const { store, log } = await openKept(makePlace);
    await log.recordAccepted(acceptedDelivery({ runs: [newRun()] }));
    const { runs } = await log.claimRuns(claim);
    expect(await store.deliveries.listRuns({ factory: 'default', limit: 9 })).toEqual(runs);
  });

  test('finish once, and only from running', async () => {
    const { store, log } = await openKept(makePlace);
    const [good, bad] = [newRun('good'), newRun('bad')];
    await log.recordAccepted(acceptedDelivery({ runs: [good, bad] }));
    expect(await log.finishRun({ ...claimed(good), state: 'succeeded', atMs: nowMs })).toBe(false);
    await log.claimRuns(claim);
    const atMs = nowMs + 5;
    expect(await log.finishRun({ ...claimed(good), state: 'succeeded', atMs })).toBe(true);
    expect(await log.finishRun({ ...claimed(good), state: 'failed', atMs })).toBe(false);
    expect(await log.finishRun({ ...claimed(bad), state: 'failed', atMs, error: 'exit status 1' })).toBe(
      true,
    );
    const reader = store.deliveries;
    expect(await reader.findRun(good.id)).toMatchObject({ state: 'succeeded', finishedAtMs: atMs });
    expect(await reader.findRun(good.id)).not.toHaveProperty('error');
    expect(await reader.findRun(bad.id)).toMatchObject({ state: 'failed', error: 'exit status 1' });
    const failed = await reader.listRuns({ factory: 'default', state: 'failed', limit: 9 });
    expect(failed.map(({ id }) => id)).toEqual([bad.id]);
  });

  test('of factories get places in turns, however many of one are due before', async () => {
    const log = await openLog(openAt(makePlace()));
    const many = Array.from({ length: 60 }, (_, n) => newRun(`greedy-${n}`));
    await log.recordAccepted(acceptedDelivery({ factory: 'greedy', runs: many }));
    await log.recordAccepted(acceptedDelivery({ factory: 'modest', runs: [newRun('a'), newRun('b')] }));
    const claimOf = async (places: number) => {
      const { runs } = await log.claimRuns({ ...claim, places: { default: places } });
      return runs.map(({ factory }) => factory).sort();
    };
    expect(await claimOf(3)).toEqual(['greedy', 'greedy', 'modest']);
    // The runs that are executed count.
    expect(await claimOf(1)).toEqual(['modest']);
    expect(await claimOf(2)).toEqual(['greedy', 'greedy']);
  });

  test('of a factory get places behind any number of another, and all that nobody else needs', async () => {
    const log = await openLog(openAt(makePlace()));
    const others = [newRun('a'), { ...newRun('b'), flow: { runner: 'large' } }];
    for (let n = 0; n < 15; n += 1) {
      const runs = Array.from({ length: 100 }, (_, i) => newRun(`greedy-${n}-${i}`));
      await log.recordAccepted(acceptedDelivery({ factory: 'greedy', runs }));
    }
    await log.recordAccepted(acceptedDelivery({ factory: 'modest', atMs: nowMs - 1, runs: others }));
    await log.recordAccepted(acceptedDelivery({ factory: 'later', atMs: nowMs + 5, runs: [newRun()] }));
    const claimOf = async (places: number) => {
      const { runs, ...next } = await log.claimRuns({ ...claim, places: { default: places } });
      const count = (name: string) => runs.filter(({ factory }) => factory === name).length;
      return { greedy: count('greedy'), modest: count('modest'), later: count('later'), ...next };
    };
    const rest = { later: 0, otherRunners: ['large'] };
    expect(await claimOf(6)).toEqual({ greedy: 5, modest: 1, ...rest });
    expect(await claimOf(1_490)).toEqual({ greedy: 1_490, modest: 0, ...rest });
    expect(await claimOf(9)).toEqual({ greedy: 5, modest: 0, nextDueMs: nowMs + 5, ...rest });
  });

  test('that failed or were stopped are noted with their automation, until somebody has looked at each failure', async () => {
    const place = makePlace();
    const [log, other] = [await openLog(openAt(place)), openAt(place).deliveries];
    const stopped = { flow: { runsPerHour: 0 } };
    const runs = ['fine', 'fails', 'fails', 'stopped'].map(name => newRun(name));
    const given = runs.map(run => (run.automation === 'stopped' ? { ...run, ...stopped } : run));
    await log.recordAccepted(acceptedDelivery({ runs: given }));
    expect(await other.listFailedAutomations(10)).toEqual([]);
    const { runs: begun } = await log.claimRuns(claim);
    const [fine, fails, failsLater] = ['fine', 'fails', 'fails'].map((name, index) =>
      begun.filter(({ automation }) => automation === name).at(index === 2 ? 1 : 0),
    ) as [Run, Run, Run];
    await log.finishRun({ ...fine, state: 'succeeded', atMs: nowMs });
    await log.finishRun({ ...fails, state: 'failed', atMs: nowMs });
    const noted = await other.listFailedAutomations(10);
    const failure = expect.any(Number);
    expect(noted).toEqual([
      { factory: 'default', automation: 'stopped', failure },
      { factory: 'default', automation: 'fails', failure },
    ]);
    expect(await other.listFailedAutomations(1)).toEqual(noted.slice(0, 1));
    await log.finishRun({ ...failsLater, state: 'failed', atMs: nowMs });
    expect(await log.forgetFailures(noted.map(({ failure }) => failure))).toBe(1);
    const left = await other.listFailedAutomations(10);
    expect(left).toEqual([{ factory: 'default', automation: 'fails', failure }]);
    await log.forgetFailures(left.map(({ failure }) => failure));
    expect(await other.listFailedAutomations(10)).toEqual([]);
    await log.retryRun({ id: fails.id, nowMs });
    const [again] = (await log.claimRuns(claim)).runs as [Run];
    await log.finishRun({ ...again, state: 'failed', atMs: nowMs });
    const [last] = await other.listFailedAutomations(10);
    expect(left.map(({ failure }) => failure)).not.toContain(last?.failure);
  });

  test('wait until they are due when they are postponed', async () => {
    const { log } = await openKept(makePlace);
    const run = newRun();
    await log.recordAccepted(acceptedDelivery({ runs: [run] }));
    await log.claimRuns(claim);
    const notBeforeMs = nowMs + 1_000;
    expect(
      await log.postponeRun({
        ...claimed(run),
        atMs: nowMs,
        notBeforeMs,
        attempted: true,
        error: 'HTTP 503',
      }),
    ).toBe(true);
    expect(await log.postponeRun({ ...claimed(run), atMs: nowMs, notBeforeMs, attempted: true })).toBe(false);
    expect(await log.claimRuns({ ...claim, nowMs: notBeforeMs - 1 })).toEqual({
      runs: [],
      nextDueMs: notBeforeMs,
    });
    const { runs } = await log.claimRuns({ ...claim, nowMs: notBeforeMs });
    expect(runs).toMatchObject([{ id: run.id, attempts: 2, error: 'HTTP 503' }]);
  });

  test('that were not attempted are queued again without counting', async () => {
    const { log } = await openKept(makePlace);
    const run = newRun();
    await log.recordAccepted(acceptedDelivery({ runs: [run] }));
    await log.claimRuns(claim);
    await log.postponeRun({
      ...claimed(run),
      atMs: nowMs,
      notBeforeMs: nowMs,
      attempted: false,
      error: 'ENOSPC',
    });
    expect((await log.claimRuns(claim)).runs).toMatchObject([
      { id: run.id, attempts: 1, claims: 2, error: 'ENOSPC' },
    ]);
  });

  test('wait no longer than intended after the clock was set back', async () => {
    const log = await openLog(openAt(makePlace()));
    const [fresh, postponed] = [newRun(), newRun()];
    await log.recordAccepted(acceptedDelivery({ atMs: nowMs, runs: [postponed] }));
    await log.claimRuns(claim);
    await log.postponeRun({
      ...claimed(postponed),
      atMs: nowMs,
      notBeforeMs: nowMs + 10_000,
      attempted: true,
    });
    await log.recordAccepted(acceptedDelivery({ atMs: nowMs, runs: [fresh] }));
    const [hourMs, earlierMs] = [3_600_000, nowMs - 3_600_000 + 4_000];
    expect(await log.claimRuns({ ...claim, nowMs: earlierMs })).toMatchObject({ runs: [] });

    // Nobody saw the clock change: the run waits its ten seconds from now on.
    expect(await log.correctDueTimes({ nowMs: earlierMs, backMs: 0 })).toBe(2);
    const { runs, nextDueMs } = await log.claimRuns({ ...claim, nowMs: earlierMs });
    expect(runs).toMatchObject([{ id: fresh.id }]);
    expect(nextDueMs).toBe(earlierMs + 10_000);

    // A queue that saw it knows that four of the ten seconds are over.
    const other = await openLog(openAt(makePlace()));
    await other.recordAccepted(acceptedDelivery({ atMs: nowMs, runs: [postponed] }));
    await other.claimRuns(claim);
    await other.postponeRun({
      ...claimed(postponed),
      atMs: nowMs,
      notBeforeMs: nowMs + 10_000,
      attempted: true,
    });
    await other.correctDueTimes({ nowMs: earlierMs, backMs: hourMs });
    expect(await other.claimRuns({ ...claim, nowMs: earlierMs })).toEqual({
      runs: [],
      nextDueMs: nowMs - hourMs + 10_000,
    });
  });

  test('that a dead daemon left running are queued again, and no others', async () => {
    const place = makePlace();
    const store = openAt(place);
    const [left, kept, done] = [newRun('left'), newRun('kept'), newRun('done')];
    const dead = await openLog(openAt(place));
    await dead.recordAccepted(acceptedDelivery({ runs: [left, done] }));
    await dead.claimRuns({ ...claim, daemonId: 'dead' });
    await dead.finishRun({ ...claimed(done, 'dead'), state: 'succeeded', atMs: nowMs });
    await dead.close();
    const onRunsQueued = vi.fn();
    const log = await openLog(store, { onRunsQueued });
    expect(await log.requeueRunsOfOthers(claim.daemonId)).toBe(1);
    expect(onRunsQueued).toHaveBeenCalledOnce();
    expect((await log.claimRuns(claim)).runs).toMatchObject([{ id: left.id, attempts: 2, claims: 2 }]);
    await log.recordAccepted(acceptedDelivery({ runs: [kept] }));
    expect(await log.requeueRunsOfOthers(claim.daemonId)).toBe(0);
    const found = await Promise.all([left, kept, done].map(({ id }) => store.deliveries.findRun(id)));
    expect(found.map(run => run?.state)).toEqual(['running', 'queued', 'succeeded']);
  });

  test('that daemons did not survive are tried alone, and fail only if they end two daemons that execute nothing else', async () => {
    const place = makePlace();
    const http = { flow: { runner: 'http' } };
    const [poison, ended, innocent] = [newRun('poison'), newRun('ended'), { ...newRun('http'), ...http }];
    const places = { default: 5, http: 5 };
    let claimed: readonly Run[] = [];
    const attemptAndDie = async (n: number, isIdle: boolean) => {
      const log = await openLog(openAt(place));
      await log.requeueRunsOfOthers(`daemon ${n}`);
      const alone = { runners: ['default'], isIdle };
      // One that was tried alone waits.
      const atMs = n > 4 ? Date.now() + 3_600_000 : nowMs;
      const answer = await log.claimRuns({ ...{ daemonId: `daemon ${n}`, nowMs: atMs, places, alone } });
      claimed = answer.runs;
      const found = claimed.find(({ id }) => id === ended.id);
      // An attempt that ends by itself begins the count again.
      if (found && n === 2)
        await log.postponeRun({ ...found, atMs: nowMs, notBeforeMs: 0, attempted: true, error: 'x' });
      await log.close();
      return answer.alone;
    };
    const first = await openLog(openAt(place));
    await first.recordAccepted(acceptedDelivery({ runs: [poison, ended, innocent] }));
    await first.close();
    for (let n = 0; n < interruptionsMax; n++) {
      expect(await attemptAndDie(n, false)).toBeUndefined();
      expect(claimed).toHaveLength(3);
    }
    expect(await attemptAndDie(3, false)).toBe('waits');
    expect(claimed).toEqual([]);
    for (let n = 0; n < interruptionsAloneMax; n++) {
      expect(await attemptAndDie(4 + n, true)).toBe('claimed');
      expect(claimed.map(({ id }) => id)).toEqual([poison.id]);
    }
    const store = openAt(place);
    const log = await openLog(store);
    await log.requeueRunsOfOthers('last');
    const failed = await store.deliveries.findRun(poison.id);
    const error = expect.stringMatching(/during 5 attempts in a row; the run is what ends it/);
    expect(failed).toMatchObject({ state: 'failed', attempts: 5, error });
    expect(failed?.finishedAtMs).toBeGreaterThan(0);
    for (const { id } of [ended, innocent])
      expect(await store.deliveries.findRun(id)).toMatchObject({ state: 'queued' });
    expect(await log.retryRun({ id: poison.id, nowMs })).toBe(true);
    await log.close();
    expect(await attemptAndDie(6, false)).toBeUndefined();
    for (let n = 7; n < 12; n++) await attemptAndDie(n, true);
    await (await openLog(openAt(place))).requeueRunsOfOthers('after the retry');
    expect(await store.deliveries.findRun(innocent.id)).toMatchObject({ state: 'queued' });
  });

  test('that end a daemon alone are not what ends daemons if one ends while they wait, and others that are to be alone wait longer', async () => {
    const place = makePlace();
    const [one, other] = [newRun('one'), newRun('other')];
    const store = openAt(place);
    const live = async (name: string, claimAtMs?: number) => {
      const log = await openLog(openAt(place));
      if (name === '0') await log.recordAccepted(acceptedDelivery({ runs: [one, other] }));
      await log.requeueRunsOfOthers(name);
      const alone = { runners: ['default'], isIdle: true };
      const wanted = { ...claim, daemonId: name, nowMs: claimAtMs ?? 0, alone };
      const { runs } = claimAtMs === undefined ? { runs: [] } : await log.claimRuns(wanted);
      await log.close();
      return runs.map(({ id }) => id);
    };
    const laterMs = Date.now() + 3_600_000;
    for (let n = 0; n < interruptionsMax; n++) expect(await live(`${n}`, laterMs)).toHaveLength(2);
    const due = async ({ id }: NewRun) => (await store.deliveries.findRun(id))?.notBeforeMs ?? 0;
    // Each daemon that ends while the first one waits acquits it.
    for (const name of ['a', 'b', 'c', 'd']) {
      expect(await live(name, laterMs)).toEqual([one.id]);
      expect(await live(`${name}, in between`)).toEqual([]);
      expect(await due(one)).toBeGreaterThan(Date.now() + 5_000);
      expect(await due(other)).toBeGreaterThan(await due(one));
    }
    expect(await live('tried', laterMs)).toEqual([one.id]);
    expect(await live('tried again', laterMs)).toEqual([one.id]);
    await live('last');
    expect(await store.deliveries.findRun(one.id)).toMatchObject({ state: 'failed' });
    expect(await store.deliveries.findRun(other.id)).toMatchObject({ state: 'queued' });
  });

  test('are tried alone beside none that is cancelled, and none other that is to be alone', async () => {
    const place = makePlace();
    const [one, other, cancelled] = [newRun('one'), newRun('other'), newRun('cancelled')];
    const claimAs = (log: DeliveryLog, daemonId: string, isIdle: boolean) =>
      log.claimRuns({ ...{ ...claim, daemonId }, alone: { runners: ['default'], isIdle } });
    for (let n = 0; n < interruptionsMax; n++) {
      const log = await openLog(openAt(place));
      if (n === 0) await log.recordAccepted(acceptedDelivery({ runs: [one, other, cancelled] }));
      await log.requeueRunsOfOthers(`daemon ${n}`);
      expect((await claimAs(log, `daemon ${n}`, true)).runs).toHaveLength(3);
      await log.close();
    }
    const log = await openLog(openAt(place));
    await log.requeueRunsOfOthers('last');
    await log.cancelRun({ id: cancelled.id, cancel: { by: 'ada', atMs: nowMs } });
    const first = await claimAs(log, 'last', true);
    expect(first).toMatchObject({ alone: 'waits', runs: [{ id: cancelled.id }] });
    await log.finishRun({ ...(first.runs[0] as Run), state: 'cancelled', atMs: nowMs });
    expect(await claimAs(log, 'last', true)).toMatchObject({ alone: 'claimed', runs: [{ id: one.id }] });
    expect(await claimAs(log, 'last', false)).toMatchObject({ alone: 'waits', runs: [] });
  });

  test('take no result of a claim that was lost', async () => {
    const place = makePlace();
    const [run] = [newRun()];
    const paused = await openLog(openAt(place));
    await paused.recordAccepted(acceptedDelivery({ runs: [run] }));
    const [lost] = (await paused.claimRuns({ ...claim, daemonId: 'paused' })).runs;
    await paused.close();
    const log = await openLog(openAt(place));
    await log.requeueRunsOfOthers(claim.daemonId);
    const [taken] = (await log.claimRuns(claim)).runs;
    if (!lost || !taken) throw new Error('the run was not claimed twice');
    expect(await log.finishRun({ ...lost, state: 'failed', atMs: nowMs })).toBe(false);
    expect(await log.finishRun({ ...taken, claims: 1, state: 'failed', atMs: nowMs })).toBe(false);
    expect(await log.postponeRun({ ...lost, atMs: nowMs, notBeforeMs: 0, attempted: true })).toBe(false);
    expect(await log.finishRun({ ...taken, state: 'succeeded', atMs: nowMs })).toBe(true);
  });

  test('that the same daemon has claimed again stay its own when the result of the first claim is given twice', async () => {
    const { log } = await openKept(makePlace);
    const run = newRun();
    await log.recordAccepted(acceptedDelivery({ runs: [run] }));
    await log.claimRuns(claim);
    const postponement = { ...claimed(run), atMs: nowMs, notBeforeMs: nowMs, attempted: true };
    expect(await log.postponeRun(postponement)).toBe(true);
    expect((await log.claimRuns(claim)).runs).toMatchObject([{ id: run.id, claims: 2 }]);
    // The daemon was not told that the first time succeeded.
    expect(await log.postponeRun(postponement)).toBe(false);
    expect((await log.claimRuns(claim)).runs).toEqual([]);
    expect(await log.finishRun({ ...claimed(run), claims: 2, state: 'succeeded', atMs: nowMs })).toBe(true);
  });

  test('go on waiting for their receivers when daemons end, and take what those report', async () => {
    const place = makePlace();
    const [waiting, overdue] = [newRun(), newRun()];
    const ended = await openLog(openAt(place));
    await ended.recordAccepted(acceptedDelivery({ runs: [waiting, overdue] }));
    await ended.claimRuns(claim);
    expect(await ended.awaitReport({ ...claimed(waiting, 'other'), untilMs: nowMs + 2 })).toBe(false);
    expect(await ended.awaitReport({ ...claimed(waiting), untilMs: nowMs + 2 })).toBe(true);
    expect(await ended.awaitReport({ ...claimed(overdue), untilMs: nowMs + 1 })).toBe(true);
    await ended.close();

    const store = openAt(place);
    const log = await openLog(store);
    expect(await log.requeueRunsOfOthers('daemon two')).toBe(0);
    expect(await log.claimRuns({ ...claim, daemonId: 'daemon two' })).toEqual({ runs: [] });
    expect(await store.deliveries.listOverdueRuns({ ...overduePart, nowMs })).toEqual([]);
    expect(await store.deliveries.listOverdueRuns({ ...overduePart, nowMs: nowMs + 1 })).toMatchObject([
      { id: overdue.id },
    ]);
    const [attempt, report] = [
      { id: waiting.id, claims: 1 },
      { atMs: nowMs, message: '\0 é' },
    ];
    const reported = { ...attempt, report, countMax: 9 };
    expect(await log.recordReport({ ...reported, claims: 2 })).toBe('lost');
    expect(await log.recordReport(reported)).toBe('recorded');
    const shown = { state: 'running', waitsUntilMs: nowMs + 2, report: { ...report, count: 1 } };
    expect(await store.deliveries.findRun(waiting.id)).toMatchObject(shown);
    const wait = { notBeforeMs: nowMs, attempted: true, error: 'the receiver failed' };
    expect(await log.postponeRun({ ...attempt, atMs: nowMs, ...wait })).toBe(true);
    expect(await log.recordReport(reported)).toBe('lost');
    expect(await store.deliveries.findRun(waiting.id)).not.toHaveProperty('waitsUntilMs');
    const [again] = (await log.claimRuns(claim)).runs;
    expect(again).toMatchObject({ id: waiting.id, attempts: 2, claims: 2 });
    expect(again).not.toHaveProperty('report');
    expect(await log.finishRun({ id: overdue.id, claims: 1, state: 'succeeded', atMs: nowMs })).toBe(true);
    expect(await store.deliveries.listOverdueRuns({ ...overduePart, nowMs: nowMs + 9 })).toEqual([]);
  });

  test('keep no more reports of an attempt than they may, whichever daemons take them at the same time', async () => {
    const place = makePlace();
    const [store, other] = [openAt(place), openAt(place)];
    const logs = [await openLog(store), await openLog(other)];
    const run = newRun();
    await logs[0]?.recordAccepted(acceptedDelivery({ runs: [run] }));
    await logs[0]?.claimRuns(claim);
    const link = 'https://agents.example.com/1';
    const record = (log: DeliveryLog | undefined, more: object = {}, countMax = 20) =>
      log?.recordReport({ ...claimed(run), report: { atMs: nowMs, ...more }, countMax });
    expect(await record(logs[1], { link })).toBe('recorded');
    const kept = await Promise.all(Array.from({ length: 60 }, (_, index) => record(logs[index % 2])));
    expect(kept.filter(one => one === 'recorded')).toHaveLength(19);
    expect(kept.filter(one => one === 'too-many')).toHaveLength(41);
    expect(await record(logs[0], { message: 'Done' }, Infinity)).toBe('recorded');
    const report = { atMs: nowMs, count: 21, link, message: 'Done' };
    expect(await store.deliveries.findRun(run.id)).toMatchObject({ state: 'running', report });
  });

  test('that failed are retried under their ids, with their attempts counted again', async () => {
    const onRunsQueued = vi.fn();
    const log = await openLog(openAt(makePlace()), { onRunsQueued });
    const run = newRun();
    await log.recordAccepted(acceptedDelivery({ runs: [run] }));
    const retry = { id: run.id, nowMs };
    expect(await log.retryRun(retry)).toBe(false);
    await log.claimRuns(claim);
    expect(await log.retryRun(retry)).toBe(false);
    await log.finishRun({ ...claimed(run), state: 'failed', atMs: nowMs, error: 'exit status 1' });
    onRunsQueued.mockClear();
    expect(await log.retryRun(retry)).toBe(true);
    expect(onRunsQueued).toHaveBeenCalledOnce();
    const { runs } = await log.claimRuns(claim);
    // The number of the claim goes on, so that whatever is left of an earlier attempt can be told apart.
    expect(runs).toMatchObject([{ id: run.id, state: 'running', attempts: 1, claims: 2 }]);
    expect(runs[0]).not.toHaveProperty('finishedAtMs');
  });

  test('of a replay are new and marked, under the automations given', async () => {
    const { store, log } = await openKept(makePlace);
    const appliedState = { digest: 'digest two', json: '{"automations":["two"]}' };
    const { id: deliveryId } = await log.recordAccepted(acceptedDelivery({ runs: [newRun()] }));
    const runs = [newRun('later')];
    expect(await log.replay({ deliveryId, runs, appliedState, nowMs: nowMs + 7 })).toBe(true);
    const reader = store.deliveries;
    expect(await reader.listRunsOfDelivery(deliveryId)).toMatchObject([
      { automation: 'triage', replay: false, snapshot: 'digest one' },
      { automation: 'later', replay: true, snapshot: 'digest two', createdAtMs: nowMs + 7 },
    ]);
    expect(await reader.listDeliveries({ factory: 'default', limit: 9 })).toHaveLength(1);
    const { id } = await log.recordAccepted(acceptedDelivery());
    expect(await reader.findDelivery(id)).toMatchObject({ snapshot: 'digest one' });
  });

  test('started by hand are marked, with a payload that counts for no webhook', async () => {
    const { store, log } = await openKept(makePlace);
    const [run] = [newRun('draft')];
    const { id: deliveryId, factory, webhook, uid } = acceptedDelivery({ atMs: Date.now() });
    const event = { payload: Buffer.from(' {"a": 1}'), headers: { 'x-event': 'push' } };
    const appliedState = { digest: 'digest two', json: '{"automations":["two"]}' };
    // A database has partitions for its own days only.
    const nowMs = Date.now();
    const started = { deliveryId, runs: [run], appliedState, nowMs, manual: { factory, webhook, ...event } };
    expect(await log.replay(started)).toBe(true);
    const reader = store.deliveries;
    const [shown] = await reader.listRunsOfDelivery(deliveryId);
    expect(shown).toMatchObject({ id: run.id, webhook, replay: false, manual: true, snapshot: 'digest two' });
    expect((await log.claimRuns({ ...claim, nowMs })).runs).toMatchObject([{ id: run.id, manual: true }]);
    const read = await log.readEvent(deliveryId);
    expect([Buffer.from(read?.payload ?? []).toString(), read?.headers]).toEqual([
      ' {"a": 1}',
      event.headers,
    ]);
    const row = { id: deliveryId, outcome: 'Manual', size: 9 };
    expect(await reader.listDeliveries({ factory, webhook, limit: 9 })).toMatchObject([row]);
    expect(await reader.listDeliveries({ factory, uid, limit: 9 })).toEqual([]);
    const [summary] = await reader.summarizeDeliveries([deliveryId], 9);
    expect(summary).toMatchObject({ outcome: 'Manual', headers: event.headers });
    expect(Buffer.from(summary?.beginning ?? []).toString()).toBe(' {"a": 1}');
    const step = await reader.readNextTallies();
    expect(step.tallies).toEqual([]);
    // A sender's delivery with the same body is no duplicate of it.
    const sent = acceptedDelivery({ identity: 'same', payload: event.payload });
    expect(await log.recordAccepted(sent)).toEqual({ id: sent.id });
  });

  test('are not replayed from an unknown delivery, nor from one without a payload', async () => {
    const { log } = await openKept(makePlace);
    const [original, duplicate] = [acceptedDelivery({ identity: 'a' }), acceptedDelivery({ identity: 'a' })];
    await Promise.all([log.recordAccepted(original), log.recordAccepted(duplicate)]);
    const replay = { runs: [newRun()], appliedState: { digest: 'd', json: '{}' }, nowMs };
    expect(await log.replay({ ...replay, deliveryId: duplicate.id })).toBe(false);
    expect(await log.replay({ ...replay, deliveryId: 'dlv_unknown' })).toBe(false);
    expect(await log.claimRuns(claim)).toEqual({ runs: [] });
  });
}
