import type { Commit } from '../../../../schema/commit.ts';
import { type Outcome, type RunState, runStates } from '../../../../schema/delivery.ts';
import { parseSourceCommit } from '../../../../schema/source-commit.ts';
import { hourMs } from '../../../../schema/time-units.ts';
import {
  type DeliveryRecord,
  type EventRecord,
  type RunCount,
  type SummaryRecord,
  schemeSource,
  toContent,
  toDelivery,
  toSummaries,
} from '../../../delivery-log/stored-rows.ts';
import type { SqliteDatabase } from '../../../home/sqlite.ts';
import type {
  DeliveryFilter,
  EndToTell,
  FailedAutomation,
  HourlyCount,
  LoggedDelivery,
  OverduePart,
  Run,
  RunDelivery,
  RunFilter,
  SynchronousReader,
} from '../../../ports/delivery-log.ts';
import { openDatabaseForReading } from '../sql/database.ts';
import { makeIdentityKey } from '../sql/keys.ts';
import { prepareListPauses } from '../sql/pauses.ts';
import {
  isHolding,
  type RunRow,
  selectDelivery,
  selectEvent,
  selectRun,
  selectRunDeliveries,
  selectRunsOf,
  selectSnapshot,
  selectSource,
  toRun,
} from '../sql/rows.ts';
import { prepareReadRunTallies, prepareTallyQueries } from '../sql/tallies.ts';
import { prepareSumUnlogged } from '../sql/unlogged.ts';
import type { QueryVerb } from './query.ts';
import { prepareSqliteSearch, type SeqList } from './search.ts';

/** @limit Most bytes of payloads that the embedded store reads to summarise a list (16 MiB): some ten ms, also with two hundred payloads of 80 KiB. */
const summarizedBytesMax = 16 * 1024 * 1024;

export type SqliteReader = SynchronousReader & { close(): void };

/** A log that was never written reads as empty. Throws DeliveryLogError `version`. */
export function openSqliteReader(file: string): SqliteReader {
  return prepareReader(openDatabaseForReading(file));
}

/** Reads an open database. */
export function prepareReader(database: SqliteDatabase): SqliteReader {
  const event = database.prepare<[string], EventRecord>(selectEvent);
  const snapshot = database.prepareColumn<[string], string>(selectSnapshot);
  const queries = { ...prepareDeliveryQueries(database), ...prepareRunQueries(database) };
  return {
    ...queries,
    ...prepareCounts(database),
    ...prepareTroubledRuns(database),
    listPauses: prepareListPauses(database),
    summarizeDeliveries: prepareSummaries(database),
    findLast: (kind, factory) => {
      const list = kind === 'runs' ? 'listRuns' : 'listDeliveries';
      return queries[list]({ factory, limit: 1 })[0]?.id;
    },
    readPayload: deliveryId => toContent(event.get(deliveryId))?.payload,
    readContent: deliveryId => toContent(event.get(deliveryId)),
    readSnapshot: digest => snapshot.get(digest),
    sumUnlogged: prepareSumUnlogged(database),
    ...prepareTallyQueries(database),
    readRunTallies: prepareReadRunTallies(database),
    close: () => database.close(),
  };
}

/** Calls the reader's method. `makeReader` has checked the types of the arguments. */
export function answerQuery(reader: SqliteReader, verb: QueryVerb, given: readonly unknown[]): unknown {
  const answer: (...given: unknown[]) => unknown = reader[verb] as never;
  return answer(...given);
}

