import type { Pool } from 'pg';
import {
  listeningBreakMs,
  tallyRows,
  tallyRowsMax,
  unhealthyListedMax,
  unhealthyStates,
} from '../../delivery-log/tally-rows.ts';
import type { AsyncVerbTable } from '../../delivery-log/thread/wire.ts';
import type { DeliveryLogReader } from '../../ports/delivery-log.ts';
import type {
  HealthCounts,
  LastRun,
  RunDuration,
  RunsNow,
  RunTally,
  StoredHealth,
  TalliedRow,
  Tally,
  TallyPosition,
} from '../../ports/tallies.ts';
import { inTransaction } from '../connection/pool.ts';
import { toColumns } from '../connection/text.ts';
import { toDay } from './partitions.ts';
import { holderInLane } from './rows.ts';
import { type Select, settle } from './search.ts';

/** @limit Ends of runs that are tallied in one step: it takes some 100 ms, in which no run waits. */
const resultsPerStepMax = 20_000;

/** Tallies the ends of runs that are not tallied yet, up to a number, and returns how many there were. */
export const tallyResults = `SELECT hookmill.tally_results(${resultsPerStepMax}) AS tallied`;

type Position = TallyPosition & { readonly listeningSinceMs: number };

export function readTallies(select: Select) {
  const readPosition = async () => {
    const text = 'SELECT seq, day, listening_since_ms AS "listeningSinceMs" FROM hookmill.tally_position';
    const [position] = await select<Position>(text, []);
    return position ?? { seq: 0, day: 0, listeningSinceMs: 0 };
  };
  return {
    readNextTallies: async () => {
      const { seq, day } = await readPosition();
      const from = { seq, day };
      const settled = await settle(select, 'deliveries');
      // A row may be a day older than another one that was recorded before it, if clocks differ.
      const rows = await select<TalliedRow & { seq: number }>(selectNext, [seq, settled, day - 1]);
      const last = rows.at(-1);
      const isEnd = rows.length < tallyRowsMax;
      const today = toDay(Date.now());
      const days = rows.map(({ atMs }) => toDay(atMs)).filter(of => of <= today);
      const to = { seq: isEnd ? settled : (last?.seq ?? settled), day: Math.max(day, ...days) };
      return { from, to, tallies: tallyRows(rows), isEnd };
    },
    readHistory: async ({ factory, uid = null, sinceHour }) => ({
      listeningSinceMs: (await readPosition()).listeningSinceMs,
      webhooks: await select<StoredHealth>(
        `${selectHealth} WHERE factory = $1 AND ($2::text IS NULL OR uid = $2) ORDER BY uid`,
        [factory, uid],
      ),
      tallies: await select<Tally>(selectTallies, [factory, uid, sinceHour]),
    }),
    listDueHealth: (nowMs, limit) =>
      select<StoredHealth>(`${selectHealth} WHERE due_ms <= $1 ORDER BY due_ms LIMIT $2`, [nowMs, limit]),
    countHealth: async factory => ({
      counts: await select<HealthCounts['counts'][number]>(
        `SELECT factory, state, count(*) AS webhooks FROM hookmill.webhook_health WHERE ${isMeant}
        GROUP BY factory, state ORDER BY factory COLLATE "C", state`,
        [factory ?? null],
      ),
      unhealthy: await select<StoredHealth>(
        `${selectHealth} WHERE state IN (${unhealthyStates}) AND ${isMeant}
        ORDER BY state, factory COLLATE "C", webhook COLLATE "C" LIMIT ${unhealthyListedMax}`,
        [factory ?? null],
      ),
    }),
  } satisfies Partial<DeliveryLogReader>;
}

/**
 * No index has the rows of all factories in the order of their commits, and one more would cost each delivery. So the
 * factories of the last days are found in the index by factory, each by one look, and then the next rows of each.
 */
const selectNext = `
  WITH RECURSIVE factories AS (
    (SELECT factory FROM hookmill.deliveries WHERE day = 0 OR day >= $3 ORDER BY factory LIMIT 1)
    UNION ALL
    SELECT (
      SELECT factory FROM hookmill.deliveries
      WHERE (day = 0 OR day >= $3) AND factory > factories.factory ORDER BY factory LIMIT 1)
    FROM factories WHERE factory IS NOT NULL
  )
  SELECT next.* FROM factories CROSS JOIN LATERAL (
    SELECT seq, factory, uid, webhook, outcome, at_ms AS "atMs" FROM hookmill.deliveries
    WHERE factory = factories.factory AND seq > $1 AND seq <= $2 AND (day = 0 OR day >= $3)
    ORDER BY seq LIMIT ${tallyRowsMax}
  ) AS next
  ORDER BY seq LIMIT ${tallyRowsMax}`;

const selectTallies = `
  SELECT factory, uid, hour, webhook, accepted, duplicates, rejected_auth AS "rejectedAuth",
    rejected_json AS "rejectedJson", rejected_large AS "rejectedLarge", handshakes,
    first_good_ms AS "firstGoodMs", last_good_ms AS "lastGoodMs", longest_gap_ms AS "longestGapMs",
    rejected_in_row AS "rejectedInRow", last_rejected_ms AS "lastRejectedMs"
  FROM hookmill.tallies WHERE factory = $1 AND ($2::text IS NULL OR uid = $2) AND hour >= $3
  ORDER BY uid, hour`;

const isMeant = '($1::text IS NULL OR factory = $1)';
const selectHealth =
  'SELECT factory, uid, webhook, state, since_ms AS "sinceMs", from_ms AS "fromMs" FROM hookmill.webhook_health';

