import type { Commit } from '../../../schema/commit.ts';
import { parseSourceCommit } from '../../../schema/source-commit.ts';
import { hourMs } from '../../../schema/time-units.ts';
import {
  type BodyRecord,
  type DeliveryRecord,
  type RunCount,
  type SummaryRecord,
  schemeSource,
  toContent,
  toDelivery,
  toSummaries,
  withoutNulls,
} from '../../delivery-log/stored-rows.ts';
import type {
  DeliveryFilter,
  DeliveryLogReader,
  EndToTell,
  FailedAutomation,
  HourlyCount,
  LoggedDelivery,
  Pause,
  Run,
  RunDelivery,
  RunFilter,
  UnfinishedRuns,
  UnloggedCount,
} from '../../ports/delivery-log.ts';
import { closedError } from '../../ports/store-error.ts';
import { openPool, waitForClose } from '../connection/pool.ts';
import { toLogFailure } from '../connection/postgres-failure.ts';
import { toStorableValues } from '../connection/text.ts';
import { migrateOnce } from '../migrations.ts';
import { selectPauses } from './pauses.ts';
import { deliveriesOfRun, deliveryColumns, isDelivery, runColumns, runState, toIdValues } from './rows.ts';
import { preparePostgresSearch, type Select, settle } from './search.ts';
import { readRunTallies, readTallies } from './tallies.ts';
import { sumOfUnlogged } from './unlogged.ts';

/** @limit Connections by which a process reads the delivery log: a slow query then delays three others at most. */
const readConnectionsMax = 3;

/** Whether a row of `run_flows` belongs to a failed run that holds others. An index has all rows of lanes that wait. */
const isHoldingFlow = "order_lane IS NOT NULL AND state = 'failed' AND holds AND dismissed IS NULL";

/** Reads the delivery log in PostgreSQL. It connects with the first question. */
export function openPostgresReader(url: string): DeliveryLogReader & { close(): Promise<void> } {
  const pool = openPool(url, { connectionsMax: readConnectionsMax });
  const migrated = migrateOnce(pool);
  let closed: Promise<void> | undefined;
  const select: Select = async (text, values) => {
    if (closed) throw closedError();
    try {
      await migrated();
      const { rows } = await pool.query(text, toStorableValues(values));
      return rows;
    } catch (error) {
      throw toLogFailure(error);
    }
  };
  const readContent = async (id: string) => {
    const text = `SELECT payload, form FROM hookmill.deliveries WHERE ${isDelivery} AND payload IS NOT NULL`;
    return toContent((await select<BodyRecord>(text, toIdValues(id)))[0]);
  };
  return {
    ...readDeliveries(select),
    ...readCounts(select),
    summarizeDeliveries: async (ids, bytes) => {
      const rows = `SELECT id, outcome, authenticated_by AS "authenticatedBy", reason, duplicate_of AS "duplicateOf",
          headers, form, substring(payload FROM 1 FOR $2) AS beginning
        FROM hookmill.deliveries WHERE id = ANY ($1)`;
      const counts = `SELECT delivery_id AS id, ${runState} AS state, count(*)::integer AS count FROM (
          SELECT delivery_id, id, state FROM hookmill.runs WHERE delivery_id = ANY ($1)
          UNION SELECT taken.delivery_id, id, state
          FROM hookmill.run_deliveries AS taken JOIN hookmill.runs ON id = run_id WHERE taken.delivery_id = ANY ($1)
        ) AS runs GROUP BY 1, 2`;
      return toSummaries(
        await select<SummaryRecord>(rows, [ids, bytes]),
        await select<RunCount>(counts, [ids]),
      );
    },
    ...readRuns(select),
    ...readTroubledRuns(select),
    ...readTallies(select),
    ...readRunTallies(select),
    findLast: async (kind, factory) => {
      const text = `SELECT id FROM hookmill.${kind} WHERE factory = $1 AND seq <= $2 ORDER BY seq DESC LIMIT 1`;
      return (await select<{ id: string }>(text, [factory, await settle(select, kind)]))[0]?.id;
    },
    readPayload: async id => (await readContent(id))?.payload,
    readContent,
    readSnapshot: async digest => {
      const [row] = await select<{ json: string }>('SELECT json FROM hookmill.snapshots WHERE digest = $1', [
        digest,
      ]);
      return row?.json;
    },
    sumUnlogged: ({ factory, uid = null, sinceMs }) =>
      select<UnloggedCount>(sumOfUnlogged, [factory, uid, sinceMs]),
    close: () => {
      closed ??= waitForClose(pool.end());
      return closed;
    },
  };
}

