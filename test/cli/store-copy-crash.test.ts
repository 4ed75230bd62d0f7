import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import type { ResultPromise } from 'execa';
import { beforeAll, expect, inject, test } from 'vitest';
import type { CopyReport } from '../../operations/copy-store.ts';
import { webhooksMax } from '../../schema/factory-size.ts';
import { createSortableId, sortableIdRandomBytes } from '../../schema/ids.ts';
import { openSqliteReader } from '../../store/embedded/delivery-log/read/reader.ts';
import { homeAt } from '../../store/embedded/files/home.ts';
import { rowsPerPageMax, type TransferDelivery, type TransferRun } from '../../store/transfer.ts';
import { eventually } from '../support/eventually.ts';
import { query, usePostgres } from '../support/postgres.ts';
import { storeIn } from '../support/stored.ts';
import { testLimitMs } from '../support/test-limit.ts';
import { makeWorkspace } from '../support/workspace.ts';

const isLong = inject('isLong');
const count = isLong ? 1_000_000 : 20_000;
const timeout = isLong ? 1_800_000 : testLimitMs;
const dayMs = 24 * 60 * 60 * 1000;
const server = usePostgres(['max_wal_size = 4GB']);
/** No test changes its home. */
const workspace = makeWorkspace();
beforeAll(makeLargeHome, timeout);

test('copies a home to PostgreSQL and back, killed in the middle both times: nothing is missing or there twice', {
  timeout,
}, async () => {
  const url = await server.createDatabase();
  const env = { HOOKMILL_STORE: url, HOOKMILL_KEY: randomBytes(32).toString('base64') };
  const start = (from: string, to: string) =>
    workspace.start(['store', 'copy', '--from', from, '--to', to, '-o', 'json'], { env });

  const countThere = async () => {
    const { rows } = await query(url, "SELECT to_regclass('hookmill.deliveries') AS table");
    if (!rows[0].table) return 0;
    return Number((await query(url, 'SELECT count(*) FROM hookmill.deliveries')).rows[0].count);
  };
  await killOnce(start('.hookmill', 'postgres'), async () => (await countThere()) > count / 10);
  const copiedBefore = await countThere();
  expect(copiedBefore).toBeLessThan(count);
  await finish('to PostgreSQL', start('.hookmill', 'postgres'), count - copiedBefore);
  expect(await countThere()).toBe(count);

  const file = homeAt(workspace.path('back')).deliveryLogFile;
  const countBack = (limit = count) => {
    if (!existsSync(file)) return 0;
    const reader = openSqliteReader(file);
    const rows = reader.listDeliveries({ factory: 'default', limit });
    reader.close();
    return rows.length;
  };
  await killOnce(start('postgres', 'back'), async () => countBack(1) > 0);
  expect(countBack()).toBeLessThan(count);
  await finish('back to a home', start('postgres', 'back'), count - countBack());
  expect(countBack()).toBe(count);
});

test('a backup that is killed leaves nothing under its name, and a restore that is killed goes on', {
  timeout,
}, async () => {
  const url = await server.createDatabase();
  const env = { HOOKMILL_KEY: workspace.read('.hookmill/key').trim() };
  const backUp = () => workspace.start(['store', 'backup', 'the-backup', '-o', 'json']);
  const sizeWritten = () =>
    Math.max(0, ...readdirSync(workspace.directory).map(name => statSync(workspace.path(name)).size));
  await killOnce(backUp(), async () => sizeWritten() > count * 100);
  expect(existsSync(workspace.path('the-backup'))).toBe(false);
  await finish('to a backup', backUp(), count);

  const restore = () =>
    workspace.start(['store', 'restore', 'the-backup', '-o', 'json'], {
      env: { ...env, HOOKMILL_STORE: url },
    });
  const countRestored = async (table: string) => {
    const { rows } = await query(url, `SELECT to_regclass('hookmill.${table}') AS table`);
    if (!rows[0].table) return 0;
    return Number((await query(url, `SELECT count(*) FROM hookmill.${table}`)).rows[0].count);
  };
  await killOnce(restore(), async () => (await countRestored('deliveries')) > count / 10);
  expect(await countRestored('documents')).toBe(0);
  const restored = await countRestored('deliveries');
  expect(restored).toBeLessThan(count);
  await finish('from a backup', restore(), count - restored);
  expect(await countRestored('deliveries')).toBe(count);
});

/** Kills the copy as soon as it has copied enough. */
async function killOnce(copy: ResultPromise, isEnough: () => Promise<boolean>): Promise<void> {
  await eventually(isEnough);
  copy.kill('SIGKILL');
  expect(await copy).toMatchObject({ signal: 'SIGKILL' });
}

