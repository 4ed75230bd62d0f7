import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { bodyBytesMax } from '../../../../daemon/settings.ts';
import { openDeliveryLog } from '../../../../store/embedded/delivery-log/write/open-delivery-log.ts';
import { acceptedDelivery, newRun, rejectedDelivery } from '../../../support/deliveries.ts';
import { openLog, openLogAndReader, openReader, temporaryFile } from './delivery-log-samples.ts';

test('keeps an accepted delivery with all that is known of it', async () => {
  const { log, reader } = await openLogAndReader();
  const delivery = acceptedDelivery();
  expect(await log.recordAccepted(delivery)).toEqual({ id: delivery.id });
  const { payload, appliedState, runs, ...metadata } = delivery;
  expect(reader.findDelivery(delivery.id)).toEqual({
    ...metadata,
    outcome: 'Accepted',
    snapshot: appliedState?.digest,
  });
});

test('keeps the exact bytes of each payload of a batch', async () => {
  const { log, reader } = await openLogAndReader();
  const payloads = [
    Buffer.from('{}'),
    Buffer.from('0'),
    Buffer.from([0xff, 0xfe, 0x00, 0xed, 0xa0, 0x80]),
    randomBytes(1_000),
    Buffer.from('"\u0000"'),
    randomBytes(bodyBytesMax),
    new Uint8Array(randomBytes(3_000).buffer, 17, 100),
  ];
  const deliveries = payloads.map(payload => acceptedDelivery({ payload }));
  await Promise.all(deliveries.map(delivery => log.recordAccepted(delivery)));
  expect(log.stats().commits).toBe(1);
  for (const { id, payload } of deliveries) {
    expect(Buffer.compare(reader.readPayload(id) ?? Buffer.of(), payload)).toBe(0);
    expect(Buffer.compare((await log.readPayload(id)) ?? Buffer.of(), payload)).toBe(0);
  }
});

test('keeps metadata alone of a rejected delivery, in the order of arrival', async () => {
  const { log, reader } = await openLogAndReader();
  const rejected = rejectedDelivery({ outcome: 'Rejected (invalid JSON)', reason: 'unexpected end' });
  const accepted = acceptedDelivery();
  expect(log.recordUnidentified(rejected)).toBe(true);
  await log.recordAccepted(accepted);
  expect(reader.listDeliveries({ factory: 'default', limit: 9 }).map(({ id }) => id)).toEqual([
    accepted.id,
    rejected.id,
  ]);
  expect(reader.findDelivery(rejected.id)).toEqual(rejected);
  expect(reader.readPayload(rejected.id)).toBeUndefined();
});

test('answers the original to a duplicate, within one batch, in a later one and after reopening', async () => {
  const file = temporaryFile();
  const sameEvent = () => acceptedDelivery({ identity: 'evt_1', runs: [newRun()] });
  const original = sameEvent();
  const duplicateOf = original.id;
  const log = await openLog(file);
  const together = await Promise.all([log.recordAccepted(original), log.recordAccepted(sameEvent())]);
  expect(log.stats().commits).toBe(1);
  const later = await log.recordAccepted(sameEvent());
  await log.close();
  const reopened = await (await openLog(file)).recordAccepted(sameEvent());
  expect([...together, later, reopened].map(recorded => recorded.duplicateOf)).toEqual([
    undefined,
    duplicateOf,
    duplicateOf,
    duplicateOf,
  ]);

  const reader = openReader(file);
  const rows = reader.listDeliveries({ factory: 'default', limit: 9 });
  expect(rows.map(row => [row.id, row.outcome, row.duplicateOf])).toEqual([
    [reopened.id, 'Duplicate', duplicateOf],
    [later.id, 'Duplicate', duplicateOf],
    [together[1].id, 'Duplicate', duplicateOf],
    [original.id, 'Accepted', undefined],
  ]);
  expect(rows.map(row => reader.readPayload(row.id) !== undefined)).toEqual([false, false, false, true]);
  expect(reader.listRuns({ factory: 'default', limit: 9 }).map(run => run.deliveryId)).toEqual([original.id]);
});

test('takes an identity once for each webhook', async () => {
  const log = await openLog();
  const here = acceptedDelivery({ identity: 'evt_1' });
  const there = acceptedDelivery({ identity: 'evt_1', uid: 'wh_00000000000000000000other' });
  expect(await log.recordAccepted(here)).toEqual({ id: here.id });
  expect(await log.recordAccepted(there)).toEqual({ id: there.id });
});

