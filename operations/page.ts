import { Refusal } from '../schema/refusal.ts';

/** Rows of a list, newest first. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** The cursor of the next page; null on the last page. */
  readonly next: string | null;
}

export interface PageRequest<Row> {
  readonly limit: number;
  /** The id of the last row on the previous page. */
  readonly cursor: string | undefined;
  readonly isKnown: (cursor: string) => Promise<boolean>;
  readonly read: (limit: number, before: string | undefined) => Promise<readonly Row[]>;
}

/** Reads one row more than the page has, to see whether another page follows. Fails with `cursor-unknown`. */
export async function readPage<Row extends { readonly id: string }>({
  limit,
  cursor,
  isKnown,
  read,
}: PageRequest<Row>): Promise<Page<Row>> {
  if (cursor !== undefined && !(await isKnown(cursor))) throw new Refusal('cursor-unknown');
  const found = await read(limit + 1, cursor);
  const rows = found.slice(0, limit);
  return { rows, next: found.length > limit ? (rows.at(-1)?.id ?? null) : null };
}
