import { Refusal } from '../schema/refusal.ts';
import type { Found, SearchPart } from '../store/delivery-log.ts';

/** Which part of a list is meant. */
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
  /** Where the next page begins. Newest first, it is null on the last page; oldest first, more may follow later. */
  readonly next: string | null;
  /** How many rows were looked at. */
  readonly searched: number;
}

/** How a factory's rows are read. */
interface ReadRows<Row> {
  /** Whether the factory has a row with this id. */
  readonly isKnown: (id: string) => Promise<boolean>;
  readonly search: (part: SearchPart) => Promise<Found<Row>>;
  readonly findLast: () => Promise<string | undefined>;
}

/** Before the first row, and after the last one. */
const start = 'start';
const now = 'now';

/** Reads a page. Fails with `cursor-unknown` if the row where it begins is no longer kept. */
export async function readPage<Row>(
  { limit, cursor, after }: ListPosition,
  { isKnown, search, findLast }: ReadRows<Row>,
): Promise<Page<Row>> {
  if (after === now) return { rows: [], next: (await findLast()) ?? start, searched: 0 };
  const id = after ?? cursor;
  if (id !== undefined && id !== start && !(await isKnown(id))) throw new Refusal('cursor-unknown');
  if (after !== undefined) {
    const { rows, searched, lastId = after } = await search({ limit, after: after === start ? '' : after });
    return { rows, searched, next: lastId };
  }
  const found = await search({ limit, ...(cursor !== undefined && { before: cursor }) });
  const { rows, searched, isEnd, lastId = null } = found;
  return { rows, searched, next: isEnd ? null : lastId };
}