function prepareDeliveryQueries(database: SqliteDatabase) {
  const selectSeries = database.prepareColumn<
    { factory: string; name: string | null; uid: string | null; outcomes: string | null },
    number
  >(`
      SELECT key FROM series WHERE factory = @factory
        AND (@name IS NULL AND @uid IS NULL OR webhook = @name OR uid = @uid)
        AND (@outcomes IS NULL OR outcome IN (SELECT value FROM json_each(@outcomes)))`);
  const openList = prepareLists<{ key: number }>(database, 'deliveries WHERE series = @key');
  const list = database.prepare<[string], DeliveryRecord>(`${selectDelivery}
    WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq DESC`);
  const find = database.prepare<[string], DeliveryRecord>(`${selectDelivery} WHERE deliveries.id = ?`);
  const source = database.prepareColumn<[string], string | null>(selectSource);
  const accepted = database.prepareColumn<[Uint8Array], number>(
    'SELECT 1 FROM deliveries WHERE identity_key = ?',
  );

  /** Parses each snapshot's source once: many rows share one, and it may be long. */
  const withCommits = (rows: readonly LoggedDelivery[]): LoggedDelivery[] => {
    const commits = new Map<string, Commit | undefined>();
    return rows.map(row => {
      const { snapshot: digest } = row;
      if (digest === undefined) return row;
      if (!commits.has(digest)) commits.set(digest, parseSourceCommit(source.get(digest)));
      const commit = commits.get(digest);
      return commit ? { ...row, commit } : row;
    });
  };
  const search = prepareSqliteSearch<DeliveryFilter, LoggedDelivery>(database, {
    name: 'deliveries',
    from: 'FROM deliveries CROSS JOIN series ON series.key = deliveries.series',
    time: 'at_ms',
    openLists: ({ factory, webhook: name = null, uid = null, outcome }) => {
      const outcomes = outcome === undefined ? null : JSON.stringify([outcome].flat());
      return selectSeries.all({ factory, name, uid, outcomes }).map(key => openList({ key }));
    },
    conditions: ({ automation, state }) => {
      const ofRun = [...equals('automation', automation), ...equals('state', state)].join(' AND ');
      const own = `SELECT 1 FROM runs WHERE seq IN (${selectRunsOf('deliveries.seq')}) AND ${ofRun}`;
      return ofRun === '' ? [] : [`EXISTS (${own})`];
    },
    readRows: seqs => withCommits(list.all(JSON.stringify(seqs)).map(toDelivery)),
  });
  return {
    listDeliveries: wanted => search(wanted, false).rows,
    searchDeliveries: wanted => search(wanted, true),
    findDelivery: id => withCommits(find.all(id).map(toDelivery))[0],
    listAcceptedEvents: (uid, eventIds) =>
      eventIds.filter(id => accepted.get(makeIdentityKey(uid, schemeSource, id)) !== undefined),
  } satisfies Partial<SynchronousReader>;
}

function prepareSummaries(database: SqliteDatabase): SynchronousReader['summarizeDeliveries'] {
  // A length is read without the payload. Of a value of which it needs a part, SQLite reads everything.
  const selectSizes = database.prepare<[string], { seq: number; size: number | null }>(`
    SELECT seq, length(payload) AS size FROM deliveries
    WHERE id IN (SELECT value FROM json_each(?)) ORDER BY seq DESC`);
  const selectRows = database.prepare<[string, number, string], SummaryRecord>(`
    SELECT id, outcome, authenticated_by AS authenticatedBy, reason, duplicate_of AS duplicateOf, headers, form,
      iif(seq IN (SELECT value FROM json_each(?)), substr(payload, 1, ?), NULL) AS beginning
    FROM deliveries JOIN series ON series.key = deliveries.series
    WHERE id IN (SELECT value FROM json_each(?))`);
  const runs = database.prepare<[string], RunCount>(`
    SELECT deliveries.id, state, count(*) AS count
    FROM deliveries CROSS JOIN runs ON runs.seq IN (${selectRunsOf('deliveries.seq')})
    WHERE deliveries.id IN (SELECT value FROM json_each(?)) GROUP BY deliveries.id, state`);
  return (ids, bytes) => {
    const given = JSON.stringify(ids);
    let sum = 0;
    const isRead = (size: number | null) => {
      sum += size ?? 0;
      return size !== null && sum <= summarizedBytesMax;
    };
    const read = selectSizes.all(given).flatMap(({ seq, size }) => (isRead(size) ? [seq] : []));
    return toSummaries(selectRows.all(JSON.stringify(read), bytes, given), runs.all(given));
  };
}