test('keeps each text of the automations once, whatever the order of deliveries, factories and failures', async () => {
  const { file, log, reader } = await openLogAndReader();
  const one = { digest: 'one', json: '{"n":1}' };
  const two = { digest: 'two', json: '{"n":2}' };
  const order = [one, two, one, one, two].map(appliedState => acceptedDelivery({ appliedState }));
  const elsewhere = acceptedDelivery({ factory: 'other', appliedState: two });
  await Promise.all([...order.slice(0, 3), elsewhere].map(delivery => log.recordAccepted(delivery)));
  await Promise.all(order.slice(3).map(delivery => log.recordAccepted(delivery)));
  expect(order.map(({ id }) => reader.findDelivery(id)?.snapshot)).toEqual([
    'one',
    'two',
    'one',
    'one',
    'two',
  ]);
  expect(reader.readSnapshot('two')).toBe(two.json);
  expect(await log.readSnapshot('one')).toBe(one.json);
  const database = new Database(file, { readonly: true });
  expect(database.prepare('SELECT count(*) FROM snapshots').pluck().get()).toBe(2);
  database.close();
});

test('commits what arrives together at once, and no more than fits one transaction', async () => {
  const log = await openLog();
  await Promise.all(Array.from({ length: 100 }, () => log.recordAccepted(acceptedDelivery())));
  expect(log.stats()).toMatchObject({ committed: 100, commits: 1, waiting: 0, waitingBytes: 0 });
  await Promise.all(Array.from({ length: 2_500 }, () => log.recordAccepted(acceptedDelivery())));
  expect(log.stats()).toMatchObject({ committed: 2_600, commits: 4 });
  const payload = randomBytes(3 * 1024 * 1024);
  await Promise.all(Array.from({ length: 5 }, () => log.recordAccepted(acceptedDelivery({ payload }))));
  expect(log.stats()).toMatchObject({ committed: 2_605, commits: 7 });
});

test('refuses at once what is past the number that may wait, and takes more when it has committed', async () => {
  const log = await openLog(undefined, { deliveriesWaitingMax: 2 });
  const waiting = [log.recordAccepted(acceptedDelivery()), log.recordAccepted(acceptedDelivery())];
  const refused = expect(log.recordAccepted(acceptedDelivery())).rejects.toMatchObject({ code: 'full' });
  expect(log.recordUnidentified(rejectedDelivery())).toBe(false);
  expect(log.stats()).toMatchObject({ committed: 0, waiting: 2, refusedFull: 1, droppedRejections: 1 });
  await refused;
  await Promise.all(waiting);
  await log.recordAccepted(acceptedDelivery());
  expect(log.recordUnidentified(rejectedDelivery())).toBe(true);
});

test('refuses at once what is past the bytes that may wait', async () => {
  const log = await openLog(undefined, { deliveryBytesWaitingMax: 1_000 });
  const payload = randomBytes(600);
  const first = log.recordAccepted(acceptedDelivery({ payload }));
  await expect(log.recordAccepted(acceptedDelivery({ payload }))).rejects.toMatchObject({ code: 'full' });
  await first;
  await log.recordAccepted(acceptedDelivery({ payload }));
});

test('commits what waits before it closes, then refuses', async () => {
  const file = temporaryFile();
  const log = await openLog(file);
  const deliveries = Array.from({ length: 1_500 }, () => acceptedDelivery());
  const recorded = Promise.all(deliveries.map(delivery => log.recordAccepted(delivery)));
  const rejected = rejectedDelivery();
  log.recordUnidentified(rejected);
  await log.close();
  await recorded;
  await expect(log.recordAccepted(acceptedDelivery())).rejects.toMatchObject({ code: 'closed' });
  await expect(log.claimRuns({ daemonId: 'd', nowMs: 0, limit: 1 })).rejects.toMatchObject({
    code: 'closed',
  });
  expect(log.recordUnidentified(rejectedDelivery())).toBe(false);
  await log.close();
  expect(existsSync(`${file}-wal`)).toBe(false);
  const reader = openReader(file);
  expect(reader.listDeliveries({ factory: 'default', limit: 2_000 })).toHaveLength(1_501);
  expect(reader.findDelivery(rejected.id)).toBeDefined();
});

test('makes files that none but their owner can read', async () => {
  const { file, log } = await openLogAndReader();
  await log.recordAccepted(acceptedDelivery());
  for (const each of [file, `${file}-wal`, `${file}-shm`]) expect(statSync(each).mode & 0o777).toBe(0o600);
});

test('leaves a file from a newer version untouched, for writing and for reading', async () => {
  const file = temporaryFile();
  const newer = new Database(file);
  newer.pragma('journal_mode = WAL');
  newer.pragma('user_version = 99');
  newer.close();
  const before = readFileSync(file);
  await expect(openDeliveryLog(file)).rejects.toMatchObject({ code: 'version', message: /format 99/ });
  expect(() => openReader(file)).toThrow(/format 99/);
  expect(readFileSync(file).equals(before)).toBe(true);
});

test('says which file does not open', async () => {
  const missing = join(temporaryFile(), 'missing', 'deliveries.db');
  await expect(openDeliveryLog(missing)).rejects.toThrow(missing);
});

test('several processes may open a new file at the same time', async () => {
  const file = temporaryFile();
  const logs = await Promise.all(Array.from({ length: 6 }, () => openLog(file)));
  await Promise.all(logs.map(log => log.recordAccepted(acceptedDelivery())));
  expect(openReader(file).listDeliveries({ factory: 'default', limit: 9 })).toHaveLength(6);
});
