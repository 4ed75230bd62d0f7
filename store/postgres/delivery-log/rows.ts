import { readSortableIdTime } from '../../../schema/ids.ts';
import { toDay } from './partitions.ts';

/** The columns of a delivery, from `deliveries` and `snapshots`. */
export const deliveryColumns = `
  id, factory, webhook, uid, at_ms AS "atMs", size, outcome, identity, identity_source AS "identitySource",
  authenticated_by AS "authenticatedBy", verified_with AS "verifiedWith", reason, duplicate_of AS "duplicateOf", digest AS snapshot, headers, form`;

/** The state of a run: one that is parked is queued, but no claim looks at it. */
export const runState = "CASE state WHEN 'parked' THEN 'queued' ELSE state END";

const isUnfinished = "state IN ('queued', 'parked', 'running')";

const isHolding =
  "state = 'failed' AND dismissed IS NULL AND (flow::jsonb #>> '{order,hold}')::boolean IS TRUE";

/** Whether retention keeps a run with its deliveries: it has not ended, or it has failed and holds those behind it. */
export const isNeeded = `(${isUnfinished} OR ${isHolding})`;

/** The name of the runner of a run, by which an index finds those that are queued. */
export const runnerOfRun = "coalesce(flow::jsonb ->> 'runner', 'default')";

/** The failed run that holds a run that may wait for this lane; null if none does. */
export function holderInLane(orderLane: string): string {
  return `CASE WHEN waits_for = 'order' THEN (
  SELECT run_id FROM (
    SELECT run_id, state FROM hookmill.run_flows WHERE order_lane = ${orderLane}
      AND (state IN ('queued', 'parked', 'running') OR state = 'failed' AND holds AND dismissed IS NULL)
    ORDER BY seq LIMIT 1) AS first WHERE first.state = 'failed') END`;
}

/** The columns of a `Run`, from `runs` and `snapshots`. */
export const runColumns = `
  id, delivery_id AS "deliveryId", factory, webhook, automation, ${runnerOfRun} AS runner,
  coalesce(flow::jsonb #>> '{order,lane}', flow::jsonb #>> '{limit,lane}') AS lane, replay, manual, digest AS snapshot,
  ${runState} AS state,
  attempts, claims, not_before_ms AS "notBeforeMs", created_at_ms AS "createdAtMs", started_at_ms AS "startedAtMs",
  finished_at_ms AS "finishedAtMs", claimed_by AS "claimedBy",
  waits_until_ms AS "waitsUntilMs", report::json AS report, error, cancel::json AS cancel, afterwards::json AS afterwards,
  again_of AS "againOf", history::json AS history, ${holderInLane("flow::jsonb #>> '{order,lane}'")} AS "heldBy", waits_for AS "waitsFor", stopped, dismissed,
  CASE WHEN state = 'failed' AND dismissed IS NULL THEN nullif((flow::jsonb #>> '{order,hold}')::boolean, false) END AS holds,
  delivery_count AS "deliveryCount"`;

/** Selects the columns of a `RunDelivery` by the run's id. */
export const deliveriesOfRun = `
  WITH own AS (SELECT id, day, delivery_id FROM hookmill.runs WHERE id = $1),
    taken AS (
      SELECT delivery_id AS id, day FROM own
      UNION SELECT run_deliveries.delivery_id, run_deliveries.day FROM own JOIN hookmill.run_deliveries ON run_id = own.id)
  SELECT deliveries.id, at_ms AS "atMs", size FROM taken JOIN hookmill.deliveries USING (id, day) ORDER BY seq`;

/** Finds a delivery by the values of `toIdValues`. */
export const isDelivery = 'id = $1 AND ($2::integer IS NULL OR day IN (0, $2))';

/** An id contains its time, so only the partition of that day is searched, and the one for what is kept longer. */
export function toIdValues(id: string): unknown[] {
  const atMs = readSortableIdTime(id);
  return [id, atMs === undefined ? null : toDay(atMs)];
}
