import { parseJsonText } from '../../json/parse-json-text.ts';
import type { FormFormat, IdentitySource, RunState } from '../../schema/delivery.ts';
import type { EventHeaders } from '../../schema/headers.ts';
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
  return { ...withoutNulls(row), ...parseColumns(headers, form) };
}

function parseColumns(headers: string | null, form: string | null): Pick<LoggedDelivery, 'headers' | 'form'> {
  return {
    ...(headers !== null && { headers: parseJsonText(headers) as EventHeaders }),
    ...(form !== null && { form: parseJsonText(form) as FormFormat }),
  };
}

/** Where the IDs of a provider's events are found: in the header of its signature scheme. */
export const schemeSource: IdentitySource = 'scheme';

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

/** What is stored of a delivery for its summary. */
export type SummaryRecord = Pick<
  DeliveryRecord,
  'id' | 'outcome' | 'authenticatedBy' | 'reason' | 'duplicateOf' | 'headers' | 'form'
> & { readonly beginning: Uint8Array | null };

/** The runs of a delivery in one state. */
export interface RunCount {
  readonly id: string;
  readonly state: RunState;
  readonly count: number;
}

export function toSummaries(rows: readonly SummaryRecord[], counts: readonly RunCount[]): DeliverySummary[] {
  const byId = Map.groupBy(counts, ({ id }) => id);
  return rows.map(({ headers, form, beginning, ...row }) => {
    const runs = Object.fromEntries((byId.get(row.id) ?? []).map(({ state, count }) => [state, count]));
    return { ...withoutNulls(row), ...parseColumns(headers, form), runs, ...(beginning && { beginning }) };
  });
}

export function withoutNulls<Row extends object>(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Row;
}