function prepareTroubledRuns(database: SqliteDatabase) {
  const prepareOverdue = (where: string, untilMs: string) =>
    database.prepare<OverduePart, RunRow>(
      `${selectRun} WHERE ${where} AND ${untilMs} <= @nowMs ORDER BY ${untilMs}, runs.seq LIMIT @limit OFFSET @skip`,
    );
  const overdue = {
    receiver: prepareOverdue("state = 'running' AND claimed_by IS NULL", 'waits_until_ms'),
    approval: prepareOverdue("parked = 'approval' AND cancel IS NULL", 'not_before_ms'),
  };
  const ends = database.prepare<[number], EndToTell>(
    `SELECT run_ends.seq, run, run_ends.state, factory, finished_at_ms AS finishedAtMs
    FROM run_ends LEFT JOIN runs ON id = run
    ORDER BY row_number() OVER (PARTITION BY factory ORDER BY run_ends.seq), run_ends.seq LIMIT ?`,
  );
  const unapproved = database.prepare<[], RunRow>(`${selectRun} WHERE runs.seq IN (
    SELECT min(seq) FROM runs WHERE parked = 'approval' GROUP BY factory, automation) ORDER BY runs.seq`);
  const failed = database.prepare<[number], FailedAutomation>(
    `SELECT factory, automation, seq AS failure FROM failures
    ORDER BY row_number() OVER (PARTITION BY factory ORDER BY seq), seq LIMIT ?`,
  );
  const holding = database.prepare<{ factory: string; automation: string }, RunRow>(`${selectRun}
    WHERE runs.factory = @factory AND automation = @automation AND ${isHolding} LIMIT 1`);
  return {
    listOverdueRuns: part => overdue[part.waitsFor].all(part).map(toRun),
    listEndsToTell: limit => ends.all(limit),
    listUnapprovedRuns: () => unapproved.all().map(toRun),
    listFailedAutomations: limit => failed.all(limit),
    findHoldingRun: of => holding.all(of).map(toRun)[0],
  } satisfies Partial<SynchronousReader>;
}

function prepareCounts(database: SqliteDatabase) {
  // All of them need only the index by series and age.
  const lastAccepted = database.prepareColumn<[string], number | null>(`
      SELECT max((SELECT max(at_ms) FROM deliveries WHERE series = key)) FROM series
      WHERE uid = ? AND outcome = 'Accepted'`);
  const accepted = database.prepareColumn<[string, number], number>(`
      SELECT count(*) FROM series CROSS JOIN deliveries ON series = key
      WHERE uid = ? AND outcome = 'Accepted' AND at_ms >= ?`);
  const hourly = database.prepare<{ uid: string; sinceMs: number }, HourlyCount>(`
    SELECT outcome, CAST((at_ms - @sinceMs) / ${hourMs} AS INTEGER) AS hour, count(*) AS deliveries
    FROM series CROSS JOIN deliveries ON series = key WHERE uid = @uid AND at_ms >= @sinceMs
    GROUP BY outcome, hour`);
  const latest = database.prepare<[string], { id: string; atMs: number; outcome: Outcome }>(`
    SELECT id, at_ms AS atMs, outcome
    FROM series CROSS JOIN deliveries
      ON seq = (SELECT seq FROM deliveries WHERE series = key ORDER BY at_ms DESC, seq DESC LIMIT 1)
    WHERE uid = ? ORDER BY at_ms DESC, seq DESC LIMIT 1`);
  return {
    countAccepted(uid, sinceMs) {
      const lastAtMs = lastAccepted.get(uid) ?? undefined;
      const count = { accepted: accepted.get(uid, sinceMs) ?? 0 };
      return lastAtMs === undefined ? count : { lastAtMs, ...count };
    },
    countByHour(uid, sinceMs) {
      const last = latest.get(uid);
      const counts = hourly.all({ uid, sinceMs });
      return last ? { latest: last, counts } : { counts };
    },
  } satisfies Partial<SynchronousReader>;
}

function prepareRunQueries(
  database: SqliteDatabase,
): Pick<
  SynchronousReader,
  'listRuns' | 'searchRuns' | 'findRun' | 'listRunsOfDelivery' | 'listRunDeliveries' | 'countUnfinishedRuns'
