import { useState } from 'preact/hooks';
import { useAction } from './use-action.ts';
import { useLoad } from './use-load.ts';

interface Row {
  readonly id: string;
}

interface RowsPage<T> {
  readonly rows: readonly T[];
  /** Cursor of the next page; null on the last. */
  readonly next: string | null;
}

type ReadPage<T> = (cursor: string | undefined, signal?: AbortSignal) => Promise<RowsPage<T>>;

/** A list that is read page by page, newest first. Older pages stay while the first is read again. */
export function usePages<T extends Row>(read: ReadPage<T>, keys: readonly unknown[]) {
  const first = useLoad(signal => read(undefined, signal), keys);
  const [older, setOlder] = useState<RowsPage<T>>();
  const next = older ? older.next : first.value?.next;
  const paging = useAction(async () => {
    const page = await read(next ?? undefined);
    setOlder(known => ({ rows: [...(known?.rows ?? []), ...page.rows], next: page.next }));
  });
  return {
    /** Undefined until the first page was read. */
    rows: first.value && removeDuplicates([...first.value.rows, ...(older?.rows ?? [])]),
    error: first.error ?? paging.error,
    /** Reads the first page again. */
    reload: first.reload,
    /** Drops the older pages. */
    dropOlder: () => setOlder(undefined),
    busy: paging.busy,
    /** Reads the next page; undefined on the last. */
    readMore: next ? () => paging.run() : undefined,
  };
}

/** Keeps the first row with each ID: one may be on two pages, because rows arrive between the reads. */
export function removeDuplicates<T extends Row>(rows: readonly T[]): T[] {
  const byId = new Map<string, T>();
  for (const row of rows) if (!byId.has(row.id)) byId.set(row.id, row);
  return [...byId.values()];
}
