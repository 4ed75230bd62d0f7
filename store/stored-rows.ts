import type { EventHeaders } from '../schema/event-headers.ts';
import type { LoggedDelivery, StoredEvent } from './delivery-log.ts';

// The rows of a database as they are read from it. Null means absent, and event headers are JSON text.

export type DeliveryRecord = Omit<LoggedDelivery, 'headers'> & { readonly headers: string | null };

export function toDelivery({ headers, ...row }: DeliveryRecord): LoggedDelivery {
  const kept = parseHeaders(headers);
  return { ...withoutNulls(row), ...(kept && { headers: kept }) };
}

export interface EventRecord {
  readonly payload: Uint8Array;
  readonly headers: string | null;
}

/** A delivery of an older log has no headers. */
export function toEvent(row: EventRecord | undefined): StoredEvent | undefined {
  return row && { payload: row.payload, headers: parseHeaders(row.headers) ?? {} };
}

export function withoutNulls<Row extends object>(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Row;
}

function parseHeaders(json: string | null): EventHeaders | undefined {
  return json === null ? undefined : JSON.parse(json);
}
