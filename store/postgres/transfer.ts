import type { Pool, PoolClient, QueryResultRow } from 'pg';
import type { Documents } from '../ports/documents.ts';
import type { Claim, PostgresPlace } from '../ports/store.ts';
import { StoreError } from '../ports/store-error.ts';
import {
  pageBytesMax,
  rowsPerPageMax,
  type Transfer,
  type TransferDelivery,
  type TransferRun,
  type TransferSnapshot,
  type TransferSource,
} from '../ports/transfer.ts';
import { addAudit } from '../transfer-audit.ts';
import type { Database } from './connection/database.ts';
import {
  describeTarget,
  limitStatement,
  openPool,
  rollBack,
  statementMs,
  waitForClose,
} from './connection/pool.ts';
import { postgresFailure } from './connection/postgres-failure.ts';
import { toColumns } from './connection/text.ts';
import { openPartitions, type Partitions, toDay } from './delivery-log/partitions.ts';
import { insertPauses, pauseColumns, selectTransferPauses } from './delivery-log/pauses.ts';
import { runState } from './delivery-log/rows.ts';
import { insertUnlogged, unloggedColumns } from './delivery-log/unlogged.ts';
import { migrateTables } from './migrations.ts';
import { openTableAuditLog } from './table-audit-log.ts';

/** @limit Time in which PostgreSQL must answer a statement while a store is copied, in ms: counting a large log takes minutes. */
const copyStatementMs = 30 * 60 * 1000;
/** @limit Age up to which copied deliveries get a partition for each day: the few older ones, which retention keeps longer, share one. */
const partitionDaysMax = 60;

/** Runs a statement, and returns its rows. Fails with StoreError. */
type Select = <Row extends QueryResultRow>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

export interface PostgresTransferOptions {
  readonly postgres: PostgresPlace;
  readonly documents: Documents;
  readonly lockTimeoutMs: number;
}

/**
 * Opens a database that is being copied from or to, and creates its tables. Fails with `locked` if a daemon works on it,
 * or another copy.
 */
export async function openPostgresTransfer({
  postgres: { url, directUrl = url },
  documents,
  lockTimeoutMs,
}: PostgresTransferOptions): Promise<Transfer> {
  const failed = postgresFailure(url);
  const pool = openPool(url, { connectionsMax: 1 });
  const lock = openPool(directUrl, { connectionsMax: 1 });
  const close = async () => {
    await waitForClose(Promise.all([pool.end(), lock.end()]));
  };
  let claim: Claim;
  try {
    await migrateTables(pool).catch(failed);
    claim = await claimDatabase(lock, describeTarget(url), lockTimeoutMs).catch(failed);
  } catch (error) {
    await close();
    throw error;
  }
  const select = selectOn(pool, failed);
  const source = readDatabase(select);
  const place = placeRows(openPartitions(pool));
  const write = async (
    text: string,
    columns: string,
    rows: readonly (TransferDelivery | TransferRun)[],
    snapshots: readonly TransferSnapshot[],
  ) => {
    await storeSnapshots(select, snapshots);
    await select(text, await toValues(place, columns, rows));
  };
  return {
    ...source,
    documents,
    deliveries: {
      ...source.deliveries,
      write: (rows, snapshots) => write(insertDeliveries, deliveryColumns, rows, snapshots),
    },
    runs: {
      ...source.runs,
      write: (rows, snapshots) => write(insertRuns, runColumns, rows, snapshots),
    },
    pauses: {
      ...source.pauses,
      write: async rows => void (await select(insertPauses, pauseColumns(rows))),
    },
    unlogged: {
      ...source.unlogged,
      write: async rows => void (await select(insertUnlogged, unloggedColumns(rows))),
    },
    close: async () => {
      await claim.release();
      await close();
    },
  };
}

