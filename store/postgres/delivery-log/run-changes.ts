import type { Pool, PoolClient } from 'pg';
import { hasEnded } from '../../../schema/delivery.ts';
import { lifeColumns, type StoredLife, toLife, toStoredChange } from '../../delivery-log/life-columns.ts';
import { live, type RunChange, type RunEvent, toSuperseded } from '../../delivery-log/run-life.ts';
import { withoutNulls } from '../../delivery-log/stored-rows.ts';
import type { NewRunRow } from '../../delivery-log/thread/wire.ts';
import type { Run } from '../../ports/delivery-log.ts';
import { inTransaction } from '../connection/pool.ts';
import { toColumns } from '../connection/text.ts';
import { runColumns, runState } from './rows.ts';

/** A run as its changes need it. */
export interface StoredRun extends StoredLife {
  readonly day: number;
  readonly id: string;
  /** Another one after each change of the row. */
  readonly version: string;
  readonly factory: string;
  readonly automation: string;
  readonly hasFlow: boolean;
}

const { state: _, parked: __, ...plainColumns } = lifeColumns;

/** The columns of a `StoredRun`. A parked run is in a state of its own, in which no claim finds it. */
export const columnsToChange = `
  day, id, runs.xmin::text AS version, factory, automation, flow IS NOT NULL AS "hasFlow",
  ${runState} AS state, CASE state WHEN 'parked' THEN waits_for END AS parked,
  ${Object.entries(plainColumns)
    .map(([key, [column]]) => `${column} AS "${key}"`)
    .join(', ')}`;

/** A run that changed. */
export interface ChangedRun {
  readonly run: Run;
  readonly change: RunChange;
  /** The row as it is now. */
  readonly stored: StoredRun;
}

/**
 * Lets something happen to the run with an ID, and returns what changed; undefined if it comes too late. A run that somebody
 * else changes meanwhile, or that changed since it was `known`, is read again.
 */
export async function changeRun(
  pool: Pool,
  id: string,
  event: RunEvent,
  known?: StoredRun,
): Promise<RunChange | undefined> {
  const select = `SELECT ${columnsToChange} FROM hookmill.runs WHERE id = $1`;
  for (let row = known; ; row = undefined) {
    const [run] = row ? [row] : (await pool.query<StoredRun>(select, [id])).rows;
    const change = run && live(toLife(run), event);
    if (!change || Object.keys(change).length === 0) return change;
    const write = (client: Pool | PoolClient) => writeChanges(client, [{ run, change }], 'id');
    const written = change.state === 'failed' ? await inTransaction(pool, write) : await write(pool);
    if (written.size > 0) return change;
  }
}

/**
 * Lets runs that were just recorded cancel those before them in their order, if they say so. If the daemon dies before, those
 * start in their order.
 */
export async function supersedeEarlier(pool: Pool, runs: readonly NewRunRow[], atMs: number): Promise<void> {
  const text = `
    SELECT ${columnsToChange} FROM hookmill.runs WHERE id IN (
      SELECT run_id FROM hookmill.run_flows WHERE order_lane = $1 AND state IN ('queued', 'parked', 'running')
        AND seq < (SELECT seq FROM hookmill.run_flows WHERE run_id = $2))`;
  for (const run of runs) {
    const event = toSuperseded(run, atMs);
    if (!event || !run.latest) continue;
    const { rows } = await pool.query<StoredRun>(text, [run.latest.lane, run.id]);
    for (const earlier of rows) await changeRun(pool, earlier.id, event, earlier);
  }
}

/**
 * Changes locked runs as their lives say. Returns those that changed, in their order; those for which the event comes too late
 * are left out.
 */
export async function changeRuns(
  client: PoolClient,
  runs: readonly StoredRun[],
  toEvent: (run: StoredRun) => RunEvent,
): Promise<ChangedRun[]> {
  const changes = runs.flatMap(run => {
    const change = live(toLife(run), toEvent(run));
    return change ? [{ run, change }] : [];
  });
  const written = await writeChanges(client, changes, `${runColumns}, version`);
  return changes.flatMap(({ run: before, change }) => {
    const { version, ...run } = (written.get(before.id) ?? {}) as Run & { version?: string };
    if (version === undefined) return [];
    return [{ run: withoutNulls(run), change, stored: { ...before, ...toStoredChange(change), version } }];
  });
}

