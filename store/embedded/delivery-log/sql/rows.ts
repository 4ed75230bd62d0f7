import type { Run } from '../../../delivery-log.ts';
import { withoutNulls } from '../../../stored-rows.ts';

/** Selects the columns of a `LoggedDelivery`. */
export const selectDelivery = `
  SELECT id, factory, webhook, uid, at_ms AS atMs, size, outcome, identity, identity_source AS identitySource,
    authenticated_by AS authenticatedBy, reason, duplicate_of AS duplicateOf, digest AS snapshot, headers
  FROM deliveries JOIN series ON series.key = deliveries.series
    LEFT JOIN snapshots ON snapshots.key = deliveries.snapshot`;

/** Selects the columns of a `Run`. */
export const selectRun = `
  SELECT runs.id, deliveries.id AS deliveryId, runs.factory, webhook, automation, replay, digest AS snapshot, state,
    attempts, claims, not_before_ms AS notBeforeMs, created_at_ms AS createdAtMs, started_at_ms AS startedAtMs,
    finished_at_ms AS finishedAtMs, claimed_by AS claimedBy, waits_until_ms AS waitsUntilMs, report, error
  FROM runs JOIN deliveries ON deliveries.seq = runs.delivery JOIN series ON series.key = deliveries.series
    LEFT JOIN snapshots ON snapshots.key = runs.snapshot`;

export const selectPayload = 'SELECT payload FROM deliveries WHERE id = ? AND payload IS NOT NULL';

/** Selects the columns of a `StoredEvent`. */
export const selectEvent = 'SELECT payload, headers FROM deliveries WHERE id = ? AND payload IS NOT NULL';

/** Selects the source of an applied state, as JSON text. */
export const selectSource = "SELECT json -> '$.source' FROM snapshots WHERE digest = ?";

export const selectSnapshot = 'SELECT json FROM snapshots WHERE digest = ?';

/** A run as SQLite stores it: without booleans. */
export type RunRow = Omit<Run, 'replay' | 'report'> & {
  readonly replay: number;
  readonly report: string | null;
};

export function toRun({ report, ...row }: RunRow): Run {
  const reported = report === null ? {} : { report: JSON.parse(report) };
  return { ...withoutNulls(row), replay: row.replay === 1, ...reported };
}
