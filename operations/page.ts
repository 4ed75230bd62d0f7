import { Refusal } from '../schema/refusal.ts';

/** Rows of a list, newest first. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** The cursor of the next page; null: this is the last. */
  readonly next: string | null;
}

export interface PageRequest<Row> {
  readonly limit: number;
  /** The id of the last row of the page before. */
  readonly cursor: string | undefined;
  readonly isKnown: (cursor: string) => Promise<boolean>;
  readonly read: (limit: number, before: string | undefined) => Promise<readonly Row[]>;
}

/** Reads one row more than the page has: if there is one, another page follows. Fails with `cursor-unknown`. */
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
