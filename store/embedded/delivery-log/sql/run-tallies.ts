import type Database from 'better-sqlite3';
import type { SynchronousReader } from '../../../ports/delivery-log.ts';
import type { LastRun, RunDuration, RunsNow, RunTally } from '../../../ports/tallies.ts';
import { heldBy } from './rows.ts';

/** @limit Tallies of runs that are removed in one step of pruning: a new delivery waits a few ms for it at most. */
const runTalliesPerPruneStepMax = 1_000;

/** Prepares reading the tallies of runs, which triggers keep. */
export function prepareReadRunTallies(database: Database.Database): SynchronousReader['readRunTallies'] {
  const tallies = database.prepare<[string, number], RunTally>(`
    SELECT automation, hour, succeeded, failed, cancelled FROM run_tallies WHERE factory = ? AND hour >= ?
    ORDER BY automation, hour`);
  const last = database.prepare<[string, string], LastRun>(`
    SELECT automation, last_run AS id, last_state AS state, last_at_ms AS atMs FROM run_tallies
    WHERE factory = ? AND automation = ? ORDER BY hour DESC LIMIT 1`);
  const durations = database.prepare<[string, number], RunDuration>(
    'SELECT hour, bucket, runs FROM run_durations WHERE factory = ? AND hour >= ? ORDER BY hour, bucket',
  );
  const count = database.prepare<{ factory: string }, RunsNow>(`
    SELECT count(*) FILTER (WHERE reason IS NULL) AS queued, count(*) FILTER (WHERE reason = 'held') AS held,
      count(*) FILTER (WHERE reason = 'other') AS waiting,
      (SELECT count(*) FROM runs WHERE factory = @factory AND state = 'running') AS running
    FROM (
      SELECT CASE WHEN ${heldBy} IS NOT NULL THEN 'held' WHEN coalesce(parked, gathers) IS NOT NULL THEN 'other' END AS reason
      FROM runs WHERE factory = @factory AND state = 'queued')`);
  return ({ factory, automations, sinceHour, durationsSinceHour }) => ({
    tallies: tallies.all(factory, sinceHour),
    lastRuns: automations.flatMap(automation => last.all(factory, automation)),
    durations: durations.all(factory, durationsSinceHour),
    now: count.get({ factory }) ?? { running: 0, queued: 0, held: 0, waiting: 0 },
  });
}

/** Removes a step's share of what is older than an hour. Returns whether there may be more. */
export function prepareRemoveRunTallies(database: Database.Database): (beforeHour: number) => boolean {
  const remove = (table: string, key: string) =>
    database.prepare<[number]>(`DELETE FROM ${table} WHERE (${key}) IN (
      SELECT ${key} FROM ${table} WHERE hour < ? LIMIT ${runTalliesPerPruneStepMax})`);
  const removals = [
    remove('run_tallies', 'factory, automation, hour'),
    remove('run_durations', 'factory, hour, bucket'),
  ];
  return beforeHour =>
    removals.some(removal => removal.run(beforeHour).changes === runTalliesPerPruneStepMax);
}
