import { closeSync, existsSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { expect, inject, test } from 'vitest';
import { checkLogFile, salvageLogFile } from '../../../../store/embedded/delivery-log/salvage.ts';
import { openDeliveryLog } from '../../../../store/embedded/delivery-log/write/open-delivery-log.ts';
import { homeAt } from '../../../../store/home/home.ts';
import { SqliteDatabase } from '../../../../store/home/sqlite.ts';
import { applyTriggered, readNewestRun } from '../../../support/apply-triggered.ts';
import { bearerOf, startDaemon } from '../../../support/daemon.ts';
import { acceptedDelivery } from '../../../support/deliveries.ts';
import { send } from '../../../support/http.ts';
import { readStore } from '../../../support/stored.ts';
import { openWebhookDaemon } from '../../../support/webhook-daemon.ts';
import { makeWorkspace, type Workspace } from '../../../support/workspace.ts';

const log = '.hookmill/deliveries.db';

/** A workspace whose home has a log of so many deliveries. */
async function withLog(count: number): Promise<Workspace> {
  const workspace = makeWorkspace();
  await workspace.hookmill('secrets', 'declare', 'TOKEN');
  const opened = await openDeliveryLog(workspace.path(log));
  for (let n = 0; n < count; n++) {
    const payload = Buffer.from(JSON.stringify({ n, text: 'x'.repeat(500) }));
    await opened.recordAccepted(acceptedDelivery({ payload }));
  }
  await opened.close();
  return workspace;
}

test('finds nothing wrong with a log that is intact, or that was never written', async () => {
  const workspace = makeWorkspace();
  await workspace.hookmill('secrets', 'declare', 'TOKEN');
  const intact = { exitCode: 0, stdout: 'The delivery log is intact.\n', stderr: '' };
  expect(await workspace.hookmill('deliveries', 'check')).toEqual(intact);
  const daemon = await openWebhookDaemon({ workspace });
  await (await daemon.webhook()).post('1');
  expect(await workspace.hookmill('deliveries', 'check')).toEqual(intact);
  await daemon.stop();
  expect(await workspace.hookmill('deliveries', 'check', '--salvage')).toEqual(intact);
  expect(existsSync(workspace.path(`${log}.damaged`))).toBe(false);
});

test('salvages every row outside a damaged page, and the daemon goes on with them', async () => {
  const workspace = makeWorkspace();
  const settings = { limits: { deliveriesPerMinute: 1_000_000 } };
  const daemon = await openWebhookDaemon({ workspace, settings });
  const webhook = await daemon.webhook();
  const sent = 300;
  for (let n = 0; n < sent; n++) await webhook.post(JSON.stringify({ n, text: 'x'.repeat(500) }));
  await daemon.stop();
  damageLeafPage(workspace.path(log), 'deliveries');

  const check = await workspace.hookmill('deliveries', 'check');
  expect(check.exitCode).toBe(1);
  expect(check.stdout).toMatch(/The delivery log is damaged\. .*`hookmill deliveries check --salvage`/);
  const salvage = await workspace.hookmill('deliveries', 'check', '--salvage', '--output', 'json');
  expect(salvage).toMatchObject({ exitCode: 0, stderr: '' });
  const { salvaged } = JSON.parse(salvage.stdout);
  expect(salvaged.damagedFile).toBe(workspace.path(`${log}.damaged`));
  expect(salvaged.deliveries).toBeGreaterThan(sent / 2);
  expect(salvaged.deliveries).toBeLessThan(sent);
  expect((await workspace.hookmill('deliveries', 'check')).exitCode).toBe(0);

  const next = await startDaemon({ workspace, settings });
  const [kept] = (await webhook.rows()).filter(({ outcome }) => outcome === 'Accepted');
  const body = Buffer.from((await webhook.payload(kept?.id ?? '')) ?? []);
  expect(body.toString()).toContain('xxx');
  const again = await send(`${next.ingressUrl}/webhooks/w/${webhook.uid}`, {
    headers: bearerOf(webhook.secret),
    body,
  });
  expect(again).toMatchObject({ status: 202, deliveryId: kept?.id });
  expect(await next.stop()).toBe(0);
});

test.for([0, 100])('salvages every row of a log whose first page is damaged from byte %i on', async from => {
  const workspace = await withLog(20);
  // With a write-ahead log, the page would be there too.
  const database = new SqliteDatabase(workspace.path(log));
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
  const bytes = readFileSync(workspace.path(log));
  writeFileSync(workspace.path(log), bytes.fill(0xff, from, 4_096));
  expect((await workspace.hookmill('deliveries', 'check')).exitCode).toBe(1);
  const salvage = await workspace.hookmill('deliveries', 'check', '--salvage');
  expect(salvage).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Salvaged 20 deliveries/) });
  expect((await workspace.hookmill('deliveries', 'check')).exitCode).toBe(0);
  expect(existsSync(workspace.path(`${log}.rebuilt`))).toBe(false);
  const rows = await readStore(homeAt(workspace.home), ({ deliveries }) =>
    deliveries.listDeliveries({ factory: 'default', limit: 100 }),
  );
  expect(rows).toHaveLength(20);
});