export function prepareTallies(pool: Pool) {
  return {
    recordTallies: ({ from, to, tallies }) =>
      inTransaction(pool, async client => {
        const advanced = await client.query(
          'UPDATE hookmill.tally_position SET seq = $2, day = $3 WHERE seq = $1',
          [from.seq, to.seq, to.day],
        );
        // After a lost connection, the same step finds that it was taken.
        if (advanced.rowCount === 0) return false;
        const columns = toColumns(tallies, tallyFields);
        await client.query(addTallies, columns);
        await client.query(wakeHealth, toColumns(tallies, ['factory', 'uid', 'webhook', 'rejectedInRow']));
        return true;
      }),
    recordHealth: async ({ nowMs, judged }) => {
      // Here, because one daemon at a time does this, every few seconds.
      await pool.query(tallyResults);
      return inTransaction(pool, async client => {
        await client.query(seeHealth, [nowMs, nowMs - listeningBreakMs]);
        await client.query(judgeHealth, toColumns(judged, ['uid', 'state', 'sinceMs', 'fromMs', 'dueMs']));
        const forgotten = judged.filter(({ dueMs }) => dueMs === null).map(({ uid }) => uid);
        await client.query('DELETE FROM hookmill.webhook_health WHERE uid = ANY ($1)', [forgotten]);
        const [answer] = (await client.query<{ due: boolean }>(isAnyDue, [nowMs])).rows;
        return answer?.due === true;
      });
    },
  } satisfies Partial<AsyncVerbTable>;
}

const tallyFields = [
  ...(['factory', 'uid', 'hour', 'webhook', 'accepted', 'duplicates', 'rejectedAuth'] as const),
  ...(['rejectedJson', 'rejectedLarge', 'handshakes', 'firstGoodMs', 'lastGoodMs'] as const),
  ...(['longestGapMs', 'rejectedInRow', 'lastRejectedMs'] as const),
];

// greatest and least ignore nulls.
const addTallies = `
  INSERT INTO hookmill.tallies AS tally (factory, uid, hour, webhook, accepted, duplicates, rejected_auth, rejected_json,
    rejected_large, handshakes, first_good_ms, last_good_ms, longest_gap_ms, rejected_in_row, last_rejected_ms)
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[],
    $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[])
  ON CONFLICT (factory, uid, hour) DO UPDATE SET
    webhook = excluded.webhook,
    accepted = tally.accepted + excluded.accepted,
    duplicates = tally.duplicates + excluded.duplicates,
    rejected_auth = tally.rejected_auth + excluded.rejected_auth,
    rejected_json = tally.rejected_json + excluded.rejected_json,
    rejected_large = tally.rejected_large + excluded.rejected_large,
    handshakes = tally.handshakes + excluded.handshakes,
    longest_gap_ms = greatest(tally.longest_gap_ms, excluded.longest_gap_ms, excluded.first_good_ms - tally.last_good_ms),
    first_good_ms = least(tally.first_good_ms, excluded.first_good_ms),
    last_good_ms = greatest(tally.last_good_ms, excluded.last_good_ms),
    rejected_in_row = excluded.rejected_in_row
      + CASE WHEN excluded.last_good_ms IS NULL THEN tally.rejected_in_row ELSE 0 END,
    last_rejected_ms = greatest(tally.last_rejected_ms, excluded.last_rejected_ms)`;

const wakeHealth = `
  INSERT INTO hookmill.webhook_health AS known (factory, uid, webhook, state, from_ms, due_ms)
  SELECT max(factory), uid, max(webhook), 'never seen', 0, CASE WHEN max(rejected_in_row) > 0 THEN 0 ELSE 1 END
  FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) AS given (factory, uid, webhook, rejected_in_row)
  GROUP BY uid
  ON CONFLICT (uid) DO UPDATE SET webhook = excluded.webhook,
    due_ms = CASE WHEN excluded.due_ms = 0 OR known.state <> 'healthy' THEN 0 ELSE known.due_ms END`;

const seeHealth = `
  UPDATE hookmill.tally_position SET seen_ms = $1,
    listening_since_ms = CASE WHEN seen_ms < $2 THEN $1 ELSE listening_since_ms END`;

// Rows to tally have numbers after the position, which a tally sets to the last number that was taken.
const isAnyDue = `
  SELECT EXISTS (SELECT FROM hookmill.webhook_health WHERE due_ms <= $1) OR (
    SELECT last_value - CASE WHEN is_called THEN 0 ELSE 1 END FROM hookmill.delivery_seq) > (
    SELECT seq FROM hookmill.tally_position) AS due`;

const judgeHealth = `
  UPDATE hookmill.webhook_health AS known SET state = judged.state, since_ms = judged.since_ms, from_ms = judged.from_ms, due_ms = judged.due_ms
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
    AS judged (uid, state, since_ms, from_ms, due_ms)
  WHERE known.uid = judged.uid AND judged.due_ms IS NOT NULL`;

/** Reads the tallies of runs, together with the ends that are not tallied yet. */
export function readRunTallies(select: Select): Pick<DeliveryLogReader, 'readRunTallies'> {
  return {
    readRunTallies: async ({ factory, automations, sinceHour, durationsSinceHour }) => {
      const [now = { running: 0, queued: 0, held: 0, waiting: 0 }] = await select<RunsNow>(countNow, [
        factory,
      ]);
      return {
        tallies: await select<RunTally>(selectRunTallies, [factory, sinceHour]),
        lastRuns: await select<LastRun>(selectLastRuns, [factory, automations]),
        durations: await select<RunDuration>(selectDurations, [factory, durationsSinceHour]),
        now,
      };
    },
  };
}

const selectRunTallies = `
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
