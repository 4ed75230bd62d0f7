export interface Row {
  readonly id: string;
}

export interface RowsPage<T> {
  readonly rows: readonly T[];
  /** Where the list goes on; null: nowhere. */
  readonly next: string | null;
  readonly hasMore: boolean;
  readonly searched: number;
}

/** Rows without a gap, newest first. Between two segments, rows were not read. */
export interface Segment<T> {
  readonly rows: readonly T[];
  /** Where the rows that follow can be read; null: there are none. */
  readonly next: string | null;
}

/** Adds the page that follows a segment, and closes the gap to the next segment if it reaches that far. */
export function addPage<T extends Row>(
  segments: readonly Segment<T>[],
  index: number,
  { rows, next }: RowsPage<T>,
): Segment<T>[] {
  const segment = segments[index];
  if (!segment) return [...segments];
  const following = segments[index + 1];
  const known = following?.rows[0]?.id;
  const meets = following ? rows.findIndex(({ id }) => id === known) : -1;
  const isClosed = following !== undefined && (meets !== -1 || next === null);
  const added = { rows: [...segment.rows, ...(meets === -1 ? rows : rows.slice(0, meets))], next };
  const joined = isClosed ? { rows: [...added.rows, ...following.rows], next: following.next } : added;
  return [...segments.slice(0, index), joined, ...segments.slice(isClosed ? index + 2 : index + 1)];
}

/** Adds newer rows, newest first, that have no gap to the first segment. */
export function addNewer<T extends Row>(segments: readonly Segment<T>[], rows: readonly T[]): Segment<T>[] {
  const [first = { rows: [], next: null }, ...others] = segments;
  const known = new Set(first.rows.map(({ id }) => id));
  const added = rows.filter(({ id }) => !known.has(id));
  return [{ rows: [...added, ...first.rows], next: first.next }, ...others];
}

/** Adds the newest page, with a gap below it unless it reaches the rows that are known. */
export function addNewest<T extends Row>(segments: readonly Segment<T>[], page: RowsPage<T>): Segment<T>[] {
  const known = segments.filter(({ rows }) => rows.length > 0);
  return addPage([{ rows: [], next: page.next }, ...known], 0, page);
}

/** Replaces rows by newer versions of them. */
export function updateRows<T extends Row>(segments: readonly Segment<T>[], rows: readonly T[]): Segment<T>[] {
  const newer = new Map(rows.map(row => [row.id, row]));
  return segments.map(({ rows, next }) => ({ rows: rows.map(row => newer.get(row.id) ?? row), next }));
}
