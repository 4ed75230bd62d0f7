import http from 'node:http';
import https from 'node:https';
import type { DeliveryView } from '../../operations/views/delivery-views.ts';
import { listForwardedHeaders } from '../../schema/clients/render-curl.ts';
import { encodeHeaderValue } from '../../schema/header-value.ts';
import { readSortableIdTime } from '../../schema/ids.ts';
import { Refusal } from '../../schema/refusal.ts';
import { printable } from '../../schema/text/printable.ts';
import { timeSkewMs } from '../../store/delivery-log/search-steps.ts';
import type { Backend } from '../backend/backend.ts';
import { UnreachableError } from '../exit-status.ts';
import { printStatus } from '../output.ts';
import { findEnd, followPages, persist } from '../rows/follow-rows.ts';
import { type ReadPage, readDeliveries, readRows } from '../rows/read-rows.ts';
import type { CursorFile } from './cursor-file.ts';

/** @limit Waits while the local receiver cannot be reached, in ms: it is on this machine, and somebody starts it again. */
const receiverBackOff = { firstMs: 250, maxMs: 2_000 };

interface ForwardingJob {
  readonly backend: Backend;
  readonly webhook: string | undefined;
  readonly to: string;
  readonly cursor: CursorFile;
  /** The number of past deliveries to start with; undefined to continue at the cursor, or from now on. */
  readonly replayLast: number | undefined;
  readonly onForwarded: (delivery: DeliveryView, status: number, ms: number) => void;
}

/**
 * Forwards accepted deliveries in the order of their commits, one after the other, until the reader of the output ends.
 * Repeats whatever fails, so none is left out. The cursor moves when a delivery was answered: only one that was being
 * forwarded when the process was killed comes again. If retention has removed the delivery at the cursor, those that were
 * recorded shortly before it come again as well: nobody knows their order any more.
 */
export async function forwardDeliveries(job: ForwardingJob): Promise<void> {
  const { backend, webhook, cursor } = job;
  const readPage = readDeliveries(backend, { webhook, outcome: ['Accepted'] });
  const first = await findStart(job, readPage);
  await cursor.write(first);
  // Retention may have removed the row at the cursor. Then the list is read from its start, in the order of commits.
  let removed = '';
  const readOn: ReadPage<DeliveryView> = position =>
    readPage(position).catch(error => {
      if (!(error instanceof Refusal) || error.code !== 'cursor-unknown') throw error;
      removed = position.after ?? '';
      printStatus(`Retention has removed ${removed}; what is left of the deliveries after it comes next.`);
      return readPage({ ...position, after: 'start' });
    });
  let kept = first;
  for await (const { rows, next, hasMore } of followPages(readOn, first)) {
    for (const row of rows) {
      if (isLongBefore(row.id, removed)) continue;
      // All that follow were recorded later.
      removed = '';
      await forwardRow(row, job);
      kept = row.id;
      await cursor.write(kept);
    }
    if (!hasMore) removed = '';
    if (removed === '' && next !== null && next !== kept) {
      kept = next;
      await cursor.write(kept);
    }
  }
}

/** Whether a row was recorded before another one, which is gone, as far as the times in their ids say that. */
function isLongBefore(id: string, gone: string): boolean {
  const [atMs, goneMs] = [readSortableIdTime(id), readSortableIdTime(gone)];
  return atMs !== undefined && goneMs !== undefined && atMs < goneMs - timeSkewMs;
}

/** The row after which to begin. */
async function findStart(
  { cursor, replayLast }: ForwardingJob,
  readPage: ReadPage<DeliveryView>,
): Promise<string> {
  if (replayLast !== undefined) {
    const rows = await persist(() => readRows(readPage, replayLast + 1));
    return rows[replayLast]?.id ?? 'start';
  }
  return (await cursor.read()) ?? (await persist(() => findEnd(readPage)));
}

async function forwardRow(row: DeliveryView, { backend, to, onForwarded }: ForwardingJob): Promise<void> {
  try {
    const body = await persist(() => backend.call('downloadPayload', { params: { delivery: row.id } }));
    const { sent, omitted } = toForwardedHeaders(row);
    for (const name of omitted) {
      printStatus(
        `${printable(row.id)} is forwarded without the header ${printable(name)}, which HTTP does not allow.`,
      );
    }
    const startedMs = performance.now();
    const status = await persist(() => forward(to, row.id, sent, body), receiverBackOff);
    onForwarded(row, status, Math.round(performance.now() - startedMs));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    printStatus(`${row.id} was left out: ${error.message}`);
  }
}

/** The headers with which a delivery is forwarded, and the names of those that HTTP does not allow. */
interface ForwardedHeaders {
  readonly sent: Readonly<Record<string, string>>;
  readonly omitted: readonly string[];
}

/** Lists the headers that were kept, and those by which hookmill names the delivery. A server may have sent anything. */
function toForwardedHeaders({
  id,
  webhook,
  headers,
  form,
}: Pick<DeliveryView, 'id' | 'webhook' | 'headers' | 'form'>): ForwardedHeaders {
  const named = [
    ...listForwardedHeaders({ headers, form }),
    ...Object.entries({ 'hookmill-delivery-id': id, 'hookmill-webhook': webhook }),
  ];
  const written = named.map(([name, value]) => [name, encodeHeaderValue(value)] as const);
  return {
    sent: Object.fromEntries(written.filter(isAllowed)),
    omitted: written.filter(header => !isAllowed(header)).map(([name]) => name),
  };
}

/** Whether node writes a header. It refuses, for example, a line end. */
function isAllowed([name, value]: readonly [string, string]): boolean {
  try {
    http.validateHeaderName(name);
    http.validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

/**
 * Posts a delivery's exact body to a URL. Returns the status of the answer, for which it waits as long as it takes:
 * somebody may debug the receiver. Rejects with UnreachableError without one.
 */
export function forward(
  to: string,
  id: string,
  headers: ForwardedHeaders['sent'],
  body: Uint8Array,
): Promise<number> {
  const { request } = to.startsWith('https:') ? https : http;
  return new Promise((resolve, reject) => {
    const sent = request(to, {
      method: 'POST',
      // One for each delivery: a receiver that restarts would have closed a connection that is kept.
      agent: false,
      headers: { ...headers, 'content-length': body.length },
    });
    sent.once('response', response => {
      response.resume().once('close', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', (error: NodeJS.ErrnoException) => {
      reject(new UnreachableError(`${to} does not take ${id} (${error.code ?? error.message})`));
    });
    sent.end(body);
  });
}
