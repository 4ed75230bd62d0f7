import type { Pool, PoolClient } from 'pg';
import { hasEnded } from '../../../schema/delivery.ts';
import { lifeColumns, type StoredLife, toLife, toStoredChange } from '../../delivery-log/life-columns.ts';
import { live, type RunChange, type RunEvent } from '../../delivery-log/run-life.ts';
import { withoutNulls } from '../../delivery-log/stored-rows.ts';
import type { Run } from '../../ports/delivery-log.ts';
import { inTransaction } from '../connection/pool.ts';
import { toColumns } from '../connection/text.ts';
import { runColumns, runState } from './rows.ts';

/** A run as its changes need it, locked. */
export interface LockedRun extends StoredLife {
  readonly day: number;
  readonly id: string;
  readonly factory: string;
  readonly automation: string;
  readonly createdAtMs: number;
  /** The ends of which receivers are told. */
  readonly notify: readonly string[] | null;
  readonly hasFlow: boolean;
}

const { state: _, parked: __, ...plainColumns } = lifeColumns;

/** The columns of a `LockedRun`. A parked run is in a state of its own, in which no claim finds it. */
export const columnsToChange = `
  day, id, factory, automation, created_at_ms AS "createdAtMs", flow::jsonb -> 'notify' AS notify, flow IS NOT NULL AS "hasFlow",
  ${runState} AS state, CASE state WHEN 'parked' THEN waits_for END AS parked,
  ${Object.entries(plainColumns)
    .map(([key, [column]]) => `${column} AS "${key}"`)
    .join(', ')}`;

/** A run that changed. */
export interface ChangedRun {
  readonly run: Run;
  readonly change: RunChange;
}

/** Lets something happen to the run with an ID, and returns what changed; undefined if it comes too late. */
export function changeRun(pool: Pool, id: string, event: RunEvent): Promise<ChangedRun | undefined> {
  return inTransaction(pool, async client => {
    const select = `SELECT ${columnsToChange} FROM hookmill.runs WHERE id = $1 FOR UPDATE`;
    const { rows } = await client.query<LockedRun>(select, [id]);
    const [changed] = await changeRuns(client, rows, () => event);
    return changed;
  });
}

/**
 * Changes runs as their lives say: the one way in which they change. Notes how they end. Returns those that changed, in
 * their order; those for which the event comes too late are left out.
 */
export async function changeRuns(
  client: PoolClient,
  runs: readonly LockedRun[],
  toEvent: (run: LockedRun) => RunEvent,
): Promise<ChangedRun[]> {
  const changes = runs.flatMap(run => {
    const life = toLife(run);
    const change = live(life, toEvent(run));
    return change ? [{ run, change, next: { ...life, ...change } }] : [];
  });
  const changed = new Map<string, Run>();
  for (const [keys, group] of Map.groupBy(changes, ({ change }) => Object.keys(change).join())) {
    const rows = group.map(({ run: { day, id }, change, next: { state, parked } }) => ({
      ...{ day, id, ...toStoredChange(change) },
      ...('state' in change || 'parked' in change ? { state: parked ? 'parked' : state, parked } : {}),
    }));
    for (const run of await update(client, rows, keys)) changed.set(run.id, run);
  }
  await noteEnds(
    client,
    changes.flatMap(({ run, change, next }) =>
      change.state && hasEnded(change.state)
        ? [{ ...run, state: change.state, finishedAtMs: next.finishedAtMs }]
        : [],
    ),
  );
  return changes.flatMap(({ run, change }) => {
    const row = changed.get(run.id);
    return row ? [{ run: withoutNulls(row), change }] : [];
  });
}

/** Writes the columns of rows that change the same ones. */
async function update(client: PoolClient, rows: readonly object[], keys: string): Promise<Run[]> {
  const names = new Set(keys === '' ? [] : keys.split(','));
  if (names.has('state') || names.has('parked')) names.add('state').add('parked');
  const columns = [...names].map(name => [name, ...lifeColumns[name as keyof StoredLife]] as const);
  const toColumn = (column: string) => (column === 'parked' ? 'waits_for' : column);
  const set = columns.map(([, column]) => `${toColumn(column)} = next.${column}`).join(', ');
  const types = columns.map(([, , type], index) => `$${index + 3}::${type}[]`);
  // The days are named so that PostgreSQL plans for their partitions only.
  const text = `
    WITH runs AS (
      UPDATE hookmill.runs SET ${set || 'day = runs.day'}
      FROM unnest(${['$1::integer[]', '$2::text[]', ...types].join(', ')})
        AS next (${['day', 'id', ...columns.map(([, column]) => column)].join(', ')})
      WHERE runs.day = ANY ($1) AND runs.id = ANY ($2) AND runs.day = next.day AND runs.id = next.id
      RETURNING runs.*
    )
    SELECT ${runColumns} FROM runs LEFT JOIN hookmill.snapshots ON key = snapshot`;
  const values = toColumns(rows as readonly Record<string, unknown>[], [
    'day',
    'id',
    ...columns.map(([name]) => name),
  ]);
  return (await client.query<Run>(text, values)).rows;
}

/** Notes the results of runs, the failures of their automations, and the ends of which receivers are told. */
async function noteEnds(client: PoolClient, ended: readonly LockedRun[]): Promise<void> {
  if (ended.length === 0) return;
  const names = ['factory', 'automation', 'id', 'state', 'finishedAtMs', 'createdAtMs'] as const;
  const told = ended.filter(({ notify, state }) => notify?.includes(String(state)));
  const values = [...toColumns(ended, names), told.map(({ id }) => id)];
  await client.query(noteResults, values);
}

// The failures are in an order, so that no two replicas wait for each other.
const noteResults = `
  WITH ended AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
      AS ended (factory, automation, id, state, finished_at_ms, created_at_ms)
  ), told AS (
    INSERT INTO hookmill.run_ends (run_id, state) SELECT id, state FROM ended WHERE id = ANY ($7)
  ), failed AS (
    INSERT INTO hookmill.failures (factory, automation, seq)
    SELECT factory, automation, nextval('hookmill.failure_seq')
    FROM (SELECT DISTINCT factory, automation FROM ended WHERE state = 'failed' ORDER BY 1, 2) AS automations
    ON CONFLICT (factory, automation) DO UPDATE SET seq = excluded.seq
  )
  INSERT INTO hookmill.run_results (factory, automation, run_id, state, at_ms, took_ms)
  SELECT factory, automation, id, state, finished_at_ms, finished_at_ms - created_at_ms FROM ended
  WHERE finished_at_ms IS NOT NULL`;