/** Waits until the copy ends, and says how long it took. */
async function finish(where: string, copy: ResultPromise, deliveries: number): Promise<void> {
  const startMs = performance.now();
  let memory = '';
  const timer = setInterval(() => {
    memory = /VmHWM:\s*(.*)/.exec(readStatus(copy.pid))?.[1] ?? memory;
  }, 1_000);
  const { stdout, stderr, exitCode } = await copy;
  clearInterval(timer);
  expect({ stderr, exitCode }).toMatchObject({ exitCode: 0 });
  const { isSame, parts }: CopyReport = JSON.parse(String(stdout));
  expect(isSame).toBe(true);
  expect(parts.find(({ part }) => part === 'deliveries')?.to.count).toBe(count);
  const seconds = Math.round((performance.now() - startMs) / 1_000);
  if (isLong) console.log(`${deliveries} deliveries ${where}: ${seconds} s, at most ${memory}`);
}

function readStatus(pid: number | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

/** A home with as many webhooks as a factory may have, and deliveries of the last 30 days; each tenth has a run. */
async function makeLargeHome(): Promise<void> {
  await workspace.hookmill('secrets', 'generate', 'SHARED');
  const names = Array.from({ length: webhooksMax }, (_, index) => `hook-${index}`);
  for (const name of names) workspace.write(`webhooks/${name}.yaml`, 'secretName: SHARED\n');
  expect(await workspace.hookmill('apply', '--yes')).toMatchObject({ exitCode: 0 });
  const store = storeIn(homeAt(workspace.home));
  const { webhooks } = await store.appliedStates.read('default');
  const transfer = await store.openTransfer();
  const startMs = Date.now() - 30 * dayMs;
  const snapshots = [{ digest: 'a digest', json: '{"automations":[]}' }];
  for (let from = 0; from < count; from += rowsPerPageMax) {
    const page = Array.from({ length: rowsPerPageMax }, (_, index) => {
      const webhook = webhooks[(from + index) % webhooks.length] as (typeof webhooks)[number];
      return makeDelivery(webhook, startMs + ((from + index) / count) * 30 * dayMs);
    });
    await transfer.deliveries.write(page, snapshots);
    const accepted = page.filter(({ outcome }, index) => outcome === 'Accepted' && index % 10 === 0);
    await transfer.runs.write(accepted.map(makeRun), snapshots);
  }
  await transfer.close();
  await store.close();
}

function makeDelivery(
  { name, uid }: { readonly name: string; readonly uid: string },
  time: number,
): TransferDelivery {
  const atMs = Math.floor(time);
  const id = createSortableId('dlv', atMs, randomBytes(sortableIdRandomBytes));
  const [isRejected, text] = [Math.random() < 0.1, randomBytes(400).toString('hex')];
  const bytes = Buffer.from(JSON.stringify({ id, text }));
  const facts = { position: 0, id, factory: 'default', webhook: name, uid, atMs, size: bytes.length };
  const none = { identity: null, identitySource: null, contentDigest: null, authenticatedBy: null };
  const rest = { reason: null, duplicateOf: null, headers: null, snapshot: 'a digest', bytes: null };
  if (isRejected) return { ...facts, ...none, ...rest, outcome: 'Rejected (auth)', reason: 'wrong token' };
  const identified = { identity: id, identitySource: 'body', authenticatedBy: 'token', contentDigest: null };
  const headers = '{"content-type":"application/json"}';
  return { ...facts, ...rest, ...identified, headers, bytes, outcome: 'Accepted' };
}

function makeRun({ id, factory, webhook, atMs, snapshot }: TransferDelivery, index: number): TransferRun {
  return {
    ...{ position: 0, factory, webhook, snapshot, deliveryId: id, deliveryAtMs: atMs, automation: 'triage' },
    id: createSortableId('run', atMs, randomBytes(sortableIdRandomBytes)),
    ...{
      replay: false,
      manual: false,
      state: 'succeeded',
      attempts: 1,
      claims: 1,
      notBeforeMs: atMs,
      createdAtMs: atMs,
    },
    ...{
      startedAtMs: atMs,
      finishedAtMs: atMs + 5,
      claimedBy: null,
      error: null,
      waitsUntilMs: null,
      report: null,
    },
    ...{ flow: null, stopped: false, dismissed: false, taken: null },
    bytes: index % 100 === 0 ? Buffer.from('done') : null,
  };
}
