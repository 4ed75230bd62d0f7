import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { ResultPromise } from 'execa';
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import type { CopyReport } from '../../../../operations/stores/copy-store.ts';
import { webhooksMax } from '../../../../schema/factory-size.ts';
import { createSortableId, sortableIdRandomBytes } from '../../../../schema/ids.ts';
import { homeAt } from '../../../../store/home/home.ts';
import { SqliteDatabase } from '../../../../store/home/sqlite.ts';
import { rowsPerPageMax, type TransferDelivery, type TransferRun } from '../../../../store/ports/transfer.ts';
import { eventually } from '../../../support/eventually.ts';
import { query, useOwnPostgres } from '../../../support/postgres.ts';
import { storeIn } from '../../../support/stored.ts';
import { testLimitMs } from '../../../support/test-limit.ts';
import { startUnserved } from '../../../support/unserved-daemon.ts';
import { makeWorkspace } from '../../../support/workspace.ts';

const isLong = inject('isLong');
const count = isLong ? 1_000_000 : 3 * rowsPerPageMax;
const timeout = isLong ? 1_800_000 : testLimitMs;
/** Each day has a partition in PostgreSQL. */
const days = isLong ? 30 : 3;
const dayMs = 24 * 60 * 60 * 1000;
/** More than the first page of deliveries, and less than all of them, whether their bytes are sent as they are or in hex. */
const bytesHeld = count * 700;
const server = useOwnPostgres(['max_wal_size = 4GB']);
/** No test changes its home. */
const workspace = makeWorkspace();
beforeAll(makeLargeHome, timeout);

test('copies a home to PostgreSQL and back, and to a backup and back, killed in the middle each time', {
  timeout,
}, async () => {
  const [url, urlOfRestored] = [await server.createDatabase(), await server.createDatabase()];
  const HOOKMILL_KEY = randomBytes(32).toString('base64');
  const startAt = (HOOKMILL_STORE: string, ...args: string[]) =>
    workspace.start(['store', ...args, '-o', 'json'], { env: { HOOKMILL_STORE, HOOKMILL_KEY } });

  const copyThere = (at: string) => startAt(at, 'copy', '--from', '.hookmill', '--to', 'postgres');
  await killInTheMiddle(url, copyThere);
  const copiedBefore = await countRows(url, 'deliveries');
  expect(copiedBefore).toBeGreaterThan(0);
  expect(copiedBefore).toBeLessThan(count);
  await expectUnserved({ HOOKMILL_STORE: url, HOOKMILL_KEY });
  await finish('to PostgreSQL', copyThere(url), count - copiedBefore);
  expect(await countRows(url, 'deliveries')).toBe(count);

  const file = homeAt(workspace.path('back')).deliveryLogFile;
  const copyBack = (at: string) => startAt(at, 'copy', '--from', 'postgres', '--to', 'back');
  await killInTheMiddle(url, copyBack);
  const backBefore = countInHome(file);
  expect(backBefore).toBeGreaterThan(0);
  expect(backBefore).toBeLessThan(count);
  await expectUnserved({ HOOKMILL_HOME: workspace.path('back') });
  await finish('back to a home', copyBack(url), count - backBefore);
  expect(countInHome(file)).toBe(count);

  const backUp = (at: string) => startAt(at, 'backup', 'the-backup');
  await killInTheMiddle(url, backUp);
  expect(Math.max(...readdirSync(workspace.directory).map(sizeOf))).toBeGreaterThan(count * 100);
  expect(existsSync(workspace.path('the-backup'))).toBe(false);
  await finish('to a backup', backUp(url), count);

  const restore = (at: string) => startAt(at, 'restore', 'the-backup');
  await killInTheMiddle(urlOfRestored, restore);
  expect(await countRows(urlOfRestored, "documents WHERE kind <> 'copy'")).toBe(0);
  await expectUnserved({ HOOKMILL_STORE: urlOfRestored, HOOKMILL_KEY });
  const restoredBefore = await countRows(urlOfRestored, 'deliveries');
  expect(restoredBefore).toBeGreaterThan(0);
  expect(restoredBefore).toBeLessThan(count);
  await finish('from a backup', restore(urlOfRestored), count - restoredBefore);
  expect(await countRows(urlOfRestored, 'deliveries')).toBe(count);
});

