import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backUpStore } from '../../../../operations/stores/backup-store.ts';
import { openBackup } from '../../../../store/backup/open-backup.ts';
import { homeAt } from '../../../../store/home/home.ts';
import type { Seal } from '../../../../store/ports/seal.ts';
import { acceptedDelivery, newRun } from '../../../support/deliveries.ts';
import { storeIn } from '../../../support/stored.ts';

const options = { isWithoutPayloads: false, now: () => new Date(0), onRows: () => undefined };

/** A backup with rows of two factories, and everything that opens it. */
async function makeBackup() {
  const directory = mkdtempSync(join(tmpdir(), 'backup-'));
  const store = storeIn(homeAt(join(directory, 'home')));
  await store.teamSecrets.set('TOKEN', 'canary-value');
  const log = await store.openDeliveryLog();
  const payload = Buffer.from('canary-payload \u0000 \u{1f512}');
  const deliveries = [acceptedDelivery({ payload, runs: [newRun()] }), acceptedDelivery({ factory: 'b' })];
  for (const delivery of deliveries) await log.recordAccepted(delivery);
  await log.close();
  const file = join(directory, 'backup');
  const report = await backUpStore(store, file, options);
  return { directory, file, report, seal: store.seal, deliveries };
}

const open = async (file: string, seal: Seal) => {
  const backup = await openBackup(file, seal);
  await backup.close();
};

test('has what the store has, readable by its owner only, and nothing in the clear', async () => {
  const { directory, file, report, seal, deliveries } = await makeBackup();
  expect(report.isSame).toBe(true);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory).sort()).toEqual(['backup', 'home']);
  for (const text of ['canary', 'TOKEN', deliveries[0]?.id ?? '']) {
    expect(readFileSync(file).includes(text)).toBe(false);
  }
  const backup = await openBackup(file, seal);
  expect(await backup.listLoggedFactories()).toEqual(['b', 'default']);
  expect(backup.facts).toMatchObject({ createdAt: '1970-01-01T00:00:00.000Z', identities: 2 });
  const [row] = await backup.deliveries.read('default', 0);
  expect(row?.bytes && Buffer.from(row.bytes)).toEqual(deliveries[0]?.payload);
  expect(await backup.deliveries.read('default', row?.position ?? 0)).toEqual([]);
  await backup.close();
});

test('does not open with another key', async () => {
  const { directory, file } = await makeBackup();
  const other = storeIn(homeAt(join(directory, 'other')));
  await expect(open(file, other.seal)).rejects.toMatchObject({
    code: 'key',
    message: expect.stringMatching(/backup does not open with this key; use the key that the store had/),
  });
});

test('does not open once a byte of it is another', async () => {
  const { file, seal } = await makeBackup();
  const original = readFileSync(file);
  for (let index = 0; index < original.length; index += 5) {
    const changed = Buffer.from(original);
    changed[index] = (changed[index] ?? 0) ^ 0x80;
    writeFileSync(file, changed);
    await expect(open(file, seal), `byte ${index}`).rejects.toMatchObject({
      code: expect.stringMatching(/^(key|corrupt)$/),
    });
  }
});

test('does not open once it is cut off anywhere, or something follows it', async () => {
  const { file, seal } = await makeBackup();
  const original = readFileSync(file);
  const others = [Buffer.concat([original, Buffer.of(0)]), Buffer.concat([original, original])];
  for (let length = 0; length < original.length; length += 5) others.push(original.subarray(0, length));
  for (const other of others) {
    writeFileSync(file, other);
    await expect(open(file, seal), `${other.length} bytes`).rejects.toMatchObject({
      code: expect.stringMatching(/^(key|corrupt)$/),
    });
  }
});

test('does not open once its parts are in another order, one is missing or there twice', async () => {
  const { file, seal } = await makeBackup();
  const [head, ...chunks] = split(readFileSync(file));
  const [first, second, ...rest] = chunks as [Buffer, Buffer, ...Buffer[]];
  expect(rest.length).toBeGreaterThan(2);
  const others = [
    [second, first, ...rest],
    [second, ...rest],
    [first, first, second, ...rest],
    chunks.slice(0, -1),
  ];
  for (const other of others) {
    writeFileSync(file, Buffer.concat([head as Buffer, ...other]));
    await expect(open(file, seal)).rejects.toMatchObject({ code: 'corrupt' });
  }
  writeFileSync(file, Buffer.concat([head as Buffer, ...chunks]));
  await open(file, seal);
});

test('of a newer format is refused, and so is another file', async () => {
  const { file, seal } = await makeBackup();
  writeFileSync(file, readFileSync(file, 'latin1').replace('backup 6', 'backup 7'), 'latin1');
  await expect(open(file, seal)).rejects.toMatchObject({ code: 'newer-format' });
  writeFileSync(file, 'PK');
  await expect(open(file, seal)).rejects.toMatchObject({ code: 'corrupt' });
});

/** The head of a backup, and its chunks. */
function split(file: Buffer): Buffer[] {
  let start = file.indexOf('\n', file.indexOf('\n') + 1) + 1;
  const parts = [file.subarray(0, start)];
  while (start < file.length) {
    const end = start + 4 + file.readUInt32BE(start);
    parts.push(file.subarray(start, end));
    start = end;
  }
  return parts;
}
