import { closeSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { SqliteDatabase } from '../../../../../store/home/sqlite.ts';
import type { AcceptedDelivery, DeliveryLog } from '../../../../../store/ports/delivery-log.ts';
import { acceptedDelivery, newRun, rejectedDelivery } from '../../../../support/deliveries.ts';
import { mountSmallDisk } from '../../../../support/small-disk.ts';
import { openLog, openReader, temporaryFile } from './delivery-log-samples.ts';

test('a row that cannot be written fails its whole batch and no other, whichever row it is', async () => {
  const file = temporaryFile();
  const log = await openLog(file);
  const faults = injectFaults(file);
  const appliedState = { digest: 'new text', json: '{}' };
  const batch = Array.from({ length: 3 }, () =>
    acceptedDelivery({ webhook: 'new', runs: [newRun(), newRun()], appliedState }),
  );
  // Three deliveries of three rows each, their series, and the text of the automations with the number of its uses.
  const rows = 3 * 3 + 1 + 2;
  for (let nth = 1; nth <= rows; nth++) {
    faults.failRow(nth);
    expect(await outcomesOf(log, batch)).toEqual(['failed', 'failed', 'failed']);
    const reader = openReader(file);
    for (const { id } of batch) expect(reader.findDelivery(id)).toBeUndefined();
    expect(reader.readSnapshot('new text')).toBeUndefined();
    faults.failRow(0);
    const after = acceptedDelivery();
    expect(await log.recordAccepted(after)).toEqual({ id: after.id });
  }
  faults.failRow(rows + 1);
  expect(await outcomesOf(log, batch)).toEqual(batch.map(({ id }) => id));
  expect(faults.unrelatedRows()).toBe(0);
  expect(log.stats()).toMatchObject({ waiting: 0, waitingBytes: 0 });
});

test('a commit that fails at its very end records nothing', async () => {
  const file = temporaryFile();
  const log = await openLog(file);
  const faults = injectFaults(file);
  const batch = [acceptedDelivery({ runs: [newRun()] }), acceptedDelivery()];
  faults.failCommits(true);
  log.recordUnidentified(rejectedDelivery());
  expect(await outcomesOf(log, batch)).toEqual(['failed', 'failed']);
  expect(openReader(file).listDeliveries({ factory: 'default', limit: 9 })).toEqual([]);
  expect(log.stats()).toMatchObject({ failedCommits: 1, droppedRejections: 1 });
  faults.failCommits(false);
  expect(await outcomesOf(log, batch)).toEqual(batch.map(({ id }) => id));
});

test('if a batch fails, the one that waits for its end is still recorded', async () => {
  const file = temporaryFile();
  const log = await openLog(file);
  const faults = injectFaults(file);
  faults.failRow(5);
  const other = new SqliteDatabase(file);
  other.exec('BEGIN IMMEDIATE');
  const appliedState = { digest: 'new text', json: '{}' };
  const first = Array.from({ length: 3 }, () => acceptedDelivery({ appliedState }));
  const second = [acceptedDelivery({ appliedState })];
  const outcomes = [outcomesOf(log, first)];
  await setImmediate();
  outcomes.push(outcomesOf(log, second));
  await setImmediate();
  other.exec('COMMIT');
  other.close();
  expect(await Promise.all(outcomes)).toEqual([['failed', 'failed', 'failed'], second.map(({ id }) => id)]);
  const listed = openReader(file).listDeliveries({ factory: 'default', limit: 9 });
  expect(listed.map(({ id, snapshot }) => [id, snapshot])).toEqual([[second[0]?.id, 'new text']]);
});

test('a failed commit gives no run away', async () => {
  const file = temporaryFile();
  const log = await openLog(file);
  const claim = { daemonId: 'd', nowMs: 1_750_000_000_000, places: { default: 9 } };
  await log.recordAccepted(acceptedDelivery({ runs: [newRun()] }));
  const faults = injectFaults(file);
  faults.failCommits(true);
  const outcomes = Promise.all([
    outcomesOf(log, [acceptedDelivery()]),
    log.claimRuns(claim).catch(error => error),
  ]);
  expect(await outcomes).toMatchObject([['failed'], { code: 'failed' }]);
  faults.failCommits(false);
  expect((await log.claimRuns(claim)).runs).toMatchObject([{ attempts: 1 }]);
});

test('waits while another process writes', async () => {
  const file = temporaryFile();
  const log = await openLog(file);
  const other = new SqliteDatabase(file);
  other.exec('BEGIN IMMEDIATE');
  const delivery = acceptedDelivery();
  let settled = false;
  const recorded = log.recordAccepted(delivery).finally(() => {
    settled = true;
  });
  // However many turns pass, nothing can be committed before the other lets go.
  for (let turn = 0; turn < 100; turn++) await setImmediate();
  expect(settled).toBe(false);
  other.exec('COMMIT');
  other.close();
  expect(await recorded).toEqual({ id: delivery.id });
});

test('refuses a delivery whose commit takes too long, and knows it if the commit succeeds after all', async () => {
  // The test says when the log looks for such deliveries: soon, because the thread does not wait long for the other process.
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const file = temporaryFile();
  const log = await openLog(file, { commitWaitMs: 1 });
  const other = new SqliteDatabase(file);
  other.exec('BEGIN IMMEDIATE');
  const [sent, next, queued] = [acceptedDelivery(), acceptedDelivery(), acceptedDelivery()];
  const outcomes = [outcomesOf(log, [sent])];
  // In the next turn, the first is on its way to the disk; those of later turns wait for its end.
  await setImmediate();
  outcomes.push(outcomesOf(log, [next]));
  await setImmediate();
  outcomes.push(outcomesOf(log, [queued]));
  const lateMs = performance.now() + 2;
  while (performance.now() < lateMs) await setImmediate();
  vi.advanceTimersToNextTimer();
  expect(await Promise.all(outcomes)).toEqual([['late'], ['late'], ['late']]);
  other.exec('COMMIT');
  other.close();
  // Two senders try again, under new ids.
  const [again, fresh] = [
    { ...sent, id: newRun().id },
    { ...queued, id: newRun().id },
  ];
  await expect
    .poll(() => log.recordAccepted(again).catch(() => undefined))
    .toMatchObject({ duplicateOf: sent.id });
  await expect.poll(() => log.recordAccepted(fresh).catch(() => undefined)).toEqual({ id: fresh.id });
  expect(log.stats()).toMatchObject({ waiting: 0, waitingBytes: 0 });
});

test('says without any delivery that the log is locked, and that it can be written again', async () => {
  const file = temporaryFile();
  const log = await openLog(file);
  expect(log.describeTrouble()).toBeUndefined();
  const other = new SqliteDatabase(file);
  other.exec('BEGIN IMMEDIATE');
  await expect.poll(() => log.describeTrouble()).toMatch(/another process/);
  await expect
    .poll(() => log.describeTrouble())
    .toMatch(/deliveries\.db cannot be written \(database is locked\)/);
  other.exec('COMMIT');
  other.close();
  await expect.poll(() => log.describeTrouble()).toBeUndefined();
  expect(log.stats()).toMatchObject({ committed: 0, commits: 0 });
});

test.each<[string, (file: string) => void]>([
  ['removed', file => rmSync(file)],
  ['replaced', file => replace(file)],
  ['separated from its write-ahead log', file => rmSync(`${file}-wal`)],
])('reports nothing recorded once the file was %s, and ends', async (_, harm) => {
  const file = temporaryFile();
  const fatal = Promise.withResolvers<Error>();
  const log = await openLog(file, { onFatal: fatal.resolve });
  await log.recordAccepted(acceptedDelivery());
  harm(file);
  expect(await outcomesOf(log, [acceptedDelivery(), acceptedDelivery()])).toEqual(['closed', 'closed']);
  expect(await fatal.promise).toMatchObject({ code: 'replaced', message: expect.stringContaining(file) });
  await expect(log.recordAccepted(acceptedDelivery())).rejects.toMatchObject({ code: 'closed' });
});

test.each(['deliveries', 'series'])(
  'ends when the pages of its %s are damaged, and says what to do',
  async table => {
    const file = temporaryFile();
    const first = await openLog(file);
    await first.recordAccepted(acceptedDelivery());
    await first.close();
    damageRootPage(file, table);
    const fatal = Promise.withResolvers<Error>();
    const log = await openLog(file, { onFatal: fatal.resolve });
    expect(await outcomesOf(log, [acceptedDelivery()])).toEqual(['closed']);
    expect(await fatal.promise).toMatchObject({
      code: 'damaged',
      message: expect.stringContaining('hookmill deliveries check'),
    });
  },
);

test('does not open a file that is no delivery log, and says what to do', async () => {
  const file = temporaryFile();
  writeFileSync(file, 'x'.repeat(10_000));
  await expect(openLog(file)).rejects.toMatchObject({
    code: 'damaged',
    message: expect.stringContaining('hookmill deliveries check'),
  });
});

test('a thread that dies rejects all that waits and is reported', async () => {
  const workers: Worker[] = [];
  const remember = (worker: Worker) => workers.push(worker);
  process.on('worker', remember);
  onTestFinished(() => {
    process.off('worker', remember);
  });
  const fatal = Promise.withResolvers<Error>();
  const log = await openLog(undefined, { onFatal: fatal.resolve });
  const waiting = outcomesOf(log, [acceptedDelivery(), acceptedDelivery()]);
  const claim = log.claimRuns({ daemonId: 'd', nowMs: 0, places: { default: 1 } }).catch(error => error.code);
  await Promise.all(workers.map(worker => worker.terminate()));
  expect(await waiting).toEqual(['closed', 'closed']);
  expect(await claim).toBe('closed');
  expect(await fatal.promise).toBeInstanceOf(Error);
  await expect(log.recordAccepted(acceptedDelivery())).rejects.toMatchObject({ code: 'closed' });
  await log.close();
});

test('a full disk fails what does not fit; it records again when there is space', async ({ skip }) => {
  const directory = dirname(temporaryFile());
  if (!mountSmallDisk(directory, '8m')) return skip('needs the right to mount a tmpfs');
  const ballast = join(directory, 'ballast');
  const file = join(directory, 'deliveries.db');
  writeFileSync(ballast, Buffer.alloc(4 * 1024 * 1024));
  const log = await openLog(file);
  const recorded: AcceptedDelivery[] = [];
  let outcome: string | undefined;
  while (outcome !== 'failed') {
    const delivery = acceptedDelivery({ payload: Buffer.alloc(200_000, recorded.length) });
    [outcome] = await outcomesOf(log, [delivery]);
    if (outcome === delivery.id) recorded.push(delivery);
  }
  expect(recorded.length).toBeGreaterThan(3);
  rmSync(ballast);
  const later = acceptedDelivery({ payload: Buffer.alloc(200_000) });
  expect(await outcomesOf(log, [later])).toEqual([later.id]);
  await log.close();
  const reader = openReader(file);
  expect(reader.listDeliveries({ factory: 'default', limit: 99 })).toHaveLength(recorded.length + 1);
  for (const { id, payload } of recorded)
    expect(Buffer.compare(reader.readPayload(id) ?? Buffer.of(), payload)).toBe(0);
});

/** Each delivery's id, or the code of the error in its place. */
function outcomesOf(log: DeliveryLog, deliveries: readonly AcceptedDelivery[]): Promise<string[]> {
  return Promise.all(
    deliveries.map(delivery =>
      log.recordAccepted(delivery).then(
        ({ id }) => id,
        error => error.code,
      ),
    ),
  );
}

/** Makes SQLite itself fail, by triggers from another connection. */
function injectFaults(file: string) {
  const database = new SqliteDatabase(file);
  onTestFinished(() => {
    database.close();
  });
  database.exec(`
    CREATE TABLE faults (rows_until_failure INTEGER, fail_commits INTEGER);
    INSERT INTO faults VALUES (0, 0);
    CREATE TABLE dangling (delivery INTEGER REFERENCES deliveries DEFERRABLE INITIALLY DEFERRED);
    CREATE TRIGGER fail_commit AFTER INSERT ON deliveries WHEN (SELECT fail_commits FROM faults)
      BEGIN INSERT INTO dangling VALUES (-1); END;`);
  for (const table of ['snapshots', 'snapshot_uses', 'series', 'deliveries', 'runs']) {
    database.exec(`
      CREATE TRIGGER fail_${table} AFTER INSERT ON ${table} BEGIN
        UPDATE faults SET rows_until_failure = rows_until_failure - 1;
        SELECT RAISE(ABORT, 'injected') WHERE (SELECT rows_until_failure FROM faults) = 0;
      END;`);
  }
  return {
    /** From now on the nth row fails, until it is set again: a rollback takes back the countdown as well. */
    failRow: (nth: number) => database.prepare('UPDATE faults SET rows_until_failure = ?').run(nth),
    failCommits: (fail: boolean) => database.prepare('UPDATE faults SET fail_commits = ?').run(Number(fail)),
    /** Runs without their delivery. */
    unrelatedRows: () =>
      database
        .prepareColumn('SELECT count(*) FROM runs WHERE delivery NOT IN (SELECT seq FROM deliveries)')
        .get(),
  };
}

function replace(file: string): void {
  writeFileSync(`${file}.new`, '');
  renameSync(`${file}.new`, file);
}

function damageRootPage(file: string, table: string): void {
  const database = new SqliteDatabase(file);
  const root = database.prepareColumn('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table);
  const pageBytes = Number(database.pragma('page_size'));
  database.close();
  const fd = openSync(file, 'r+');
  writeSync(fd, Buffer.alloc(pageBytes, 0xff), 0, pageBytes, (Number(root) - 1) * pageBytes);
  closeSync(fd);
}
