import { expect, test } from 'vitest';
import { interruptionsMax } from '../../../../store/delivery-log/run-life.ts';
import type { DeliveryLog, NewRun, RunFlow } from '../../../../store/ports/delivery-log.ts';
import type { Store } from '../../../../store/ports/store.ts';
import { pageBytesMax, rowsPerPageMax, type TransferTable } from '../../../../store/ports/transfer.ts';
import {
  acceptedDelivery,
  newRun,
  rejectedDelivery,
  sampleAtMs,
  unloggedCount,
} from '../../../support/deliveries.ts';
import { listDeliveryIds, type MakePlace, openAt, openLog, type Place } from './place.ts';

export function testTransfer(makePlace: MakePlace): void {
  test('reads the deliveries of each factory in the order in which they were recorded', async () => {
    const place = makePlace();
    const log = await openLog(openAt(place));
    for (const factory of ['b', 'a', 'b']) await log.recordAccepted(acceptedDelivery({ factory }));
    const many = Array.from({ length: rowsPerPageMax + 5 }, () => acceptedDelivery());
    await Promise.all(many.map(delivery => log.recordAccepted(delivery)));
    await log.close();
    const newestFirst = await listDeliveryIds(openAt(place));
    await whileTransferring(place, async ({ deliveries, listLoggedFactories, countIdentities }) => {
      expect(await listLoggedFactories()).toEqual(['a', 'b', 'default']);
      expect(await countIdentities()).toBe(many.length + 3);
      expect((await deliveries.read('default', 0)).length).toBe(rowsPerPageMax);
      const ids = (await readAll(deliveries, 'default')).map(({ id }) => id);
      expect(ids).toEqual(newestFirst.reverse());
      expect(await readAll(deliveries, 'b')).toHaveLength(2);
      expect(await deliveries.read('c', 0)).toEqual([]);
    });
  });

  test('reads large deliveries and outputs in smaller pages', async () => {
    const place = makePlace();
    const store = openAt(place);
    const log = await openLog(store);
    const bytes = Buffer.alloc(0.6 * pageBytesMax, 'x');
    for (let i = 0; i < 3; i++) {
      const run = newRun();
      await log.recordAccepted(acceptedDelivery({ payload: bytes, runs: [run] }));
      await writeOutput(store, run.id, bytes);
    }
    await log.close();
    await whileTransferring(place, async ({ deliveries, runs }) => {
      for (const table of [deliveries, runs] as TransferTable<never>[]) {
        const pages = [await table.read('default', 0)];
        pages.push(await table.read('default', position(pages[0])));
        pages.push(await table.read('default', position(pages[1])));
        expect(pages.map(page => page.length)).toEqual([2, 1, 0]);
      }
    });
  });

  test('carries deliveries, runs and outputs to another store, with their identities', async () => {
    const [from, to] = [makePlace(), makePlace()];
    const { accepted } = await fill(from);
    await carry(from, to);
    const [source, target] = [openAt(from), openAt(to)];
    const rows = await source.deliveries.listDeliveries({ factory: 'default', limit: 9 });
    expect(rows).toHaveLength(5);
    expect(rows.flatMap(({ verifiedWith }) => verifiedWith ?? [])).toEqual(['previous']);
    expect(rows.flatMap(({ form }) => form ?? [])).toEqual([{ payloadField: 'é' }]);
    expect(await target.deliveries.listDeliveries({ factory: 'default', limit: 9 })).toEqual(rows);
    const runs = await source.deliveries.listRuns({ factory: 'default', limit: 9 });
    expect(runs.map(({ state }) => state)).toEqual(['queued', 'queued', 'running', 'failed', 'succeeded']);
    expect(await target.deliveries.listRuns({ factory: 'default', limit: 9 })).toEqual(runs);
    for (const { id } of runs) expect(await readOutput(target, id)).toEqual(await readOutput(source, id));
    const payload = await target.deliveries.readPayload(accepted.id);
    expect(Buffer.compare(payload ?? Buffer.of(), accepted.payload)).toBe(0);
    expect(await target.deliveries.readSnapshot('digest one')).toBe('{"automations":[]}');
    const sums = await target.deliveries.sumUnlogged({ factory: 'default', sinceMs: sampleAtMs });
    expect(sums).toEqual([unloggedCount({ count: 5, lastAtMs: sampleAtMs + 60_000 })]);
  });

  test('carries how often daemons did not survive a run, so that it is tried alone here too', async () => {
    const [from, to] = [makePlace(), makePlace()];
    const run = newRun();
    const claimIn = async (place: Place, daemonId: string) => {
      const log = await openLog(openAt(place));
      if (daemonId === '0') await log.recordAccepted(acceptedDelivery({ runs: [run] }));
      await log.requeueRunsOfOthers(daemonId);
      const alone = { runners: ['default'], isIdle: true };
      const claimed = await log.claimRuns({ daemonId, nowMs: sampleAtMs, places: { default: 1 }, alone });
      await log.close();
      return claimed;
    };
    for (let n = 0; n < interruptionsMax; n++) await claimIn(from, `${n}`);
    const last = await openLog(openAt(from));
    await last.requeueRunsOfOthers('last');
    await last.close();
    await carry(from, to);
    expect(await claimIn(to, 'new')).toMatchObject({ alone: 'claimed', runs: [{ id: run.id }] });
  });

  test('carries the flow of runs: their lanes, and the deliveries that they have taken up', async () => {
    const [from, to] = [makePlace(), makePlace()];
    const log = await openLog(openAt(from));
    const nowMs = Date.now();
    const claim = { daemonId: 'daemon one', nowMs, places: { default: 9 } };
    const flow = (rest: RunFlow) => ({ ...rest, runsPerHour: 1, order: { lane: 'order', hold: true } });
    const record = (run: NewRun) => log.recordAccepted(acceptedDelivery({ atMs: nowMs, runs: [run] }));
    const [first, stopped, next] = [newRun('first'), newRun('first'), newRun('next')];
    await record({ ...first, flow: flow({}) });
    await record({ ...stopped, flow: flow({}) });
    await record({ ...next, flow: flow({}) });
    const gathers = { flow: { burst: { lane: 'burst', forMs: 60_000, atMostMs: 60_000 } } };
    const gathering = newRun('gathering');
    const gathered: string[] = [];
    for (const run of [gathering, newRun('gathering')])
      gathered.push((await record({ ...run, ...gathers })).id);
    for (const run of (await log.claimRuns(claim)).runs)
      await log.finishRun({ ...run, state: 'succeeded', atMs: nowMs });
    await log.claimRuns(claim);
    await log.close();

    await carry(from, to);
    await whileTransferring(to, async ({ runs }) => {
      const rows = await readAll(runs, 'default');
      // Copies between kinds of stores compare the text.
      const taken = JSON.stringify(gathered.sort());
      expect(rows.filter(row => row.taken !== null)).toMatchObject([{ id: gathering.id, taken }]);
    });
    const { deliveries: reader } = openAt(to);
    expect(await reader.findRun(stopped.id)).toMatchObject({ state: 'failed', stopped: true });
    expect(await reader.findRun(gathering.id)).toMatchObject({ deliveryCount: 2 });
    expect(await reader.listRunDeliveries(gathering.id)).toHaveLength(2);
    const { automation } = stopped;
    expect(await reader.listFailedAutomations(9)).toMatchObject([{ factory: 'default', automation }]);
    const other = await openLog(openAt(to));
    expect((await other.claimRuns(claim)).runs).toEqual([]);
    await other.dismissRun(stopped.id);
    expect((await other.claimRuns(claim)).runs).toMatchObject([{ id: next.id }]);
  });

  test('makes the other store recognise what was accepted before', async () => {
    const [from, to] = [makePlace(), makePlace()];
    const { accepted } = await fill(from);
    await carry(from, to);
    const log = await openLog(openAt(to));
    const { identity, contentDigest, id: duplicateOf } = accepted;
    const again = [acceptedDelivery({ identity }), acceptedDelivery({ contentDigest })];
    for (const delivery of again) expect(await log.recordAccepted(delivery)).toMatchObject({ duplicateOf });
    const { id } = acceptedDelivery();
    expect(await log.recordAccepted(acceptedDelivery({ id }))).toEqual({ id });
    expect((await listDeliveryIds(openAt(to)))[0]).toBe(id);
  });

  test('lets the other store go on with the runs that were queued or running', async () => {
    const [from, to] = [makePlace(), makePlace()];
    await fill(from);
    await carry(from, to);
    const log = await openLog(openAt(to));
    const nowMs = Date.now();
    expect(await log.requeueRunsOfOthers('daemon two')).toBe(1);
    const { runs } = await log.claimRuns({ daemonId: 'daemon two', nowMs, places: { default: 9 } });
    expect(runs.map(({ automation, attempts, claims }) => [automation, attempts, claims]).sort()).toEqual([
      ['long', 2, 2],
      ['next', 1, 1],
      ['replayed', 1, 1],
    ]);
  });

  test('carries who cancels runs, and the pauses of automations', async () => {
    const [from, to] = [makePlace(), makePlace()];
    const log = await openLog(openAt(from));
    const nowMs = Date.now();
    const claim = { daemonId: 'daemon one', nowMs, places: { default: 1 } };
    const [ended, running, waiting] = [newRun('ended'), newRun('running'), newRun('waiting')];
    await log.recordAccepted(acceptedDelivery({ atMs: nowMs, runs: [ended] }));
    const cancel = { by: 'ada', atMs: nowMs };
    await log.cancelRun({ id: ended.id, cancel });
    await log.recordAccepted(acceptedDelivery({ atMs: nowMs, runs: [running] }));
    await log.claimRuns(claim);
    await log.cancelRun({ id: running.id, cancel });
    await log.recordAccepted(acceptedDelivery({ atMs: nowMs, runs: [waiting] }));
    const pause = { factory: 'default', by: 'ada', atMs: nowMs };
    const pauses = [
      { ...pause, automation: 'waiting' },
      { ...pause, automation: 'other', untilMs: nowMs + 9 },
    ];
    for (const one of pauses) await log.pauseAutomation(one);
    await log.close();
    await carry(from, to);
    const store = openAt(to);
    expect(await store.deliveries.listPauses({ nowMs })).toEqual(pauses);
    expect(await store.deliveries.findRun(ended.id)).toMatchObject({ state: 'cancelled', cancel });
    const other = await openLog(store);
    await other.requeueRunsOfOthers('daemon two');
    const { runs } = await other.claimRuns({ ...claim, daemonId: 'daemon two', places: { default: 9 } });
    expect(runs).toMatchObject([{ id: running.id, cancel }]);
  });

  test('is refused while a daemon or another transfer uses the store, and keeps daemons away', async () => {
    const place = makePlace();
    const store = openAt(place, { lockTimeoutMs: 1 });
    await whileTransferring(place, async () => {
      await expect(store.openTransfer()).rejects.toMatchObject({ code: 'locked' });
      await expect(store.claimDaemon()).rejects.toMatchObject({ code: 'locked' });
    });
    const claim = await store.claimDaemon();
    const log = await openLog(store);
    await log.claimRuns({ daemonId: 'daemon one', nowMs: sampleAtMs, places: { default: 1 } });
    await expect(openAt(place).openTransfer()).rejects.toMatchObject({ code: 'locked' });
    await log.close();
    await claim.release();
    await whileTransferring(place, async () => undefined);
  });
}