interface Change {
  readonly run: StoredRun;
  readonly change: RunChange;
}

/**
 * Writes changes of rows that are still as they were read: the one way in which runs change. Notes how they end. Returns these
 * columns of the rows, by their IDs.
 */
async function writeChanges(
  client: Pool | PoolClient,
  changes: readonly Change[],
  columns: string,
): Promise<ReadonlyMap<string, Pick<Run, 'id'>>> {
  const written = new Map<string, Pick<Run, 'id'>>();
  for (const [keys, group] of Map.groupBy(changes, ({ change }) => Object.keys(change).join()))
    for (const run of await update(client, group, keys.split(','), columns)) written.set(run.id, run);
  const failed = changes.filter(({ run, change }) => change.state === 'failed' && written.has(run.id));
  // Apart, because the lanes must be locked before a row that others lock too.
  if (failed.length > 0) {
    const values = toColumns(
      failed.map(({ run }) => run),
      ['factory', 'automation'],
    );
    await client.query(noteFailures, values);
  }
  return written;
}

/** Writes the columns of rows that change the same ones. */
async function update(
  client: Pool | PoolClient,
  changes: readonly Change[],
  keys: readonly string[],
  returned: string,
): Promise<Pick<Run, 'id'>[]> {
  const names = new Set(keys);
  if (names.has('state') || names.has('parked')) names.add('state').add('parked');
  const columns = [...names].map(name => [name, ...lifeColumns[name as keyof StoredLife]] as const);
  const toColumn = (column: string) => (column === 'parked' ? 'waits_for' : column);
  const set = columns.map(([, column]) => `${toColumn(column)} = next.${column}`);
  const types = columns.map(([, , type], index) => `$${index + 4}::${type}[]`);
  const ends = changes.some(({ change: { state } }) => state && hasEnded(state));
  // The days are named so that PostgreSQL plans for their partitions only.
  const text = `
    WITH runs AS (
      UPDATE hookmill.runs SET ${set.join(', ')}
      FROM unnest(${['$1::integer[]', '$2::text[]', '$3::text[]', ...types].join(', ')})
        AS next (${['day', 'id', 'version', ...columns.map(([, column]) => column)].join(', ')})
      WHERE runs.day = ANY ($1) AND runs.id = ANY ($2) AND runs.day = next.day AND runs.id = next.id
        AND runs.xmin::text = next.version
      RETURNING runs.*, runs.xmin::text AS version
    ) ${ends ? noteEnds : ''}
    SELECT ${returned} FROM runs ${returned.startsWith(runColumns) ? 'LEFT JOIN hookmill.snapshots ON key = snapshot' : ''}`;
  const rows = changes.map(({ run, change }) => toRow(run, change));
  const values = toColumns(rows, ['day', 'id', 'version', ...columns.map(([name]) => name)]);
  return (await client.query<Pick<Run, 'id'>>(text, values)).rows;
}

function toRow(
  { day, id, version, ...run }: StoredRun,
  change: RunChange,
): Readonly<Record<string, unknown>> {
  const { state = run.state, parked = run.parked } = change;
  return { day, id, version, ...toStoredChange(change), state: parked ? 'parked' : state, parked };
}

/** Notes the results of runs, and the ends of which receivers are told. */
const noteEnds = `, results AS (
    INSERT INTO hookmill.run_results (factory, automation, run_id, state, at_ms, took_ms)
    SELECT factory, automation, id, state, finished_at_ms, finished_at_ms - created_at_ms FROM runs
    WHERE finished_at_ms IS NOT NULL
  ), told AS (
    INSERT INTO hookmill.run_ends (run_id, state) SELECT id, state FROM runs WHERE flow::jsonb -> 'notify' ? state
  )`;

// In an order, so that no two replicas wait for each other.
const noteFailures = `
  INSERT INTO hookmill.failures (factory, automation, seq)
  SELECT factory, automation, nextval('hookmill.failure_seq')
  FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[]) AS failed (factory, automation) ORDER BY 1, 2) AS failed
  ON CONFLICT (factory, automation) DO UPDATE SET seq = excluded.seq`;
