import type { RunState } from '../../../../schema/delivery.ts';
import { hourMs } from '../../../../schema/time-units.ts';
import type { SqliteDatabase } from '../../../home/sqlite.ts';

/** A run that has ended. */
interface EndedRun {
  readonly id: string;
  readonly factory: string;
  readonly automation: string;
  readonly createdAtMs: number;
  readonly state: RunState;
  readonly finishedAtMs: number | null;
  /** The ends of which receivers are told, as JSON. */
  readonly notify: string | null;
}

/**
 * Prepares to note how a run ends: in the tallies, as a failure of its automation, and for the receivers that are told.
 */
export function prepareNoteEnd(database: SqliteDatabase): (run: EndedRun) => void {
  const fail = database.prepare<[string, string]>(
    'INSERT OR REPLACE INTO failures (factory, automation) VALUES (?, ?)',
  );
  const tell = database.prepare<{ run: string; state: string; notify: string }>(`
    INSERT INTO run_ends (run, state) SELECT @run, @state FROM json_each(@notify) WHERE value = @state`);
  const tally = database.prepare<object>(`
    INSERT INTO run_tallies VALUES (@factory, @automation, @hour, @state = 'succeeded', @state = 'failed',
      @state = 'cancelled', @id, @state, @atMs)
    ON CONFLICT DO UPDATE SET
      succeeded = succeeded + excluded.succeeded,
      failed = failed + excluded.failed,
      cancelled = cancelled + excluded.cancelled,
      last_run = iif(excluded.last_at_ms >= last_at_ms, excluded.last_run, last_run),
      last_state = iif(excluded.last_at_ms >= last_at_ms, excluded.last_state, last_state),
      last_at_ms = max(last_at_ms, excluded.last_at_ms)`);
  const time = database.prepare<[string, number, number]>(`
    INSERT INTO run_durations VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET runs = runs + 1`);
  return ({ id, factory, automation, createdAtMs, state, finishedAtMs, notify }) => {
    if (state === 'failed') fail.run(factory, automation);
    if (notify !== null) tell.run({ run: id, state, notify });
    if (finishedAtMs === null) return;
    const hour = Math.floor(finishedAtMs / hourMs);
    tally.run({ id, factory, automation, hour, state, atMs: finishedAtMs });
    // Each doubling of the time is divided into 8 buckets.
    const bucket = Math.floor(Math.log2(Math.max(1, finishedAtMs - createdAtMs)) * 8);
    if (state !== 'cancelled') time.run(factory, hour, bucket);
  };
}
