import type { z } from 'zod';
import type { Outcome, RunState } from '../../schema/delivery.ts';
import { uidPattern } from '../../schema/ids.ts';
import { Refusal } from '../../schema/refusal.ts';
import { hourMs } from '../../schema/time-units.ts';
import type { unloggedAnswer } from '../../schema/views/deliveries.ts';
import type {
  DeliveryFilter,
  Found,
  RunFilter,
  SearchPart,
  UnloggedCount,
} from '../../store/ports/delivery-log.ts';
import { type AppliedNames, requireAutomation, requireNamedWebhook } from '../applied/require-applied.ts';
import type { Factory } from '../factory.ts';

type UnloggedView = z.output<typeof unloggedAnswer>;

/** A part of a list. */
export interface ListPosition {
  readonly limit: number;
  /** Newest first: the `next` of the previous page. */
  readonly cursor?: string | undefined;
  /** Oldest first instead: `start`, `now`, or the `next` of the previous page. */
  readonly after?: string | undefined;
}

/** Rows of a list. A search may find fewer than were asked for, although more follow. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** The position of the next page; newest first, it is null on the last page. */
  readonly next: string | null;
  /** Whether more rows follow now. Oldest first, others may follow later. */
  readonly hasMore: boolean;
  /** The number of rows that were searched. */
  readonly searched: number;
}

/** A choice of deliveries or runs, in the words of people. An absent field lets all through. */
export interface LogFilter {
  /** The webhook's UID, its name, or its name when the delivery arrived. */
  readonly webhook?: string | undefined;
  /** Only for deliveries: those with one of these outcomes. */
  readonly outcome?: readonly Outcome[] | undefined;
  /** The runs' automation; for deliveries, the automation of one of their runs. */
  readonly automation?: string | undefined;
  readonly state?: RunState | undefined;
  /** See `isOfEventType`. */
  readonly event?: string | undefined;
  /** A text in the payload. */
  readonly search?: string | undefined;
  /** The earliest time of arrival or creation. */
  readonly sinceMs?: number | undefined;
  /** The end of the time of arrival or creation, exclusive. */
  readonly untilMs?: number | undefined;
}

/** A factory whose applied webhooks and automations are known at least by name. */
export interface NamedFactory extends Factory {
  /** Fails with `state-unreadable`. */
  readonly readState: () => Promise<AppliedNames>;
}

/** Deliveries or runs, how the log finds them, and what is shown of each. */
interface ListedRows<Row, View> {
  readonly kind: 'deliveries' | 'runs';
  readonly find: (id: string) => Promise<{ readonly factory: string } | undefined>;
  readonly search: (wanted: DeliveryFilter & RunFilter & SearchPart) => Promise<Found<Row>>;
  readonly view: (row: Row) => View;
}

/** Before the first row, and after the last one. */
export const listStart = 'start';
const now = 'now';

/**
 * Lists deliveries or runs of a factory. Fails with `webhook-unknown`, `automation-unknown`, or with `cursor-unknown`
 * if the row where the page begins is no longer kept.
 */
export async function listRows<Row, View>(
  factory: NamedFactory,
  wanted: LogFilter & ListPosition,
  { kind, find, search, view }: ListedRows<Row, View>,
): Promise<Page<View>> {
  const filter = await toStoreFilter(factory, wanted);
  const page = await readPage(wanted, {
    isKnown: async id => (await find(id))?.factory === factory.name,
    search: part => search({ ...filter, ...part }),
    findLast: () => factory.store.deliveries.findLast(kind, factory.name),
  });
  if (page.rows.length === 0) await requireKnownNames(factory, wanted);
  return { ...page, rows: page.rows.map(view) };
}

interface ReadPart<Row> {
  /** Whether the factory has a row with this id. */
  readonly isKnown: (id: string) => Promise<boolean>;
  readonly search: (part: SearchPart) => Promise<Found<Row>>;
  readonly findLast: () => Promise<string | undefined>;
}

