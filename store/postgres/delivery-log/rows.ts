import type { EventHeaders } from '../../../schema/event-headers.ts';
import type { LoggedDelivery, Run } from '../../delivery-log.ts';

/** The columns of a `LoggedDelivery`, from `deliveries` and `snapshots`. */
export const deliveryColumns = `
  id, factory, webhook, uid, at_ms AS "atMs", size, outcome, identity, identity_source AS "identitySource",
  authenticated_by AS "authenticatedBy", reason, duplicate_of AS "duplicateOf", digest AS snapshot, headers`;

/** The columns of a `Run`, from `runs` and `snapshots`. */
export const runColumns = `
  id, delivery_id AS "deliveryId", factory, webhook, automation, replay, digest AS snapshot, state, attempts,
  not_before_ms AS "notBeforeMs", created_at_ms AS "createdAtMs", started_at_ms AS "startedAtMs",
  finished_at_ms AS "finishedAtMs", claimed_by AS "claimedBy", error`;

/** A delivery as PostgreSQL stores it, with its headers as JSON. Null means absent. */
export type DeliveryRecord = Omit<LoggedDelivery, 'headers'> & { readonly headers: string | null };

export function toDelivery({ headers, ...row }: DeliveryRecord): LoggedDelivery {
  const kept: EventHeaders | undefined = headers === null ? undefined : JSON.parse(headers);
  return { ...withoutNulls(row), ...(kept && { headers: kept }) };
}

/** A run as PostgreSQL stores it. Null means absent. */
export type RunRow = Run;

export function toRun(row: RunRow): Run {
  return withoutNulls(row);
}

function withoutNulls<Row extends object>(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Row;
}