test.runIf(inject('isLong'))('salvages what is left of a log of which any one page is damaged', async () => {
  const workspace = await withLog(20);
  const file = workspace.path(log);
  const database = new SqliteDatabase(file);
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
  const intact = readFileSync(file);
  for (let page = 0; page < intact.length / 4_096; page++) {
    for (const fill of [0, 0xff]) {
      const name = `page-${page}-${fill}.db`;
      workspace.write(name, '');
      const damaged = Buffer.from(intact).fill(fill, page * 4_096, (page + 1) * 4_096);
      writeFileSync(workspace.path(name), damaged);
      const { deliveries } = await salvageLogFile(workspace.path(name));
      // The pages of a schema, or of a table of few rows, hide all that refer to them.
      expect(deliveries, `page ${page}`).toBeLessThanOrEqual(20);
      expect(checkLogFile(workspace.path(name)), `page ${page}`).toEqual([]);
    }
  }
});

test('leaves out, and counts, deliveries whose payload is not the one that was received', async () => {
  const workspace = makeWorkspace();
  const daemon = await openWebhookDaemon({ workspace });
  const webhook = await daemon.webhook();
  for (const letter of ['a', 'b', 'c', 'd']) await webhook.post(JSON.stringify(letter.repeat(500)));
  await daemon.stop();
  alterFile(workspace.path(log), 'b'.repeat(100), 'x'.repeat(100));

  const check = await workspace.hookmill('deliveries', 'check');
  expect(check).toMatchObject({
    exitCode: 1,
    stdout: expect.stringMatching(/^deliveries whose payload is not .*: 1$/m),
  });
  const salvage = await workspace.hookmill('deliveries', 'check', '--salvage');
  expect(salvage.stdout).toMatch(/^Salvaged 3 deliveries and 0 runs\. Left out, .*: 1\./);
  expect((await workspace.hookmill('deliveries', 'check')).exitCode).toBe(0);
  const bodies = await Promise.all((await webhook.rows()).map(({ id }) => webhook.payload(id)));
  expect(bodies.map(body => Buffer.from(body ?? []).toString('latin1', 1, 2))).toEqual(['d', 'c', 'a']);
});

test('leaves out automations that are not what was applied, so that no run gets another prompt', async () => {
  const workspace = makeWorkspace();
  const { uid, secret } = await applyTriggered(workspace, { act: { prompt: 'Look into it. '.repeat(20) } });
  const daemon = await openWebhookDaemon({ workspace });
  await send(`${daemon.ingressUrl}/webhooks/w/${uid}`, { headers: bearerOf(secret), body: '{}' });
  await daemon.stop();
  alterFile(workspace.path(log), 'Look into it. Look', 'Pay the man. Look ');

  const check = await workspace.hookmill('deliveries', 'check');
  expect(check).toMatchObject({
    exitCode: 1,
    stdout: expect.stringMatching(/^versions of automations that are not what was applied: 1$/m),
  });
  const salvage = await workspace.hookmill('deliveries', 'check', '--salvage');
  expect(salvage.stdout).toMatch(
    /^Salvaged 1 deliveries and 1 runs\. Versions of automations left out, .*: 1\./,
  );
  expect((await workspace.hookmill('deliveries', 'check')).exitCode).toBe(0);
  expect(await readNewestRun(workspace)).not.toHaveProperty('snapshot');
});

test('says what to do with a file of which nothing can be read', async () => {
  const workspace = makeWorkspace();
  workspace.write(log, 'x'.repeat(9_000));
  const { exitCode, stderr } = await workspace.hookmill('deliveries', 'check', '--salvage');
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /nothing of \S+deliveries\.db can be read; restore a backup, or move the file away to begin an empty log/,
  );
  expect(workspace.read(log)).toBe('x'.repeat(9_000));
});

test('refuses to salvage while the daemon runs', async () => {
  const workspace = await withLog(1);
  damageLeafPage(workspace.path(log), 'snapshots');
  const holder = new SqliteDatabase(workspace.path(`${log}.lock`));
  holder.exec('BEGIN EXCLUSIVE');
  const { exitCode, stderr } = await workspace.hookmill('deliveries', 'check', '--salvage');
  holder.close();
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/deliveries\.db is locked by /);
});

/** Overwrites bytes of the file as a disk may do: SQLite still reads the row. */
function alterFile(file: string, from: string, to: string): void {
  const database = new SqliteDatabase(file);
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
  const bytes = readFileSync(file);
  bytes.write(to, bytes.indexOf(from));
  writeFileSync(file, bytes);
}

/** Overwrites a page in the middle of a table: a leaf, or its root if it has only one page. */
function damageLeafPage(file: string, table: string): void {
  const database = new SqliteDatabase(file);
  const root = Number(database.prepareColumn('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table));
  const pageBytes = Number(database.pragma('page_size'));
  database.close();
  const fd = openSync(file, 'r+');
  const page = Buffer.alloc(pageBytes);
  readSync(fd, page, 0, pageBytes, (root - 1) * pageBytes);
  // A cell of an interior page (type 5) starts with the number of a child page: https://sqlite.org/fileformat.html
  const damaged = page[0] === 5 ? page.readUInt32BE(page.readUInt16BE(12)) : root;
  writeSync(fd, Buffer.alloc(pageBytes, 0xff), 0, pageBytes, (damaged - 1) * pageBytes);
  closeSync(fd);
}
