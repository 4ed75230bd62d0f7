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
