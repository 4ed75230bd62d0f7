import { expect, test } from 'vitest';
import { hourMs } from '../../../../schema/time-units.ts';
import { releasesMax } from '../../../../store/delivery-log/run-flow.ts';
import { interruptionsMax } from '../../../../store/delivery-log/run-life.ts';
import type { DeliveryLog, NewRun, Run, RunFlow } from '../../../../store/ports/delivery-log.ts';
import { acceptedDelivery, newRun, sampleAtMs } from '../../../support/deliveries.ts';
import { type MakePlace, openAt, openKept, openLog } from './place.ts';

const nowMs = sampleAtMs;
const claim = { daemonId: 'daemon one', nowMs, places: { default: 10 } };
const cancel = { by: 'ada', atMs: nowMs + 7 };
const paused = { factory: 'default', automation: 'triage', by: 'ada', atMs: nowMs };

/** Tests what somebody does with runs and automations: cancels, pauses and approvals, and runs that do work again. */
export function testSteering(makePlace: MakePlace): void {
  testCancels(makePlace);
  testPauses(makePlace);
  testSecondCommands(makePlace);
}

function testSecondCommands(makePlace: MakePlace): void {
  const second = { sinceMs: nowMs + 1, waitsForApproval: false };
  const order = { order: { lane: 'lane', hold: false }, runsPerHour: 1 };
  const approval = { by: 'ada', atMs: nowMs + 9 };

  test('go on to a second command with attempts of their own, and keep their report, lane and hour', async () => {
    const { store, log } = await openKept(makePlace);
    const [run, next] = await record(log, [order, order]);
    const [first] = await claimIds(log, [run]);
    const report = { atMs: nowMs, message: 'Proposed', costUsd: 0.5 };
    await log.recordReport({ ...first, report, countMax: 9 });
    await log.postponeRun({ ...first, atMs: nowMs, notBeforeMs: nowMs, attempted: true, second });
    expect(await store.deliveries.findRun(run.id)).toMatchObject({
      ...{ state: 'queued', attempts: 0, afterwards: { sinceMs: second.sinceMs }, report },
    });
    const [claimed] = await claimIds(log, [run]);
    expect(claimed).toMatchObject({ attempts: 1, claims: 2, report });
    await log.postponeRun({ ...claimed, atMs: nowMs, notBeforeMs: nowMs, attempted: true });
    const [again] = await claimIds(log, [run]);
    expect(again).toMatchObject({ attempts: 2, claims: 3, afterwards: { sinceMs: second.sinceMs } });
    await log.finishRun({ ...again, state: 'failed', atMs: nowMs });
    expect(await log.retryRun({ id: run.id, nowMs })).toBe(true);
    expect(await store.deliveries.findRun(run.id)).toMatchObject({ afterwards: { sinceMs: second.sinceMs } });
    // Others still count it for the hour.
    const { runs } = await log.claimRuns(claim);
    await log.finishRun({ ...(runs[0] as Run), state: 'succeeded', atMs: nowMs });
    expect(await log.claimRuns(claim)).toMatchObject({ runs: [], stopped: [{ id: next.id }] });
  });

  test('wait for approval, hold their order and no place, and go on when somebody approves', async () => {
    const { store, log } = await openKept(makePlace);
    const limit = { limit: { lane: 'limit', runs: 1 } };
    const lane = { order: { lane: 'lane', hold: false } };
    const [held, behind, other, free] = await record(log, [{ ...lane, ...limit }, lane, limit, undefined]);
    const { runs: begun } = await log.claimRuns(claim);
    const first = begun.find(({ id }) => id === held.id) as Run;
    expect(begun).toHaveLength(2);
    expect(begun.map(({ id }) => id)).toContain(free.id);
    await log.postponeRun({
      ...{ ...first, atMs: nowMs, notBeforeMs: nowMs, attempted: true },
      second: { ...second, waitsForApproval: true },
    });
    expect(await store.deliveries.findRun(held.id)).toMatchObject({ state: 'queued', waitsFor: 'approval' });
    await claimIds(log, [other]);
    await log.requeueRunsOfOthers(claim.daemonId);
    expect(await store.deliveries.findRun(behind.id)).toMatchObject({ waitsFor: 'order' });
    expect(await store.deliveries.listUnapprovedRuns()).toMatchObject([{ id: held.id }]);
    expect(await log.approveRun({ id: behind.id, approval })).toBe(false);
    expect(await log.approveRun({ id: held.id, approval })).toBe(true);
    expect(await log.approveRun({ id: held.id, approval: { ...approval, by: 'eve' } })).toBe(false);
    const approved = await store.deliveries.findRun(held.id);
    expect(approved).toMatchObject({ state: 'queued', afterwards: { sinceMs: second.sinceMs, approval } });
    expect(approved).not.toHaveProperty('waitsFor');
    expect(await store.deliveries.listUnapprovedRuns()).toEqual([]);
    // The place of its limit is taken meanwhile.
    expect(await log.claimRuns({ ...claim, nowMs: approval.atMs })).toMatchObject({ runs: [] });
  });

  test('wait for approval until their time is over: those are found, however many others wait', async () => {
    const { store, log } = await openKept(makePlace);
    const runs = await record(log, [undefined, undefined, undefined, undefined]);
    const { runs: begun } = await log.claimRuns(claim);
    for (const [index, run] of begun.entries()) {
      const proposed = { ...run, atMs: nowMs, notBeforeMs: nowMs + 10 - index, attempted: true };
      await log.postponeRun({ ...proposed, second: { ...second, waitsForApproval: true } });
    }
    const list = async (part: { nowMs: number; limit: number; skip: number }) =>
      (await store.deliveries.listOverdueRuns({ waitsFor: 'approval', ...part })).map(({ id }) => id);
    const ids = runs.map(({ id }) => id).reverse();
    expect(await list({ nowMs: nowMs + 6, limit: 9, skip: 0 })).toEqual([]);
    expect(await list({ nowMs: nowMs + 8, limit: 9, skip: 0 })).toEqual(ids.slice(0, 2));
    expect(await list({ nowMs: nowMs + 10, limit: 2, skip: 1 })).toEqual(ids.slice(1, 3));
    // An alert names the first run of each automation.
    expect(await store.deliveries.listUnapprovedRuns()).toMatchObject([{ id: runs[0].id }]);
    await log.cancelRun({ id: ids[0] ?? '', cancel });
    expect(await list({ nowMs: nowMs + 10, limit: 9, skip: 0 })).toEqual(ids.slice(1));
  });

  test('wait for a person, a receiver or the end of a pause as long as intended after the clock was set back', async () => {
    const { store, log } = await openKept(makePlace);
    const [proposed, awaited] = await record(log, [undefined, undefined]);
    const [held, waiting] = await claimIds(log, [proposed, awaited]);
    await log.postponeRun({
      ...{ ...held, atMs: nowMs, notBeforeMs: nowMs + hourMs, attempted: true },
      second: { sinceMs: nowMs, waitsForApproval: true },
    });
    await log.awaitReport({ ...waiting, untilMs: nowMs + hourMs });
    const pause = { factory: 'default', automation: 'paused', by: 'ada' };
    await log.pauseAutomation({ ...pause, atMs: nowMs, untilMs: nowMs + hourMs });
    await log.pauseAutomation({ ...pause, automation: 'stopped', atMs: nowMs });
    const backMs = 6 * hourMs;
    const earlierMs = nowMs - backMs;
    // Each daemon that starts corrects what it finds.
    expect(await log.correctDueTimes({ nowMs: earlierMs, backMs })).toBe(4);
    expect(await log.correctDueTimes({ nowMs: earlierMs + 60_000, backMs: 0 })).toBe(0);
    const endMs = earlierMs + hourMs;
    const list = async (atMs: number) => [
      await store.deliveries.listOverdueRuns({ waitsFor: 'approval', nowMs: atMs, limit: 9, skip: 0 }),
      await store.deliveries.listOverdueRuns({ waitsFor: 'receiver', nowMs: atMs, limit: 9, skip: 0 }),
      await store.deliveries.listPauses({ nowMs: atMs }),
    ];
    const stopped = { ...pause, automation: 'stopped', atMs: earlierMs };
    expect(await list(endMs - 1)).toEqual([
      ...[[], []],
      [{ ...pause, atMs: earlierMs, untilMs: endMs }, stopped],
    ]);
    expect(await list(endMs)).toMatchObject([[{ id: proposed.id }], [{ id: awaited.id }], [stopped]]);
  });

  test('are cancelled instead of approved', async () => {
    const { store, log } = await openKept(makePlace);
    const [run] = await record(log, [undefined]);
    const [first] = await claimIds(log, [run]);
    const held = { notBeforeMs: nowMs, attempted: true, second: { ...second, waitsForApproval: true } };
    await log.postponeRun({ ...first, atMs: nowMs, ...held });
    expect(await log.cancelRun({ id: run.id, cancel })).toBe('requested');
    expect(await log.approveRun({ id: run.id, approval })).toBe(false);
    const { runs } = await log.claimRuns(claim);
    await log.finishRun({ ...(runs[0] as Run), state: 'cancelled', atMs: nowMs });
    expect(await store.deliveries.findRun(run.id)).toMatchObject({ state: 'cancelled' });
  });

  test('note the ends that their automation names, whichever way they end, until they are told', async () => {
    const { store, log } = await openKept(makePlace);
    const notify = ['failed', 'succeeded'] as const;
    const flows = [
      { notify },
      { notify: ['failed'] as const },
      { notify, runsPerHour: 1 },
      { notify, runsPerHour: 1 },
    ];
    const [told, untold, first, stopped] = await record(log, [...flows, undefined]);
    const { runs, stopped: ended } = await log.claimRuns(claim);
    expect(ended).toMatchObject([{ id: stopped?.id }]);
    for (const run of runs) await log.finishRun({ ...run, state: 'succeeded', atMs: nowMs });
    const ends = await store.deliveries.listEndsToTell(9);
    expect(ends.map(({ run, state }) => [run, state]).sort()).toEqual(
      [
        [told?.id, 'succeeded'],
        [first?.id, 'succeeded'],
        [stopped?.id, 'failed'],
      ].sort(),
    );
    expect(ends.map(({ run }) => run)).not.toContain(untold?.id);
    expect(await log.forgetEnds(ends.map(({ seq }) => seq))).toBe(3);
    expect(await store.deliveries.listEndsToTell(9)).toEqual([]);
  });

  test('do the work of another run again, with all of its deliveries', async () => {
    const { store, log } = await openKept(makePlace);
    const flow = { burst: { lane: 'burst', forMs: 1, atMostMs: 10 } };
    const run = { ...newRun(), flow };
    const deliveries = [
      acceptedDelivery({ runs: [run] }),
      acceptedDelivery({ runs: [{ ...newRun(), flow }] }),
    ];
    for (const delivery of deliveries) await log.recordAccepted(delivery);
    const known = (await store.deliveries.findRun(run.id)) as Run;
    const again = { ...newRun(), flow, againOf: run.id };
    const appliedState = { digest: 'digest two', json: '{}' };
    expect(await log.replay({ deliveryId: known.deliveryId, runs: [again], appliedState, nowMs })).toBe(true);
    expect(await store.deliveries.findRun(again.id)).toMatchObject({ againOf: run.id, deliveryCount: 2 });
    expect((await store.deliveries.listRunDeliveries(again.id)).map(({ id }) => id)).toEqual(
      deliveries.map(({ id }) => id),
    );
  });
}