/** Opens what a database keeps at this moment, in one transaction, while daemons go on. */
export async function openPostgresSnapshot(
  { url }: PostgresPlace,
  openDocuments: (database: Pick<Database, 'name' | 'run'>) => Documents,
): Promise<TransferSource> {
  const failed = postgresFailure(url);
  const pool = openPool(url, { connectionsMax: 1 });
  let client: PoolClient | undefined;
  const close = async () => {
    if (client) await rollBack(client);
    await waitForClose(pool.end());
  };
  try {
    await migrateTables(pool).catch(failed);
    client = await pool.connect().catch(failed);
    const select = selectOn(client, failed);
    await select('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await select(`SELECT set_config('idle_in_transaction_session_timeout', '0', true)`);
    // Retention detaches no partition meanwhile.
    await select('LOCK TABLE hookmill.deliveries, hookmill.runs IN ACCESS SHARE MODE');
    const documents = openDocuments({ name: describeTarget(url), run: select });
    return { ...readDatabase(select), documents, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function selectOn(connection: Pick<Pool, 'query'>, failed: (cause: unknown) => never): Select {
  return async (text, values) =>
    (await connection.query(limitStatement(copyStatementMs, text, values)).catch(failed)).rows;
}

function readDatabase(select: Select): Omit<TransferSource, 'documents' | 'close'> & Pick<Transfer, 'audit'> {
  const log: Omit<TransferSource, 'documents' | 'audit' | 'close'> = {
    deliveries: {
      read: (factory, after) => select(selectDeliveries, [factory, after, rowsPerPageMax, pageBytesMax]),
    },
    runs: { read: (factory, after) => select(selectRuns, [factory, after, rowsPerPageMax, pageBytesMax]) },
    pauses: {
      read: (factory, after) => select(selectTransferPauses, [factory, after, rowsPerPageMax]),
    },
    unlogged: { read: (factory, after) => select(selectUnlogged, [factory, after, rowsPerPageMax]) },
    listLoggedFactories: async () =>
      (await select<{ name: string }>(selectFactories)).map(({ name }) => name).sort(),
    countIdentities: async () => (await select<{ count: number }>(countAccepted))[0]?.count ?? 0,
    readSnapshot: async digest => (await select<{ json: string }>(selectSnapshot, [digest]))[0]?.json,
  };
  return addAudit(log, openTableAuditLog({ run: select }));
}

/**
 * Takes a lock, so that copies exclude each other; a daemon has a lease. The lock lasts as long as its transaction, which
 * also holds through a pooler.
 */
async function claimDatabase(pool: Pool, name: string, lockTimeoutMs: number): Promise<Claim> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    // A copy that was just killed has its lock for a moment more. 0 would mean no limit.
    await client.query(
      `SELECT set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', '0', true)`,
      [String(Math.max(1, lockTimeoutMs))],
    );
    const limitMs = statementMs + lockTimeoutMs;
    await client.query(limitStatement(limitMs, 'SELECT pg_advisory_xact_lock($1)', [transferLock]));
    const daemon = await client.query('SELECT FROM hookmill.replicas WHERE lease_until > clock_timestamp()');
    if (daemon.rowCount !== 0) {
      const advice = 'stop it and try again; a daemon that was killed counts for 10 s more';
      throw new StoreError('locked', `the database ${name} is used by a daemon; ${advice}`);
    }
    return { release: () => rollBack(client) };
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** Fails with `locked` while the database is copied from or to. A copy that begins later finds the daemon's lease. */
export async function requireNoCopy({ name, run }: Pick<Database, 'name' | 'run'>): Promise<void> {
  const [row] = await run<{ free: boolean }>('SELECT pg_try_advisory_xact_lock_shared($1) AS free', [
    transferLock,
  ]);
  if (row?.free) return;
  throw new StoreError(
    'locked',
    `the database ${name} is used by a copy; start the daemon when it has ended`,
  );
}

/** Makes the partitions that deliveries of these times belong to, and returns their days. */
type Place = (timesMs: readonly number[]) => Promise<number[]>;

function placeRows(partitions: Partitions): Place {
  const made = new Set<number>([0]);
  const oldest = toDay(Date.now()) - partitionDaysMax;
  return async timesMs => {
    const days = timesMs.map(toDay).map(day => (day < oldest ? 0 : day));
    const missing = [...new Set(days)].filter(day => !made.has(day));
    if (missing.length > 0) await partitions.make(missing);
    for (const day of missing) made.add(day);
    return days;
  };
}

/** The columns of rows that are inserted, each with its type; a row has them by the same names in camel case. */
const deliveryColumns = `id text, factory text, webhook text, uid text, at_ms bigint, size integer, outcome text,
  identity text, identity_source text, content_digest text, authenticated_by text, reason text, duplicate_of text,
  headers text, form text, snapshot text, verified_with text`;
const runColumns = `id text, factory text, webhook text, delivery_id text, automation text, replay boolean, state text,
  attempts integer, not_before_ms bigint, created_at_ms bigint, started_at_ms bigint, finished_at_ms bigint,
  claimed_by text, error text, snapshot text, claims integer, waits_until_ms bigint, report text, flow text,
  stopped boolean, dismissed boolean, taken text, manual boolean, cancel text, afterwards text, again_of text, history text,
  interrupted text`;

/** Parses such columns, each with its name in the rows. */
function parseColumns(columns: string) {
  return columns.split(/,\s+/).map(text => {
    const [column = '', type = ''] = text.split(' ');
    return { column, type, name: column.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()) };
  });
}

/** The parameters of an insert: the partitions of the rows, the lengths of their bytes, all bytes, and the columns. */
async function toValues(
  place: Place,
  columns: string,
  rows: readonly (TransferDelivery | TransferRun)[],
): Promise<unknown[]> {
  const timesMs = rows.map(row => ('atMs' in row ? row.atMs : row.deliveryAtMs));
  const parts = rows.map(({ bytes }) => bytes);
  return [
    await place(timesMs),
    parts.map(bytes => bytes?.length ?? null),
    Buffer.concat(parts.flatMap(bytes => bytes ?? [])),
    ...toColumns<object>(
      rows,
      parseColumns(columns).map(({ name }) => name as never),
    ),
  ];
}

async function storeSnapshots(select: Select, snapshots: readonly TransferSnapshot[]): Promise<void> {
  const text = `
    INSERT INTO hookmill.snapshots (digest, json, used_day) VALUES ($1, $2, $3)
    ON CONFLICT (digest) DO UPDATE SET used_day = greatest(snapshots.used_day, excluded.used_day)`;
  for (const { digest, json } of snapshots) await select(text, [digest, json, toDay(Date.now())]);
}

const givenBytes = 'substring($3::bytea FROM start::integer + 1 FOR length)';
const givenSnapshot = '(SELECT key FROM hookmill.snapshots WHERE snapshots.digest = given.snapshot)';

/** The rows of an insert, each with the beginning of its bytes among those of all. */
function selectGiven(columns: string): string {
  const parsed = parseColumns(columns);
  const arrays = parsed.map(({ type }, index) => `$${index + 4}::${type}[]`).join(', ');
  const names = parsed.map(({ column }) => column).join(', ');
  return `
    SELECT *, sum(length) OVER (ORDER BY position) - length AS start
    FROM unnest($1::integer[], $2::integer[], ${arrays}) WITH ORDINALITY
    AS given (day, length, ${names}, position)`;
}

const insertDeliveries = `
  WITH given AS (${selectGiven(deliveryColumns)}), identities AS (
    INSERT INTO hookmill.accepted (identity, content, delivery_id, day)
    SELECT hookmill.accepted_key(uid, identity_source, identity),
      hookmill.accepted_key(uid, 'content', content_digest), id, day
    FROM given WHERE outcome = 'Accepted'
  )
  INSERT INTO hookmill.deliveries (day, id, factory, webhook, uid, at_ms, size, outcome, identity, identity_source,
    content_digest, authenticated_by, reason, duplicate_of, headers, form, verified_with, snapshot, payload)
  SELECT day, id, factory, webhook, uid, at_ms, size, outcome, identity, identity_source, content_digest,
    authenticated_by, reason, duplicate_of, headers, form, verified_with, ${givenSnapshot}, ${givenBytes}
  FROM given ORDER BY position`;

const insertRuns = `
  WITH given AS (${selectGiven(runColumns)}), results AS (
    INSERT INTO hookmill.run_results (factory, automation, run_id, state, at_ms, took_ms)
    SELECT factory, automation, id, state, finished_at_ms, finished_at_ms - created_at_ms FROM given
    WHERE state IN ('succeeded', 'failed', 'cancelled') AND finished_at_ms IS NOT NULL
  ), failed AS (
    INSERT INTO hookmill.failures (factory, automation, seq)
    SELECT factory, automation, nextval('hookmill.failure_seq')
    FROM (SELECT DISTINCT factory, automation FROM given WHERE state = 'failed') AS automations
    ON CONFLICT (factory, automation) DO UPDATE SET seq = excluded.seq
  ), taken AS (
    INSERT INTO hookmill.run_deliveries (run_id, delivery_id, day)
    SELECT given.id, deliveries.id, deliveries.day
    FROM given CROSS JOIN json_array_elements_text(taken::json) AS one (id) JOIN hookmill.deliveries ON deliveries.id = one.id
  ), outputs AS (
    INSERT INTO hookmill.run_outputs (run_id, day, bytes)
    SELECT id, hookmill.day_of((extract(epoch FROM now()) * 1000)::bigint), ${givenBytes}
    FROM given WHERE length IS NOT NULL
  )
  INSERT INTO hookmill.runs (day, id, factory, webhook, delivery_id, automation, replay, state, attempts, not_before_ms,
    created_at_ms, started_at_ms, finished_at_ms, claimed_by, error, snapshot, claims, waits_until_ms, report, flow,
    stopped, dismissed, delivery_count, manual, cancel, afterwards, again_of, history, interrupted)
  SELECT day, id, factory, webhook, delivery_id, automation, replay, state, attempts, not_before_ms, created_at_ms,
    started_at_ms, finished_at_ms, claimed_by, error, ${givenSnapshot}, claims, waits_until_ms, report, flow, nullif(stopped, false),
    nullif(dismissed, false), json_array_length(taken::json), nullif(manual, false), cancel, afterwards, again_of, history, interrupted
  FROM given ORDER BY position`;

// A page ends where its bytes reach $4: what is beyond is sized, but not read. The text of `taken` is the one that SQLite
// makes, because copies compare it.

const selectDeliveries = `
  SELECT seq AS position, id, factory, webhook, uid, at_ms AS "atMs", size, outcome, identity,
    identity_source AS "identitySource", content_digest AS "contentDigest", authenticated_by AS "authenticatedBy",
    verified_with AS "verifiedWith",
    reason, duplicate_of AS "duplicateOf", headers, form, digest AS snapshot, payload AS bytes
  FROM (
    SELECT *, sum(coalesce(length(payload), 0)) OVER (ORDER BY seq) - coalesce(length(payload), 0) AS bytes_before
    FROM (SELECT * FROM hookmill.deliveries WHERE factory = $1 AND seq > $2 ORDER BY seq LIMIT $3) AS next
  ) AS page LEFT JOIN hookmill.snapshots ON key = snapshot
  WHERE bytes_before < $4 ORDER BY seq`;

const selectRuns = `
  WITH next AS (
    SELECT *, (SELECT coalesce(sum(length(bytes)), 0) FROM hookmill.run_outputs WHERE run_id = next.id) AS size
    FROM (SELECT * FROM hookmill.runs WHERE factory = $1 AND seq > $2 ORDER BY seq LIMIT $3) AS next
  ), page AS (
    SELECT *, sum(size) OVER (ORDER BY seq) - size AS bytes_before FROM next
  )
  SELECT page.seq AS position, page.id, page.factory, page.webhook, delivery_id AS "deliveryId",
    deliveries.at_ms AS "deliveryAtMs", automation, replay, coalesce(manual, false) AS manual, digest AS snapshot, ${runState} AS state, attempts,
    claims, waits_until_ms AS "waitsUntilMs", report,
    not_before_ms AS "notBeforeMs", created_at_ms AS "createdAtMs", started_at_ms AS "startedAtMs",
    finished_at_ms AS "finishedAtMs", claimed_by AS "claimedBy", error, cancel, afterwards, again_of AS "againOf", history, interrupted, flow,
    coalesce(stopped, false) AS stopped,
    coalesce(dismissed, false) AS dismissed, CASE WHEN delivery_count IS NOT NULL THEN (
      SELECT '[' || coalesce(string_agg(to_json(taken.delivery_id)::text, ',' ORDER BY taken.delivery_id COLLATE "C"), '') || ']'
      FROM hookmill.run_deliveries AS taken WHERE run_id = page.id) END AS taken,
    (SELECT string_agg(bytes, ''::bytea ORDER BY seq) FROM hookmill.run_outputs WHERE run_id = page.id) AS bytes
  FROM page JOIN hookmill.deliveries ON deliveries.id = delivery_id AND deliveries.day = page.day
    LEFT JOIN hookmill.snapshots ON key = page.snapshot
  WHERE bytes_before < $4 ORDER BY page.seq`;

const selectUnlogged = `
  SELECT seq AS position, concat_ws(' ', minute, uid, reason, detail) AS id, factory, NULL AS snapshot, NULL AS bytes,
    uid, reason, detail, count, last_at_ms AS "lastAtMs"
  FROM hookmill.unlogged WHERE factory = $1 AND seq > $2 ORDER BY seq LIMIT $3`;

/** Each factory, those with deliveries found by jumps through the index. */
const selectFactories = `
  WITH RECURSIVE factories (name) AS (
    SELECT min(factory) FROM hookmill.deliveries
    UNION ALL
    SELECT (SELECT min(factory) FROM hookmill.deliveries WHERE factory > name) FROM factories WHERE name IS NOT NULL
  )
  SELECT name FROM factories WHERE name IS NOT NULL UNION SELECT factory FROM hookmill.unlogged
  UNION SELECT factory FROM hookmill.pauses`;

/** Retention may not yet have removed the identities of deliveries that it has dropped. */
const countAccepted = `
  SELECT count(*) FROM hookmill.accepted WHERE EXISTS (
    SELECT FROM hookmill.deliveries WHERE deliveries.id = delivery_id AND deliveries.day = accepted.day)`;

const selectSnapshot = 'SELECT json FROM hookmill.snapshots WHERE digest = $1';

// Any number that nothing else in the database uses.
const transferLock = '29401485033434734';
