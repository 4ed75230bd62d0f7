import { startOfDay, type TimeZone } from '../text/format-time.ts';
import type { Row, Segment } from './row-segments.ts';

/** From how many rows alike on they fold into one. */
const foldedRowsMin = 5;

/** A line of a list. `key` is its own among all lines. */
export type ListItem<T> = { readonly key: string } & (
  | { readonly kind: 'day'; readonly atMs: number }
  | { readonly kind: 'row'; readonly row: T }
  | {
      readonly kind: 'fold';
      /** Names what is folded, also after more rows like it have come. */
      readonly fold: string;
      /** How many rows are folded, or are shown since it was opened. */
      readonly count: number;
      /** When the oldest of them came. */
      readonly since: string;
      readonly isOpen: boolean;
    }
  /** Rows were not read after this segment. */
  | { readonly kind: 'gap'; readonly segment: number }
);

export type ItemKind = ListItem<unknown>['kind'];

interface Options<T> {
  readonly timeOf: (row: T) => string;
  /** What a row has in common with those that it may be folded with; undefined: it stays. */
  readonly foldOf?: ((row: T) => string | undefined) | undefined;
  /** The folds that the user has opened. */
  readonly opened: ReadonlySet<string>;
  /** The row whose detail is shown. It is never folded. */
  readonly current?: string | undefined;
  readonly zone: TimeZone;
}

/**
 * Lays out the rows of a list, newest first: a line for each day, and one for five or more rows alike, below the newest of
 * them. A fold never spans midnight or rows that were not read.
 */
export function toListItems<T extends Row>(
  segments: readonly Segment<T>[],
  options: Options<T>,
): ListItem<T>[] {
  let lastDay: number | undefined;
  return segments.flatMap(({ rows }, segment) => {
    const items: ListItem<T>[] = [];
    const isLast = segment === segments.length - 1;
    for (const { atMs, rows: ofDay } of splitByDay(rows, options)) {
      if (atMs !== lastDay) items.push({ kind: 'day', key: `day ${atMs}`, atMs });
      lastDay = atMs;
      items.push(...foldRows(ofDay, `${segment} ${atMs}`, options));
    }
    if (!isLast) items.push({ kind: 'gap', key: `after ${rows.at(-1)?.id}`, segment });
    return items;
  });
}

interface Day<T> {
  readonly atMs: number;
  readonly rows: T[];
}

function splitByDay<T extends Row>(rows: readonly T[], { timeOf, zone }: Options<T>): Day<T>[] {
  const days: Day<T>[] = [];
  for (const row of rows) {
    const atMs = startOfDay(Date.parse(timeOf(row)), zone);
    const last = days.at(-1);
    if (last?.atMs === atMs) last.rows.push(row);
    else days.push({ atMs, rows: [row] });
  }
  return days;
}

function foldRows<T extends Row>(rows: readonly T[], part: string, options: Options<T>): ListItem<T>[] {
  const { timeOf, foldOf, opened, current } = options;
  const alike = Map.groupBy(rows, row => foldOf?.(row));
  return rows.flatMap((row): ListItem<T>[] => {
    const shown = { kind: 'row', key: row.id, row } as const;
    const name = foldOf?.(row);
    const group = name === undefined ? [] : (alike.get(name) ?? []);
    if (group.length < foldedRowsMin) return [shown];
    const fold = `${part} ${name}`;
    const isOpen = opened.has(fold);
    if (group[0] !== row) return isOpen || row.id === current ? [shown] : [];
    const count = group.filter(({ id }) => id !== row.id && (isOpen || id !== current)).length;
    const since = timeOf(group.at(-1) ?? row);
    return [shown, { kind: 'fold', key: `fold ${fold}`, fold, count, since, isOpen }];
  });
}