function testCancels(makePlace: MakePlace): void {
  const [order, limit] = [
    { order: { lane: 'lane', hold: true } },
    { limit: { lane: 'lane', runs: 1 } },
  ] satisfies RunFlow[];

  test('end a cancelled run that was never claimed, and no run twice', async () => {
    const { store, log } = await openKept(makePlace);
    const [run] = await record(log, [undefined]);
    expect(await log.cancelRun({ id: run.id, cancel })).toBe('cancelled');
    expect(await log.cancelRun({ id: run.id, cancel: { ...cancel, by: 'eve' } })).toBe('ended');
    expect(await log.cancelRun({ id: 'unknown', cancel })).toBe('ended');
    const expected = { state: 'cancelled', cancel, attempts: 0, finishedAtMs: cancel.atMs };
    expect(await store.deliveries.findRun(run.id)).toMatchObject(expected);
    expect(await log.claimRuns(claim)).toEqual({ runs: [] });
    expect(await log.retryRun({ id: run.id, nowMs })).toBe(false);
    expect(
      await store.deliveries.listRuns({ factory: 'default', state: 'cancelled', limit: 5 }),
    ).toHaveLength(1);
  });

  test('tell a daemon which of its attempts to end, until the run has ended', async () => {
    const { store, log } = await openKept(makePlace);
    const [run, other] = await record(log, [undefined, undefined]);
    const [first, second] = await claimIds(log, [run, other]);
    expect(await log.cancelRun({ id: run.id, cancel })).toBe('requested');
    expect(await store.deliveries.findRun(run.id)).toMatchObject({ state: 'running', cancel });
    expect(await log.claimRuns(claim)).toEqual({ runs: [], toCancel: [run.id] });
    expect(await log.finishRun({ ...first, state: 'cancelled', atMs: nowMs })).toBe(true);
    expect(await log.claimRuns(claim)).toEqual({ runs: [] });
    expect(await store.deliveries.findRun(run.id)).toMatchObject({ state: 'cancelled', cancel });
    expect(await log.finishRun({ ...first, state: 'succeeded', atMs: nowMs })).toBe(false);
    await log.cancelRun({ id: other.id, cancel });
    expect(await log.finishRun({ ...second, state: 'succeeded', atMs: nowMs })).toBe(true);
    expect(await store.deliveries.findRun(other.id)).not.toHaveProperty('cancel');
  });

  test('let a daemon end a cancelled run that waits for its next attempt or its receiver, whatever the limit', async () => {
    const { log } = await openKept(makePlace);
    const [queued, waiting] = await record(log, [undefined, undefined]);
    const [first, second] = await claimIds(log, [queued, waiting]);
    await log.postponeRun({ ...first, atMs: nowMs, notBeforeMs: nowMs + 60_000, attempted: true });
    await log.awaitReport({ ...second, untilMs: nowMs + 60_000 });
    for (const { id } of [queued, waiting]) expect(await log.cancelRun({ id, cancel })).toBe('requested');
    const { runs, toCancel } = await log.claimRuns({ ...claim, places: { default: 0 } });
    expect(runs).toHaveLength(2);
    expect(toCancel).toBeUndefined();
    for (const run of runs) {
      expect(run).toMatchObject({ state: 'running', attempts: 1, claims: 2, cancel });
      expect(run).not.toHaveProperty('waitsUntilMs');
    }
    const report = { ...second, report: { atMs: nowMs }, countMax: 9 };
    expect(await log.recordReport(report)).toBe('lost');
  });

  test('let another daemon end a cancelled run whose daemon died, however often that happens', async () => {
    const place = makePlace();
    const dead = await openLog(openAt(place));
    const [run] = await record(dead, [undefined]);
    let daemonId = 'dead';
    await dead.claimRuns({ ...claim, daemonId });
    await dead.cancelRun({ id: run.id, cancel });
    await dead.close();
    for (let died = 1; died <= interruptionsMax + 1; died++) {
      daemonId = `daemon ${died}`;
      const store = openAt(place);
      const log = await openLog(store);
      await log.requeueRunsOfOthers(daemonId);
      const { runs } = await log.claimRuns({ ...claim, daemonId });
      expect(runs).toMatchObject([{ id: run.id, claims: died + 1, attempts: 1, cancel }]);
      await log.close();
      await store.close();
    }
  });

  test.for([
    { name: 'order', flow: order },
    { name: 'limit', flow: limit },
  ])('let the others of a lane go on when a run is cancelled: $name', async ({ flow }) => {
    const { log } = await openKept(makePlace);
    const [a, b, c, d] = await record(log, [flow, flow, flow, flow]);
    const [first] = await claimIds(log, [a]);
    await claimIds(log, []);
    // The next one is let go on, and cancelled before a claim looks at it.
    await log.finishRun({ ...first, state: 'succeeded', atMs: nowMs });
    expect(await log.cancelRun({ id: b.id, cancel })).toBe('cancelled');
    const [third] = await claimIds(log, [c]);
    await log.cancelRun({ id: c.id, cancel });
    await claimIds(log, []);
    await log.finishRun({ ...third, state: 'cancelled', atMs: nowMs });
    await claimIds(log, [d]);
  });

  test('gather no further delivery for a cancelled run', async () => {
    const { store, log } = await openKept(makePlace);
    const burst = { burst: { lane: 'lane', forMs: 1_000, atMostMs: 10_000 } };
    const [first, second] = await record(log, [burst]).then(async ([run]) => {
      await log.cancelRun({ id: run.id, cancel });
      return [run, (await record(log, [burst]))[0]] as const;
    });
    expect(await store.deliveries.findRun(first.id)).toMatchObject({ state: 'cancelled', deliveryCount: 1 });
    expect(await store.deliveries.findRun(second.id)).toMatchObject({ state: 'queued', deliveryCount: 1 });
  });
}

