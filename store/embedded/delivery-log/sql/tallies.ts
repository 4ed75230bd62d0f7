import {
  listeningBreakMs,
  tallyRows,
  tallyRowsMax,
  unhealthyListedMax,
  unhealthyStates,
} from '../../../delivery-log/tally-rows.ts';
import type { VerbTable } from '../../../delivery-log/thread/wire.ts';
import type { SqliteDatabase } from '../../../home/sqlite.ts';
import type { SynchronousReader } from '../../../ports/delivery-log.ts';
import type {
  HealthCounts,
  LastRun,
  RunDuration,
  RunsNow,
  RunTally,
  StoredHealth,
  TalliedRow,
  Tally,
} from '../../../ports/tallies.ts';
import { heldBy } from './rows.ts';

/** @limit Tallies that are removed in one step of pruning: a new delivery waits a few ms for it at most. */
const talliesPerPruneStepMax = 1_000;

export function prepareTallyQueries(database: SqliteDatabase) {
  const listeningSince = database.prepareColumn<[], number>('SELECT listening_since_ms FROM tally_position');
  const history = database.prepare<{ factory: string; uid: string | null; sinceHour: number }, Tally>(
    selectTallies,
  );
  const webhooks = database.prepare<{ factory: string; uid: string | null }, StoredHealth>(
    `${selectHealth} WHERE factory = @factory AND (@uid IS NULL OR uid = @uid) ORDER BY uid`,
  );
  const due = database.prepare<[number, number], StoredHealth>(
    `${selectHealth} WHERE due_ms <= ? ORDER BY due_ms LIMIT ?`,
  );
  const isMeant = '(@factory IS NULL OR factory = @factory)';
  const counts = database.prepare<{ factory: string | null }, HealthCounts['counts'][number]>(
    `SELECT factory, state, count(*) AS webhooks FROM webhook_health WHERE ${isMeant} GROUP BY factory, state
    ORDER BY factory, state`,
  );
  const unhealthy = database.prepare<{ factory: string | null }, StoredHealth>(
    `${selectHealth} WHERE state IN (${unhealthyStates}) AND ${isMeant}
    ORDER BY state, factory, webhook LIMIT ${unhealthyListedMax}`,
  );
  return {
    readNextTallies: prepareReadNext(database),
    readHistory: ({ uid = null, ...filter }) => ({
      listeningSinceMs: listeningSince.get() ?? 0,
      webhooks: webhooks.all({ factory: filter.factory, uid }),
      tallies: history.all({ ...filter, uid }),
    }),
    listDueHealth: (nowMs, limit) => due.all(nowMs, limit),
    countHealth: given => {
      const factory = given ?? null;
      return { counts: counts.all({ factory }), unhealthy: unhealthy.all({ factory }) };
    },
  } satisfies Partial<SynchronousReader>;
}

function prepareReadNext(database: SqliteDatabase): SynchronousReader['readNextTallies'] {
  const position = database.prepareColumn<[], number>('SELECT seq FROM tally_position');
  const next = database.prepareArrays<[number], [number, number, number]>(
    `SELECT seq, series, at_ms FROM deliveries WHERE seq > ? ORDER BY seq LIMIT ${tallyRowsMax}`,
  );
  type Series = Omit<TalliedRow, 'atMs'>;
  const findSeries = database.prepare<[number], Series>(
    'SELECT factory, uid, webhook, outcome FROM series WHERE key = ?',
  );
  return () => {
    const seq = position.get() ?? 0;
    const rows = next.all(seq);
    const series = new Map<number, Series | undefined>();
    const toRow = ([, key, atMs]: [number, number, number]): TalliedRow[] => {
      if (!series.has(key)) series.set(key, findSeries.get(key));
      const common = series.get(key);
      return common ? [{ ...common, atMs }] : [];
    };
    const tallies = tallyRows(rows.flatMap(toRow));
    const to = { seq: rows.at(-1)?.[0] ?? seq, day: 0 };
    return { from: { seq, day: 0 }, to, tallies, isEnd: rows.length < tallyRowsMax };
  };
}

const selectTallies = `
  SELECT factory, uid, hour, webhook, accepted, duplicates, rejected_auth AS rejectedAuth,
    rejected_json AS rejectedJson, rejected_large AS rejectedLarge, handshakes, first_good_ms AS firstGoodMs,
    last_good_ms AS lastGoodMs, longest_gap_ms AS longestGapMs, rejected_in_row AS rejectedInRow,
    last_rejected_ms AS lastRejectedMs
  FROM tallies WHERE factory = @factory AND (@uid IS NULL OR uid = @uid) AND hour >= @sinceHour
  ORDER BY uid, hour`;

const selectHealth =
  'SELECT factory, uid, webhook, state, since_ms AS sinceMs, from_ms AS fromMs FROM webhook_health';