function readDeliveries(select: Select) {
  const from = 'FROM hookmill.deliveries LEFT JOIN hookmill.snapshots ON key = snapshot';
  /** Reads each snapshot's source once: many rows share one, and it may be long. */
  const withCommits = async (rows: readonly LoggedDelivery[]): Promise<LoggedDelivery[]> => {
    const digests = [...new Set(rows.flatMap(({ snapshot }) => snapshot ?? []))];
    if (digests.length === 0) return [...rows];
    const sources = await select<{ digest: string; source: string | null }>(
      // PostgreSQL reads no JSON with an escaped NUL, which a filter may have.
      `SELECT digest, replace(json, '\\u0000', '\\ufffd')::json ->> 'source' AS source
      FROM hookmill.snapshots WHERE digest = ANY ($1)`,
      [digests],
    );
    const commits = new Map<string | undefined, Commit | undefined>(
      sources.map(({ digest, source }) => [digest, parseSourceCommit(source)]),
    );
    return rows.map(row => {
      const commit = commits.get(row.snapshot);
      return commit ? { ...row, commit } : row;
    });
  };
  const search = preparePostgresSearch<DeliveryFilter, LoggedDelivery>(select, {
    name: 'deliveries',
    time: 'at_ms',
    event: 'own',
    join: '',
    looksFor: ['sinceMs', 'untilMs', 'automation', 'state', 'content'],
    conditions: ({ outcome, automation, state }, bind) => {
      const ofRun = [
        ...(automation === undefined ? [] : [`automation = ${bind(automation)}`]),
        ...(state === undefined ? [] : [`${runState} = ${bind(state)}`]),
      ].join(' AND ');
      return [
        ...(outcome === undefined ? [] : [`own.outcome = ANY (${bind([outcome].flat())})`]),
        ...(ofRun === ''
          ? []
          : [
              `(EXISTS (SELECT FROM hookmill.runs WHERE delivery_id = own.id AND runs.day = own.day AND ${ofRun})
              OR EXISTS (SELECT FROM hookmill.run_deliveries AS taken JOIN hookmill.runs ON id = run_id
                WHERE taken.delivery_id = own.id AND ${ofRun}))`,
            ]),
      ];
    },
    readRows: async (factory, seqs, order) => {
      const text = `SELECT ${deliveryColumns} ${from} WHERE factory = $1 AND seq = ANY ($2) ORDER BY seq ${order}`;
      return withCommits((await select<DeliveryRecord>(text, [factory, seqs])).map(toDelivery));
    },
  });
  return {
    listDeliveries: async wanted => (await search(wanted, false)).rows,
    searchDeliveries: wanted => search(wanted, true),
    async findDelivery(id) {
      const text = `SELECT ${deliveryColumns} ${from} WHERE ${isDelivery}`;
      const rows = await select<DeliveryRecord>(text, toIdValues(id));
      return (await withCommits(rows.map(toDelivery)))[0];
    },
  } satisfies Partial<DeliveryLogReader>;
}

function readCounts(select: Select) {
  return {
    async listAcceptedEvents(uid, eventIds) {
      const text = `SELECT event FROM unnest($3::text[]) AS event WHERE EXISTS (
        SELECT FROM hookmill.accepted WHERE identity = hookmill.accepted_key($1, $2, event))`;
      return (await select<{ event: string }>(text, [uid, schemeSource, eventIds])).map(({ event }) => event);
    },
    async countAccepted(uid, sinceMs) {
      const [row] = await select<{ lastAtMs: number | null; accepted: number }>(
        `SELECT
          (SELECT at_ms FROM hookmill.deliveries WHERE uid = $1 AND outcome = 'Accepted'
            ORDER BY at_ms DESC LIMIT 1) AS "lastAtMs",
          (SELECT count(*) FROM hookmill.deliveries
            WHERE uid = $1 AND at_ms >= $2 AND (day = 0 OR day >= hookmill.day_of($2)) AND outcome = 'Accepted') AS accepted`,
        [uid, sinceMs],
      );
      const { lastAtMs = null, accepted = 0 } = row ?? {};
      return lastAtMs === null ? { accepted } : { lastAtMs, accepted };
    },
    async countByHour(uid, sinceMs) {
      const [latest] = await select<Pick<LoggedDelivery, 'id' | 'atMs' | 'outcome'>>(
        `SELECT id, at_ms AS "atMs", outcome FROM hookmill.deliveries WHERE uid = $1
        ORDER BY at_ms DESC, seq DESC LIMIT 1`,
        [uid],
      );
      const counts = await select<HourlyCount>(
        `SELECT outcome, ((at_ms - $2) / ${hourMs})::integer AS hour, count(*) AS deliveries
        FROM hookmill.deliveries WHERE uid = $1 AND at_ms >= $2 AND (day = 0 OR day >= hookmill.day_of($2))
        GROUP BY outcome, hour ORDER BY outcome, hour`,
        [uid, sinceMs],
      );
      return latest ? { latest, counts } : { counts };
    },
  } satisfies Partial<DeliveryLogReader>;
}

function readRuns(
  select: Select,
): Pick<
  DeliveryLogReader,
  | 'listPauses'
  | 'listRuns'
  | 'searchRuns'
  | 'findRun'
  | 'listRunsOfDelivery'
  | 'listRunDeliveries'
  | 'countUnfinishedRuns'
