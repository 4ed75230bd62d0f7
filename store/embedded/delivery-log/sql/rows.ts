import { parseJsonText } from '../../../../json/parse-json-text.ts';
import { withoutNulls } from '../../../delivery-log/stored-rows.ts';
import type { Afterwards, PastAttempt, Run, RunCancel, RunReport } from '../../../ports/delivery-log.ts';

/** Selects the columns of a `LoggedDelivery`. */
export const selectDelivery = `
  SELECT id, factory, webhook, uid, at_ms AS atMs, size, outcome, identity, identity_source AS identitySource,
    authenticated_by AS authenticatedBy, verified_with AS verifiedWith, reason, duplicate_of AS duplicateOf, digest AS snapshot, headers, form
  FROM deliveries JOIN series ON series.key = deliveries.series
    LEFT JOIN snapshots ON snapshots.key = deliveries.snapshot`;

/** Whether a run has failed and keeps those behind it in its order waiting. */
export const isHolding = "state = 'failed' AND holds AND dismissed IS NULL";

/** Selects the first run of an order lane that has not ended, or holds those behind it. */
export function selectFirst(lane: string): string {
  return `SELECT min(first.seq) FROM runs AS first INDEXED BY runs_in_order WHERE first.order_lane = ${lane}
    AND (state IN ('queued', 'running') OR ${isHolding})`;
}

/** The failed run that holds a run; null if none does. */
export const heldBy = `iif(runs.parked = 'order', (
  SELECT holder.id FROM runs AS holder WHERE holder.seq = (${selectFirst('runs.order_lane')}) AND holder.state = 'failed'), NULL)`;

/** Selects the columns of a `Run`. */
export const selectRun = `
  SELECT runs.id, deliveries.id AS deliveryId, runs.factory, webhook, automation, runner,
    coalesce(order_lane, limit_lane) AS lane, replay, manual, digest AS snapshot, state,
    attempts, claims, not_before_ms AS notBeforeMs, created_at_ms AS createdAtMs, started_at_ms AS startedAtMs,
    finished_at_ms AS finishedAtMs, claimed_by AS claimedBy, waits_until_ms AS waitsUntilMs, report, error, cancel,
    afterwards, again_of AS againOf, history, ${heldBy} AS heldBy,
    stopped, dismissed, ${isHolding} AS holds, delivery_count AS deliveryCount,
    coalesce(parked, iif(state = 'queued' AND gathers IS NOT NULL, 'deliveries', NULL)) AS waitsFor
  FROM runs JOIN deliveries ON deliveries.seq = runs.delivery JOIN series ON series.key = deliveries.series
    LEFT JOIN snapshots ON snapshots.key = runs.snapshot`;

/** Selects the columns of an `EventRecord`. */
export const selectEvent =
  'SELECT payload, form, headers FROM deliveries WHERE id = ? AND payload IS NOT NULL';

/** Selects the source of an applied state, as JSON text. */
export const selectSource = "SELECT json -> '$.source' FROM snapshots WHERE digest = ?";

export const selectSnapshot = 'SELECT json FROM snapshots WHERE digest = ?';

/**
 * Selects the keys of the runs that work with a delivery, also those that took it up later. `delivery` is an expression
 * for its key.
 */
export function selectRunsOf(delivery: string): string {
  return `SELECT seq FROM runs WHERE delivery = ${delivery}
    UNION SELECT run FROM run_deliveries WHERE delivery = ${delivery}`;
}

/** Selects the columns of a `RunDelivery`. */
export const selectRunDeliveries = `
  SELECT deliveries.id, at_ms AS atMs, size FROM deliveries WHERE seq IN (
    SELECT delivery FROM runs WHERE id = @id
    UNION SELECT run_deliveries.delivery FROM runs JOIN run_deliveries ON run = runs.seq WHERE runs.id = @id)
  ORDER BY seq`;

/** A run as SQLite stores it: without booleans. */
export type RunRow = Omit<Run, Flag | 'report' | 'cancel' | 'afterwards' | 'history'> & {
  readonly [F in Flag]: number;
} & {
  readonly report: string | null;
  readonly cancel: string | null;
  readonly afterwards: string | null;
  readonly history: string | null;
};

type Flag = 'replay' | 'manual' | 'stopped' | 'dismissed' | 'holds';

export function toRun({
  manual,
  stopped,
  dismissed,
  holds,
  report,
  cancel,
  afterwards,
  history,
  ...row
}: RunRow): Run {
  return {
    ...withoutNulls(row),
    replay: row.replay === 1,
    ...(report !== null && { report: parseJsonText(report) as RunReport }),
    ...(cancel !== null && { cancel: parseJsonText(cancel) as RunCancel }),
    ...(afterwards !== null && { afterwards: parseJsonText(afterwards) as Afterwards }),
    ...(history !== null && { history: parseJsonText(history) as PastAttempt[] }),
    ...(manual === 1 && { manual: true }),
    ...(stopped === 1 && { stopped: true }),
    ...(dismissed === 1 && { dismissed: true }),
    ...(holds === 1 && { holds: true }),
  };
}