> {
  type Key = { factory: string; state: RunState };
  const openList = prepareLists<Key>(database, 'runs WHERE factory = @factory AND state = @state');
  const openListOfAutomation = prepareLists<Key & { automation: string }>(
    database,
    'runs WHERE factory = @factory AND automation = @automation AND state = @state',
  );
  const list = database.prepare<[string], RunRow>(`${selectRun}
    WHERE runs.seq IN (SELECT value FROM json_each(?)) ORDER BY runs.seq DESC`);
  const find = database.prepare<[string], RunRow>(`${selectRun} WHERE runs.id = ?`);
  const ofDelivery = database.prepare<{ id: string }, RunRow>(
    `${selectRun} WHERE runs.seq IN (${selectRunsOf('(SELECT seq FROM deliveries WHERE id = @id)')}) ORDER BY runs.seq`,
  );
  const deliveriesOf = database.prepare<{ id: string }, RunDelivery>(selectRunDeliveries);
  // All of them need only an index.
  const due = database.prepare<[], { queued: number; firstDueMs: number | null }>(
    `SELECT count(*) AS queued, min(not_before_ms) AS firstDueMs FROM runs WHERE state = 'queued' AND parked IS NULL`,
  );
  const parked = database.prepareColumn<[], number>('SELECT count(*) FROM runs WHERE parked IS NOT NULL');
  const running = database.prepareColumn<[], number>("SELECT count(*) FROM runs WHERE state = 'running'");
  const holding = database.prepareColumn<[], number>(`SELECT count(*) FROM runs WHERE ${isHolding}`);
  const search = prepareSqliteSearch<RunFilter, Run>(database, {
    name: 'runs',
    from: `FROM runs CROSS JOIN deliveries ON deliveries.seq = runs.delivery
      CROSS JOIN series ON series.key = deliveries.series`,
    time: 'created_at_ms',
    openLists: ({ factory, automation, state: only }) =>
      (only ? [only] : runStates).map(state =>
        automation === undefined
          ? openList({ factory, state })
          : openListOfAutomation({ factory, state, automation }),
      ),
    conditions: ({ webhook, uid }) => {
      const either = [...equals('webhook', webhook), ...equals('uid', uid)].join(' OR ');
      return either === '' ? [] : [`(${either})`];
    },
    readRows: seqs => list.all(JSON.stringify(seqs)).map(toRun),
  });
  return {
    listRuns: wanted => search(wanted, false).rows,
    searchRuns: wanted => search(wanted, true),
    findRun: id => find.all(id).map(toRun)[0],
    listRunsOfDelivery: deliveryId => ofDelivery.all({ id: deliveryId }).map(toRun),
    listRunDeliveries: runId => deliveriesOf.all({ id: runId }),
    countUnfinishedRuns: () => {
      const { queued, firstDueMs } = due.get() ?? { queued: 0, firstDueMs: null };
      const waiting = parked.get() ?? 0;
      const others = { running: running.get() ?? 0, holding: holding.get() ?? 0 };
      const counts = { queued: queued + waiting, waiting, ...others };
      return firstDueMs === null ? counts : { ...counts, firstDueMs };
    },
  };
}

/** Prepares lists, each a part of a table for which there is an index. */
function prepareLists<Key extends object>(database: SqliteDatabase, part: string): (key: Key) => SeqList {
  const prepare = (order: string) =>
    database.prepareColumn<[object], number>(
      `SELECT seq FROM ${part} AND seq > @low AND seq < @high ORDER BY seq ${order} LIMIT @limit`,
    );
  const newestFirst = prepare('DESC');
  const oldestFirst = prepare('ASC');
  return key =>
    ({ isOldestFirst, ...range }) =>
      (isOldestFirst ? oldestFirst : newestFirst).all({ ...key, ...range });
}

/** A condition that a column has the filter's value, if the filter has one. */
function equals(column: string, value: string | undefined): readonly string[] {
  return value === undefined ? [] : [`${column} = @${column}`];
}
