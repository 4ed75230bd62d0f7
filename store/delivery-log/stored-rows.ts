import { parseJsonText } from '../../json/parse-json-text.ts';
import type { RunState } from '../../schema/delivery.ts';
import type { EventHeaders } from '../../schema/event-headers.ts';
import type {
  DeliverySummary,
  LoggedDelivery,
  ReportedRun,
  RunReport,
  StoredEvent,
} from '../ports/delivery-log.ts';

// The rows of a database as they are read from it. Null means absent, and event headers are JSON text.

export type DeliveryRecord = Omit<LoggedDelivery, 'headers'> & { readonly headers: string | null };

export function toDelivery({ headers, ...row }: DeliveryRecord): LoggedDelivery {
  return {
    ...withoutNulls(row),
    ...(headers !== null && { headers: parseJsonText(headers) as EventHeaders }),
  };
}

/** @limit Overdue runs that are looked at together: the others follow with the next look. */
export const overdueRunsMax = 100;

/** Makes the report that is kept after the one before it; undefined if it is one too many. */
export function followReport(
  before: RunReport | null,
  { report, countMax }: Pick<ReportedRun, 'report' | 'countMax'>,
): RunReport | undefined {
  const count = (before?.count ?? 0) + 1;
  const { link = before?.link, ...others } = report;
  return count > countMax ? undefined : { ...others, count, ...(link !== undefined && { link }) };
}

export interface EventRecord {
  readonly payload: Uint8Array;
  readonly headers: string;
}

export function toEvent(row: EventRecord | undefined): StoredEvent | undefined {
  return row && { payload: row.payload, headers: parseJsonText(row.headers) as EventHeaders };
}

export interface SummaryRow {
  readonly id: string;
  readonly beginning: Uint8Array | null;
}

/** The runs of a delivery in one state. */
export interface RunCount {
  readonly id: string;
  readonly state: RunState;
  readonly count: number;
}

export function toSummaries(rows: readonly SummaryRow[], counts: readonly RunCount[]): DeliverySummary[] {
  const byId = Map.groupBy(counts, ({ id }) => id);
  return rows.map(({ id, beginning }) => {
    const runs = Object.fromEntries((byId.get(id) ?? []).map(({ state, count }) => [state, count]));
    return { id, runs, ...(beginning && { beginning }) };
  });
}

export function withoutNulls<Row extends object>(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Row;
}
