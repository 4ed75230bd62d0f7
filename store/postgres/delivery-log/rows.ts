import { readSortableIdTime } from '../../../schema/ids.ts';
import { toDay } from './partitions.ts';

/** The columns of a delivery, from `deliveries` and `snapshots`. */
export const deliveryColumns = `
  id, factory, webhook, uid, at_ms AS "atMs", size, outcome, identity, identity_source AS "identitySource",
  authenticated_by AS "authenticatedBy", reason, duplicate_of AS "duplicateOf", digest AS snapshot, headers`;

/** The columns of a `Run`, from `runs` and `snapshots`. */
export const runColumns = `
  id, delivery_id AS "deliveryId", factory, webhook, automation, replay, digest AS snapshot, state, attempts, claims,
  not_before_ms AS "notBeforeMs", created_at_ms AS "createdAtMs", started_at_ms AS "startedAtMs",
  finished_at_ms AS "finishedAtMs", claimed_by AS "claimedBy",
  waits_until_ms AS "waitsUntilMs", report::json AS report, error`;

/** Finds a delivery by the values of `toIdValues`. */
export const isDelivery = 'id = $1 AND ($2::integer IS NULL OR day IN (0, $2))';

/** An id tells its time, so that only one partition is looked at beside the one for what is kept longer. */
export function toIdValues(id: string): unknown[] {
  const atMs = readSortableIdTime(id);
  return [id, atMs === undefined ? null : toDay(atMs)];
}