const position = (page: readonly { readonly position: number }[] | undefined) => page?.at(-1)?.position ?? 0;

async function whileTransferring(
  place: Place,
  work: (transfer: Awaited<ReturnType<Store['openTransfer']>>) => Promise<void>,
): Promise<void> {
  const transfer = await openAt(place).openTransfer();
  await work(transfer).finally(() => transfer.close());
}

async function readAll<Row extends { readonly position: number }>(
  { read }: { read(factory: string, after: number): Promise<Row[]> },
  factory: string,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let page = await read(factory, 0); page.length > 0; page = await read(factory, position(page))) {
    rows.push(...page);
  }
  return rows;
}

/** Records deliveries of several outcomes and days, and runs in every state, one of them with output. */
async function fill(place: Place) {
  const store = openAt(place);
  const log = await openLog(store);
  const runs = ['good', 'bad', 'long', 'next'].map(newRun);
  const headers = { 'x-event': 'a "b" é\u2028' };
  const accepted = acceptedDelivery({
    ...{ headers, contentDigest: 'content', runs, payload: Buffer.from([0xff, 0x00, 0x7b]) },
    ...{ atMs: Date.now(), identity: 'evt "1", {é} \\ \n' },
  });
  log.recordUnidentified(rejectedDelivery({ reason: 'the token is wrong' }));
  await log.recordUnlogged([unloggedCount({ count: 4 })]);
  await log.recordUnlogged([unloggedCount({ lastAtMs: sampleAtMs + 60_000 })]);
  await log.recordAccepted(accepted);
  await log.recordAccepted(acceptedDelivery({ identity: accepted.identity, atMs: Date.now() }));
  await log.recordAccepted(acceptedDelivery({ payload: Buffer.of(), verifiedWith: 'previous' }));
  await log.recordAccepted(acceptedDelivery({ payload: Buffer.from('a=1'), form: { payloadField: 'é' } }));
  await finishRuns(log);
  const [good] = runs;
  await writeOutput(store, good?.id ?? '', Buffer.from('done'));
  await writeOutput(store, good?.id ?? '', Buffer.from('done again'));
  const replay = { deliveryId: accepted.id, runs: [newRun('replayed')], nowMs: Date.now() };
  await log.replay({ ...replay, appliedState: { digest: 'digest two', json: '{}' } });
  await log.close();
  return { accepted };
}

