import type { ListPosition, LogFilter, Page } from '../../operations/log/list-rows.ts';
import type { DeliveryView, RunView } from '../../operations/views/delivery-views.ts';
import { apiPageMax } from '../../schema/api/conventions.ts';
import { readSortableIdTime } from '../../schema/ids.ts';
import type { Backend } from '../backend/backend.ts';
import { showProgress } from '../output.ts';

/** Reads a page of a list. */
export type ReadPage<Row> = (position: ListPosition) => Promise<Page<Row>>;

/** Reads pages of the deliveries that a filter lets through, with their titles if a table of them is printed. */
export function readDeliveries(
  { call }: Pick<Backend, 'call'>,
  filter: LogFilter & { readonly summary?: 'true' | undefined },
): ReadPage<DeliveryView> {
  return async position => {
    const { deliveries: rows, ...end } = await call('listDeliveries', { query: toQuery(filter, position) });
    return { rows, ...end };
  };
}

/** Reads pages of the runs that a filter lets through. */
export function readRuns({ call }: Pick<Backend, 'call'>, filter: LogFilter): ReadPage<RunView> {
  return async position => {
    const { runs: rows, ...end } = await call('listRuns', { query: toQuery(filter, position) });
    return { rows, ...end };
  };
}

function toQuery({ sinceMs, untilMs, outcome, ...filter }: LogFilter, { limit, ...position }: ListPosition) {
  const toText = (atMs: number | undefined) =>
    atMs === undefined ? undefined : new Date(atMs).toISOString();
  const outcomes = outcome?.join(',');
  const times = { since: toText(sinceMs), until: toText(untilMs) };
  return { ...filter, outcome: outcomes, ...times, ...position, limit: String(limit) };
}

/** Reads several lists oldest first, one after the other, as if they were one. */
export function readEach<Row>(lists: readonly ReadPage<Row>[]): ReadPage<Row> {
  let list = 0;
  let start: string | undefined;
  return async position => {
    start ??= position.after;
    const page = await (lists[list] as ReadPage<Row>)(position);
    if (page.hasMore || list === lists.length - 1) return page;
    list++;
    return { ...page, hasMore: true, next: start ?? null };
  };
}

/** Reads the first rows of a list, newest first, page after page. Shows how far a search is. */
export async function readRows<Row>(readPage: ReadPage<Row>, limit: number): Promise<Row[]> {
  const rows: Row[] = [];
  let searched = 0;
  let cursor: string | null | undefined;
  while (rows.length < limit && cursor !== null) {
    const page: Page<Row> = await readPage({ limit: Math.min(limit - rows.length, apiPageMax), cursor });
    rows.push(...page.rows);
    searched += page.searched;
    cursor = page.next;
    if (cursor !== null && rows.length < limit) showProgress(describeSearch(searched, cursor));
  }
  showProgress('');
  return rows;
}

/** Yields the pages of a list, oldest first, from its start or from a row on, up to where it ends now. */
export async function* readOldestFirst<Row>(
  readPage: ReadPage<Row>,
  after: string,
): AsyncGenerator<readonly Row[]> {
  for (let from = after; ; ) {
    const { rows, next, hasMore } = await readPage({ limit: apiPageMax, after: from });
    if (rows.length > 0) yield rows;
    if (!hasMore) return;
    from = next ?? from;
  }
}

function describeSearch(searched: number, lastId: string): string {
  const atMs = readSortableIdTime(lastId);
  const back = atMs === undefined ? '' : `, back to ${new Date(atMs).toISOString()}`;
  return `Searched ${searched.toLocaleString('en-US')}${back} …`;
}
