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
  /** Where the next page begins; newest first, it is null on the last page. */
  readonly next: string | null;
  /** Whether more rows follow now. Oldest first, others may follow later. */
  readonly hasMore: boolean;
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
  if (after === now) return { rows: [], next: (await findLast()) ?? start, hasMore: false, searched: 0 };
  const id = after ?? cursor;
  if (id !== undefined && id !== start && !(await isKnown(id))) throw new Refusal('cursor-unknown');
  if (after !== undefined) {
    // Before the search, which then goes beyond it: so whoever follows rare rows does not stay at one that is removed.
    const last = await findLast();
    const {
      rows,
      searched,
      isEnd,
      lastId = after,
    } = await search({ limit, after: after === start ? '' : after });
    const next = rows.length === 0 && isEnd ? (last ?? after) : lastId;
    return { rows, next, hasMore: !isEnd, searched };
  }
  const found = await search({ limit, ...(cursor !== undefined && { before: cursor }) });
  const { rows, searched, isEnd, lastId = null } = found;
  return { rows, next: isEnd ? null : lastId, hasMore: !isEnd, searched };
}