/** The first run succeeds, the second fails, the third stays running, and the last one stays queued. */
async function finishRuns(log: DeliveryLog): Promise<void> {
  const { runs } = await log.claimRuns({ daemonId: 'daemon one', nowMs: Date.now(), places: { default: 3 } });
  const atMs = Date.now();
  for (const run of runs) {
    if (run.automation === 'good') await log.finishRun({ ...run, state: 'succeeded', atMs });
    if (run.automation === 'bad')
      await log.finishRun({ ...run, state: 'failed', atMs, error: 'exit status 1' });
  }
}

async function carry(fromPlace: Place, toPlace: Place): Promise<void> {
  await whileTransferring(fromPlace, from =>
    whileTransferring(toPlace, async to => {
      const snapshots = [];
      for (const digest of ['digest one', 'digest two']) {
        snapshots.push({ digest, json: (await from.readSnapshot(digest)) ?? '' });
      }
      const deliveries = await readAll(from.deliveries, 'default');
      await to.deliveries.write(deliveries, snapshots);
      const runs = await readAll(from.runs, 'default');
      await to.runs.write(runs, snapshots);
      const pauses = await readAll(from.pauses, 'default');
      await to.pauses.write(pauses, []);
      expect(await readAll(to.pauses, 'default')).toMatchObject(pauses.map(({ position: _, ...row }) => row));
      const unlogged = await readAll(from.unlogged, 'default');
      await to.unlogged.write(unlogged, []);
      const withoutPosition = <Row extends object>(rows: readonly Row[]) =>
        rows.map(row => ({ ...row, position: 0 }));
      const copied = await readAll(to.deliveries, 'default');
      expect(withoutPosition(copied)).toEqual(withoutPosition(deliveries));
      expect(withoutPosition(await readAll(to.runs, 'default'))).toEqual(withoutPosition(runs));
      expect(withoutPosition(await readAll(to.unlogged, 'default'))).toEqual(withoutPosition(unlogged));
      expect(await to.countIdentities()).toBe(await from.countIdentities());
    }),
  );
}

async function writeOutput({ runFiles }: Store, id: string, bytes: Uint8Array): Promise<void> {
  const event = { payload: Buffer.of(), headers: {} };
  await runFiles.prepare(id, 'message', event);
  const output = runFiles.appendOutput(id, 'attempt', bytes.length);
  await output.write(bytes);
  await output.close('succeeded');
}

async function readOutput({ runFiles }: Store, id: string): Promise<string | undefined> {
  const output = await runFiles.readOutput(id);
  return output && Buffer.concat(await output.stream.toArray()).toString();
}