> {
  const read = prepareReadRuns(select);
  const search = preparePostgresSearch<RunFilter, Run>(select, {
    name: 'runs',
    time: 'created_at_ms',
    event: 'event',
    join: 'JOIN hookmill.deliveries AS event ON event.id = own.delivery_id AND event.day = own.day',
    looksFor: ['sinceMs', 'untilMs', 'webhook', 'uid', 'content'],
    conditions: ({ automation, state }, bind) => [
      ...(automation === undefined ? [] : [`own.automation = ${bind(automation)}`]),
      ...(state === undefined ? [] : [`${runState} = ${bind(state)}`]),
    ],
    readRows: (factory, seqs, order) =>
      read(`WHERE factory = $1 AND seq = ANY ($2) ORDER BY seq ${order}`, [factory, seqs]),
  });
  return {
    listPauses: async ({ factory, nowMs }) =>
      (await select<Pause>(selectPauses, [factory, nowMs])).map(withoutNulls),
    listRuns: async wanted => (await search(wanted, false)).rows,
    searchRuns: wanted => search(wanted, true),
    // A replay's id is younger than its delivery, by whose day it is stored.
    findRun: async id => (await read('WHERE id = $1', [id]))[0],
    listRunsOfDelivery: deliveryId => {
      const own = `SELECT id FROM hookmill.runs WHERE delivery_id = $1
        UNION SELECT run_id FROM hookmill.run_deliveries WHERE delivery_id = $1`;
      return read(`WHERE id IN (${own}) ORDER BY seq`, [deliveryId]);
    },
    listRunDeliveries: runId => select<RunDelivery>(deliveriesOfRun, [runId]),
    countUnfinishedRuns: async () => {
      const [row] = await select<Omit<UnfinishedRuns, 'queued'> & { readonly due: number }>(
        `SELECT count(*) AS due, min(not_before_ms) AS "firstDueMs",
          (SELECT count(*) FROM hookmill.run_flows WHERE state = 'parked' AND waits_for NOT IN ('paused', 'approval'))
            + (SELECT count(*) FROM hookmill.runs WHERE state = 'parked' AND waits_for = 'paused')
            + (SELECT count(*) FROM hookmill.runs WHERE state = 'parked' AND waits_for = 'approval') AS waiting,
          (SELECT count(*) FROM hookmill.runs WHERE state = 'running') AS running,
          (SELECT count(*) FROM hookmill.run_flows WHERE ${isHoldingFlow}) AS holding
        FROM hookmill.runs WHERE state = 'queued'`,
        [],
      );
      const { due, ...counts } = withoutNulls(row ?? { due: 0, waiting: 0, running: 0, holding: 0 });
      return { ...counts, queued: due + counts.waiting };
    },
  };
}

const isUnapproved = "state = 'parked' AND waits_for = 'approval'";
const overdue = {
  receiver: ["state = 'running' AND claimed_by IS NULL", 'waits_until_ms'],
  approval: [`${isUnapproved} AND cancel IS NULL`, 'not_before_ms'],
} as const;

function readTroubledRuns(select: Select) {
  const read = prepareReadRuns(select);
  return {
    listEndsToTell: limit =>
      select<EndToTell>(
        `SELECT ends.seq, run_id AS run, ends.state, factory, finished_at_ms AS "finishedAtMs"
        FROM hookmill.run_ends AS ends LEFT JOIN hookmill.runs ON id = run_id
        ORDER BY row_number() OVER (PARTITION BY factory ORDER BY ends.seq), ends.seq LIMIT $1`,
        [limit],
      ),
    listUnapprovedRuns: () =>
      read(
        `WHERE ${isUnapproved} AND seq IN (
          SELECT min(seq) FROM hookmill.runs WHERE ${isUnapproved} GROUP BY factory, automation) ORDER BY seq`,
        [],
      ),
    listOverdueRuns: ({ waitsFor, nowMs, limit, skip }) => {
      const [where, untilMs] = overdue[waitsFor];
      const page = `${untilMs} <= $1 ORDER BY ${untilMs}, seq LIMIT $2 OFFSET $3`;
      return read(`WHERE ${where} AND ${page}`, [nowMs, limit, skip]);
    },
    listFailedAutomations: limit =>
      select<FailedAutomation>(
        `SELECT factory, automation, seq AS failure FROM hookmill.failures
        ORDER BY row_number() OVER (PARTITION BY factory ORDER BY seq), seq LIMIT $1`,
        [limit],
      ),
    findHoldingRun: async ({ factory, automation }) => {
      const holding = `SELECT run_id FROM hookmill.run_flows WHERE ${isHoldingFlow} AND factory = $1 AND automation = $2 LIMIT 1`;
      return (await read(`WHERE id IN (${holding})`, [factory, automation]))[0];
    },
  } satisfies Partial<DeliveryLogReader>;
}

/** Prepares reading runs: the rest of the statement says which. */
function prepareReadRuns(select: Select) {
  const from = `SELECT ${runColumns} FROM hookmill.runs LEFT JOIN hookmill.snapshots ON key = snapshot`;
  return async (rest: string, values: readonly unknown[]): Promise<Run[]> =>
    (await select<Run>(`${from} ${rest}`, values)).map(withoutNulls);
}