/** A daemon at half a copy would answer 404, and add what keeps the copy from going on. */
async function expectUnserved(env: Readonly<Record<string, string>>): Promise<void> {
  const daemon = await startUnserved(workspace, env);
  await daemon.stop();
}

async function countRows(url: string, table: string): Promise<number> {
  return Number((await query(url, `SELECT count(*) FROM hookmill.${table}`)).rows[0].count);
}

function countInHome(deliveryLogFile: string): number {
  const database = new SqliteDatabase(deliveryLogFile, { readOnly: true });
  const rows = database.prepareColumn('SELECT count(*) FROM deliveries').get();
  database.close();
  return Number(rows);
}

function sizeOf(name: string): number {
  return statSync(workspace.path(name)).size;
}

/** Kills a copy that works on the database through a relay, once the relay holds back what they send each other. */
async function killInTheMiddle(url: string, start: (url: string) => ResultPromise): Promise<void> {
  const relay = await startRelay(Number(new URL(url).port));
  const copy = start(url.replace(/:\d+\//, `:${relay.port}/`));
  const ended = copy.then(({ stderr }) => {
    throw new Error(`the copy ended before it was killed: ${stderr}`);
  });
  await Promise.race([relay.isHolding, ended]);
  ended.catch(() => undefined);
  copy.kill('SIGKILL');
  expect(await copy).toMatchObject({ signal: 'SIGKILL' });
  relay.close();
  // The server would notice only later that nobody is there any more, and a copy refuses to work beside another one.
  await eventually(async () => {
    const others = 'datname = current_database() AND pid <> pg_backend_pid()';
    const { rows } = await query(
      url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`,
    );
    return rows.length === 0;
  });
}

/** Passes on what a client and a server on this port send each other, and stops in the middle. */
async function startRelay(serverPort: number) {
  const { promise: isHolding, resolve: hold } = Promise.withResolvers<void>();
  const sockets: Socket[] = [];
  const pass = (from: Socket, to: Socket) => {
    let passed = 0;
    from
      .on('error', () => undefined)
      .on('data', chunk => {
        passed += chunk.length;
        if (passed < bytesHeld) to.write(chunk);
        else hold();
      });
  };
  const relay = createServer(client => {
    const target = connect(serverPort, '127.0.0.1');
    sockets.push(client, target);
    pass(client, target);
    pass(target, client);
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const close = () => {
    relay.close();
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(close);
  return { port: (relay.address() as AddressInfo).port, isHolding, close };
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

/** A home with as many webhooks as a factory may have, and deliveries of the last days; each tenth has a run. */
async function makeLargeHome(): Promise<void> {
  await workspace.hookmill('secrets', 'generate', 'SHARED');
  const names = Array.from({ length: webhooksMax }, (_, index) => `hook-${index}`);
  for (const name of names) workspace.write(`webhooks/${name}.yaml`, 'secretName: SHARED\n');
  expect(await workspace.hookmill('apply', '--yes')).toMatchObject({ exitCode: 0 });
  const store = storeIn(homeAt(workspace.home));
  const { webhooks } = await store.appliedStates.read('default');
  const transfer = await store.openTransfer();
  const startMs = Date.now() - days * dayMs;
  const snapshots = [{ digest: 'a digest', json: '{"automations":[]}' }];
  for (let from = 0; from < count; from += rowsPerPageMax) {
    const page = Array.from({ length: rowsPerPageMax }, (_, index) => {
      const webhook = webhooks[(from + index) % webhooks.length] as (typeof webhooks)[number];
      return makeDelivery(webhook, startMs + ((from + index) / count) * days * dayMs);
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
  const rest = {
    verifiedWith: null,
    reason: null,
    duplicateOf: null,
    headers: null,
    form: null,
    snapshot: 'a digest',
    bytes: null,
  };
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
      afterwards: null,
      againOf: null,
      history: null,
      interrupted: null,
      cancel: null,
      error: null,
      waitsUntilMs: null,
      report: null,
    },
    ...{ flow: null, stopped: false, dismissed: false, taken: null },
    bytes: index % 100 === 0 ? Buffer.from('done') : null,
  };
}