async function readPage<Row>(
  { limit, cursor, after }: ListPosition,
  { isKnown, search, findLast }: ReadPart<Row>,
): Promise<Page<Row>> {
  if (after === now) return { rows: [], next: (await findLast()) ?? listStart, hasMore: false, searched: 0 };
  const id = after ?? cursor;
  if (id !== undefined && id !== listStart && !(await isKnown(id))) throw new Refusal('cursor-unknown');
  if (after !== undefined) {
    // This is read before the search, which then goes beyond it: so no follower of rare rows stays at a removed one.
    const last = await findLast();
    const {
      rows,
      searched,
      isEnd,
      lastId = after,
    } = await search({ limit, after: after === listStart ? '' : after });
    const next = rows.length === 0 && isEnd ? (last ?? after) : lastId;
    return { rows, next, hasMore: !isEnd, searched };
  }
  const found = await search({ limit, ...(cursor !== undefined && { before: cursor }) });
  const { rows, searched, isEnd, lastId = null } = found;
  return { rows, next: isEnd ? null : lastId, hasMore: !isEnd, searched };
}

/** Converts a filter to the filter of the store. */
async function toStoreFilter(
  factory: NamedFactory,
  { webhook, outcome, automation, state, event, search, sinceMs, untilMs }: LogFilter,
): Promise<DeliveryFilter & RunFilter> {
  const content = {
    ...(event !== undefined && { eventType: event }),
    ...(search !== undefined && { text: search }),
  };
  return {
    factory: factory.name,
    ...(webhook !== undefined && (await findWebhookFilter(factory, webhook))),
    ...(outcome && { outcome }),
    ...(automation !== undefined && { automation }),
    ...(state && { state }),
    ...(sinceMs !== undefined && { sinceMs }),
    ...(untilMs !== undefined && { untilMs }),
    ...((event ?? search) !== undefined && { content }),
  };
}

/**
 * Finds which deliveries in the log belong to a webhook: all with its UID, and those that arrived under its name.
 */
async function findWebhookFilter(
  { readState }: NamedFactory,
  nameOrUid: string,
): Promise<Pick<DeliveryFilter, 'webhook' | 'uid'>> {
  if (uidPattern.test(nameOrUid)) return { uid: nameOrUid };
  const { webhooks } = await readState();
  const applied = webhooks.find(({ name }) => name === nameOrUid);
  return { webhook: nameOrUid, ...(applied && { uid: applied.uid }) };
}

/**
 * Fails with `webhook-unknown` or `automation-unknown` if a filter names something that is neither applied nor logged.
 */
async function requireKnownNames(
  factory: NamedFactory,
  {
    webhook,
    automation,
  }: { readonly webhook?: string | undefined; readonly automation?: string | undefined },
): Promise<void> {
  if (webhook !== undefined) await requireKnownWebhook(factory, webhook);
  if (automation !== undefined) await requireKnownAutomation(factory, automation);
}

/** Fails with `webhook-unknown` unless the webhook is applied, or the log still has deliveries of it. */
async function requireKnownWebhook(factory: NamedFactory, nameOrUid: string): Promise<void> {
  const { name, store, readState } = factory;
  const filter = await findWebhookFilter(factory, nameOrUid);
  const logged = await store.deliveries.listDeliveries({ factory: name, limit: 1, ...filter });
  if (logged.length === 0) requireNamedWebhook(await readState(), nameOrUid);
}

/** Fails with `automation-unknown` unless the automation is applied, or the log still has runs of it. */
async function requireKnownAutomation(
  { name, store, readState }: NamedFactory,
  automation: string,
): Promise<void> {
  const logged = await store.deliveries.listRuns({ factory: name, automation, limit: 1 });
  if (logged.length === 0) requireAutomation(await readState(), automation);
}

/** Counts the requests of the last hour that were refused and have no row: of a webhook, or of all. */
export async function listUnlogged(
  factory: NamedFactory,
  webhook: string | undefined,
): Promise<UnloggedView> {
  const sinceMs = factory.now().getTime() - hourMs;
  const uid = webhook === undefined ? undefined : ((await findWebhookFilter(factory, webhook)).uid ?? '');
  const filter = { factory: factory.name, sinceMs, ...(uid !== undefined && { uid }) };
  const requests = await factory.store.deliveries.sumUnlogged(filter);
  return { since: new Date(sinceMs).toISOString(), requests: requests.map(unloggedView) };
}

export function unloggedView({ uid, reason, detail, count, lastAtMs }: UnloggedCount) {
  return { uid, reason, detail, count, lastAt: new Date(lastAtMs).toISOString() };
}
