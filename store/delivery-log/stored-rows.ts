import { parseJsonText } from '../../json/parse-json-text.ts';
import type { FormFormat, IdentitySource, RunState } from '../../schema/delivery.ts';
import type { EventHeaders } from '../../schema/event-headers.ts';
import { toPayload } from '../../schema/payloads/form-payload.ts';
import type {
  DeliverySummary,
  LoggedDelivery,
  ReportedRun,
  RunReport,
  StoredContent,
  StoredEvent,
} from '../ports/delivery-log.ts';

// The rows of a database as they are read from it. Null means absent; event headers and the format of a form are JSON text.

export type DeliveryRecord = Omit<LoggedDelivery, 'headers' | 'form'> & {
  readonly headers: string | null;
  readonly form: string | null;
};

export function toDelivery({ headers, form, ...row }: DeliveryRecord): LoggedDelivery {
  return {
    ...withoutNulls(row),
    ...(headers !== null && { headers: parseJsonText(headers) as EventHeaders }),
    ...(form !== null && { form: parseJsonText(form) as FormFormat }),
  };
}

/** Where the IDs of a provider's events are found: in the header of its signature scheme. */
export const schemeSource: IdentitySource = 'scheme';

/** @limit Overdue runs that are looked at together: the others follow with the next look. */
export const overdueRunsMax = 100;
/** @limit Runs that wait for approval which are looked at together: their automations have an alert. */
export const unapprovedRunsMax = 1_000;

/** Makes the report that is kept after the one before it; undefined if it is one too many. */
export function followReport(
  before: RunReport | null,
  { report, countMax }: Pick<ReportedRun, 'report' | 'countMax'>,
): RunReport | undefined {
  const count = (before?.count ?? 0) + 1;
  if (count > countMax) return undefined;
  const { message: _, ...known } = before ?? {};
  return { ...known, ...report, count };
}

/** A stored body. */
export interface BodyRecord {
  readonly payload: Uint8Array;
  readonly form: string | null;
}

export interface EventRecord extends BodyRecord {
  readonly headers: string;
}

export function toEvent(row: EventRecord | undefined): StoredEvent | undefined {
  return row && { payload: readStoredPayload(row), headers: parseJsonText(row.headers) as EventHeaders };
}

/** Reads the payload of a stored body, by the format that it had when it was accepted. */
function readStoredPayload({ payload, form }: BodyRecord): Uint8Array {
  return toPayload(payload, form === null ? undefined : (parseJsonText(form) as FormFormat));
}

export function toContent(row: BodyRecord | undefined): StoredContent | undefined {
  return row && { body: row.payload, payload: readStoredPayload(row) };
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
