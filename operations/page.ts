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