/** Each verb runs within the caller's transaction. */
export function prepareTallyVerbs(database: SqliteDatabase) {
  const advance = database.prepare<[number, number]>('UPDATE tally_position SET seq = ? WHERE seq = ?');
  const add = database.prepare<[Tally]>(addTally);
  const wake = database.prepare<[Tally & { isUrgent: number }]>(`
    INSERT INTO webhook_health (uid, factory, webhook, state, from_ms, due_ms)
    VALUES (@uid, @factory, @webhook, 'never seen', 0, 0)
    ON CONFLICT DO UPDATE SET webhook = excluded.webhook,
      due_ms = iif(@isUrgent OR state <> 'healthy', 0, due_ms)`);
  const judge = database.prepare<[object]>(
    'UPDATE webhook_health SET state = @state, since_ms = @sinceMs, from_ms = @fromMs, due_ms = @dueMs WHERE uid = @uid',
  );
  const forget = database.prepare<[string]>('DELETE FROM webhook_health WHERE uid = ?');
  const see = database.prepare<{ nowMs: number }>(`
    UPDATE tally_position SET seen_ms = @nowMs,
      listening_since_ms = iif(seen_ms < @nowMs - ${listeningBreakMs}, @nowMs, listening_since_ms)`);
  const isAnyDue = database.prepareColumn<{ nowMs: number }, number>(`
      SELECT EXISTS (SELECT 1 FROM deliveries WHERE seq > (SELECT seq FROM tally_position))
        OR EXISTS (SELECT 1 FROM webhook_health WHERE due_ms <= @nowMs)`);
  return {
    recordTallies: ({ from, to, tallies }) => {
      if (advance.run(to.seq, from.seq).changes === 0) return false;
      for (const tally of tallies) {
        add.run(tally);
        wake.run({ ...tally, isUrgent: Number(tally.rejectedInRow > 0) });
      }
      return true;
    },
    recordHealth: ({ nowMs, judged }) => {
      see.run({ nowMs });
      for (const health of judged) {
        if (health.dueMs === null) forget.run(health.uid);
        else judge.run(health);
      }
      return isAnyDue.get({ nowMs }) === 1;
    },
  } satisfies Partial<VerbTable>;
}

const addTally = `
  INSERT INTO tallies (factory, uid, hour, webhook, accepted, duplicates, rejected_auth, rejected_json, rejected_large,
    handshakes, first_good_ms, last_good_ms, longest_gap_ms, rejected_in_row, last_rejected_ms)
  VALUES (@factory, @uid, @hour, @webhook, @accepted, @duplicates, @rejectedAuth, @rejectedJson, @rejectedLarge,
    @handshakes, @firstGoodMs, @lastGoodMs, @longestGapMs, @rejectedInRow, @lastRejectedMs)
  ON CONFLICT DO UPDATE SET
    webhook = excluded.webhook,
    accepted = accepted + excluded.accepted,
    duplicates = duplicates + excluded.duplicates,
    rejected_auth = rejected_auth + excluded.rejected_auth,
    rejected_json = rejected_json + excluded.rejected_json,
    rejected_large = rejected_large + excluded.rejected_large,
    handshakes = handshakes + excluded.handshakes,
    longest_gap_ms = max(longest_gap_ms, excluded.longest_gap_ms, coalesce(excluded.first_good_ms - last_good_ms, 0)),
    first_good_ms = coalesce(min(first_good_ms, excluded.first_good_ms), first_good_ms, excluded.first_good_ms),
    last_good_ms = coalesce(max(last_good_ms, excluded.last_good_ms), last_good_ms, excluded.last_good_ms),
    rejected_in_row = excluded.rejected_in_row + iif(excluded.last_good_ms IS NULL, rejected_in_row, 0),
    last_rejected_ms = coalesce(max(last_rejected_ms, excluded.last_rejected_ms), last_rejected_ms, excluded.last_rejected_ms)`;

/** Removes a step's share of what is older than an hour. Returns whether there may be more. */
export function prepareRemoveTallies(database: SqliteDatabase): (beforeHour: number) => boolean {
  const old = database.prepare<[number, number], { factory: string; uid: string; hour: number }>(
    'SELECT factory, uid, hour FROM tallies WHERE hour < ? LIMIT ?',
  );
  const remove = database.prepare<[object]>(
    'DELETE FROM tallies WHERE factory = @factory AND uid = @uid AND hour = @hour',
  );
  return beforeHour => {
    const removed = old.all(beforeHour, talliesPerPruneStepMax);
    for (const key of removed) remove.run(key);
    return removed.length === talliesPerPruneStepMax;
  };
}

/** @limit Tallies of runs that are removed in one step of pruning: a new delivery waits a few ms for it at most. */
const runTalliesPerPruneStepMax = 1_000;

/** Prepares reading the tallies of runs, which triggers keep. */
export function prepareReadRunTallies(database: SqliteDatabase): SynchronousReader['readRunTallies'] {
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
export function prepareRemoveRunTallies(database: SqliteDatabase): (beforeHour: number) => boolean {
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