function testPauses(makePlace: MakePlace): void {
  test('start no run of a paused automation until it is resumed, with and without a flow', async () => {
    const { store, log } = await openKept(makePlace);
    const flow = { limit: { lane: 'lane', runs: 1 } };
    const runs = await record(log, [undefined, flow, flow]);
    const [other] = await record(log, [undefined], 'notify');
    await log.pauseAutomation(paused);
    const [claimed] = await claimIds(log, [other]);
    for (const { id } of runs)
      expect(await store.deliveries.findRun(id)).toMatchObject({ state: 'queued', waitsFor: 'paused' });
    const counts = { queued: 3, waiting: 3, running: 1, holding: 0 };
    expect(await store.deliveries.countUnfinishedRuns()).toEqual(counts);
    expect(await store.deliveries.listPauses({ nowMs })).toEqual([paused]);
    expect(await store.deliveries.listPauses({ factory: 'other', nowMs })).toEqual([]);
    await log.finishRun({ ...claimed, state: 'succeeded', atMs: nowMs });
    expect(await log.resumeAutomation({ ...paused, nowMs })).toBe(true);
    expect(await log.resumeAutomation({ ...paused, nowMs })).toBe(false);
    expect(await store.deliveries.listPauses({ nowMs })).toEqual([]);
    await claimIds(log, runs.slice(0, 2));
  });

  test('end a pause by itself, with many runs in portions', async () => {
    const { log } = await openKept(makePlace);
    const runs = Array.from({ length: releasesMax + 1 }, () => newRun('triage'));
    await log.recordAccepted(acceptedDelivery({ runs }));
    await log.pauseAutomation({ ...paused, untilMs: nowMs + 60_000 });
    const all = { ...claim, places: { default: runs.length } };
    expect((await log.claimRuns(all)).runs).toEqual([]);
    const later = { ...all, nowMs: nowMs + 60_000 };
    expect((await log.claimRuns(later)).runs).toHaveLength(releasesMax);
    expect((await log.claimRuns(later)).runs).toHaveLength(1);
  });

  test('keep the time since when an automation is paused, unless it was resumed', async () => {
    const { store, log } = await openKept(makePlace);
    await log.pauseAutomation(paused);
    const changed = { ...paused, by: 'eve', atMs: nowMs + 5, untilMs: nowMs + 50 };
    await log.pauseAutomation(changed);
    expect(await store.deliveries.listPauses({ nowMs })).toEqual([{ ...changed, atMs: nowMs }]);
    await log.resumeAutomation({ ...paused, nowMs: nowMs + 6 });
    await log.pauseAutomation({ ...paused, atMs: nowMs + 7 });
    expect(await store.deliveries.listPauses({ nowMs })).toEqual([{ ...paused, atMs: nowMs + 7 }]);
  });

  test('keep a pause, and cancel a paused run', async () => {
    const place = makePlace();
    const store = openAt(place);
    const log = await openLog(store);
    const [a, b] = await record(log, [undefined, undefined]);
    await log.pauseAutomation(paused);
    await claimIds(log, []);
    expect(await log.cancelRun({ id: a.id, cancel })).toBe('cancelled');
    await log.close();
    const again = await openLog(openAt(place));
    await again.requeueRunsOfOthers('two');
    await claimIds(again, []);
    await again.resumeAutomation({ ...paused, nowMs });
    await claimIds(again, [b]);
  });
}

async function record(
  log: DeliveryLog,
  flows: readonly (RunFlow | undefined)[],
  automation = 'triage',
): Promise<[NewRun, NewRun, NewRun, NewRun]> {
  const runs: NewRun[] = [];
  for (const flow of flows) {
    const run = { ...newRun(automation), ...(flow && { flow }) };
    await log.recordAccepted(acceptedDelivery({ runs: [run], atMs: nowMs }));
    runs.push(run);
  }
  return runs as [NewRun, NewRun, NewRun, NewRun];
}

/** Claims runs, which must be these. */
async function claimIds(log: DeliveryLog, expected: readonly NewRun[]): Promise<[Run, Run]> {
  const { runs } = await log.claimRuns(claim);
  expect(runs.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
  return runs as [Run, Run];
}
