import type { DeliveryLogReader } from '../../ports/delivery-log.ts';
import type { LastRun, RunDuration, RunsNow, RunTally } from '../../ports/tallies.ts';
import { holderInLane } from './rows.ts';
import type { Select } from './search.ts';

/** Reads the tallies of runs, together with the ends that are not tallied yet. */
export function readRunTallies(select: Select): Pick<DeliveryLogReader, 'readRunTallies'> {
  return {
    readRunTallies: async ({ factory, automations, sinceHour, durationsSinceHour }) => {
      const [now = { running: 0, queued: 0, held: 0, waiting: 0 }] = await select<RunsNow>(countNow, [
        factory,
      ]);
      return {
        tallies: await select<RunTally>(selectTallies, [factory, sinceHour]),
        lastRuns: await select<LastRun>(selectLastRuns, [factory, automations]),
        durations: await select<RunDuration>(selectDurations, [factory, durationsSinceHour]),
        now,
      };
    },
  };
}

const selectTallies = `
  SELECT automation, hour, sum(succeeded)::bigint AS succeeded, sum(failed)::bigint AS failed, sum(cancelled)::bigint AS cancelled
  FROM (
    SELECT automation, hour, succeeded, failed, cancelled FROM hookmill.run_tallies WHERE factory = $1 AND hour >= $2
    UNION ALL
    SELECT automation, at_ms / 3600000, (state = 'succeeded')::integer, (state = 'failed')::integer, (state = 'cancelled')::integer
    FROM hookmill.run_results WHERE factory = $1 AND at_ms / 3600000 >= $2) AS ended
  GROUP BY automation, hour ORDER BY automation COLLATE "C", hour`;

const selectLastRuns = `
  SELECT DISTINCT ON (position) automation, id, state, "atMs" FROM unnest($2::text[]) WITH ORDINALITY AS given (automation, position),
    LATERAL (
      (SELECT last_run AS id, last_state AS state, last_at_ms AS "atMs", 0 AS seq FROM hookmill.run_tallies
        WHERE factory = $1 AND run_tallies.automation = given.automation ORDER BY hour DESC LIMIT 1)
      UNION ALL
      SELECT run_id, state, at_ms, seq FROM hookmill.run_results
      WHERE factory = $1 AND run_results.automation = given.automation) AS ended
  ORDER BY position, "atMs" DESC, seq DESC`;

const selectDurations = `
  SELECT hour, bucket, sum(runs)::bigint AS runs FROM (
    SELECT hour, bucket, runs FROM hookmill.run_durations WHERE factory = $1 AND hour >= $2
    UNION ALL
    SELECT at_ms / 3600000, hookmill.duration_bucket(took_ms), 1 FROM hookmill.run_results
    WHERE factory = $1 AND at_ms / 3600000 >= $2 AND state <> 'cancelled') AS ended
  GROUP BY hour, bucket ORDER BY hour, bucket`;

// Each state has an index of its own, and so do the parked runs by the reasons for which they wait.
const countNow = `
  SELECT count(*) FILTER (WHERE reason = 'running') AS running, count(*) FILTER (WHERE reason = 'queued') AS queued,
    count(*) FILTER (WHERE reason = 'held') AS held, count(*) FILTER (WHERE reason = 'waiting') AS waiting
  FROM (
    SELECT 'running' AS reason FROM hookmill.runs WHERE state = 'running' AND factory = $1
    UNION ALL
    SELECT CASE WHEN waits_for IS NULL THEN 'queued' ELSE 'waiting' END FROM hookmill.runs WHERE state = 'queued' AND factory = $1
    UNION ALL
    SELECT 'waiting' FROM hookmill.runs WHERE state = 'parked' AND waits_for = 'paused' AND factory = $1
    UNION ALL
    SELECT 'waiting' FROM hookmill.runs WHERE state = 'parked' AND waits_for = 'approval' AND factory = $1
    UNION ALL
    SELECT CASE WHEN ${holderInLane('own.order_lane')} IS NULL THEN 'waiting' ELSE 'held' END FROM hookmill.run_flows AS own
    WHERE state = 'parked' AND waits_for NOT IN ('paused', 'approval') AND factory = $1) AS unfinished`;
