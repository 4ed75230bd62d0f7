import { setTimeout as wait } from 'node:timers/promises';
import type { DeliveryView } from '../../operations/views/delivery-views.ts';
import { apiPageMax } from '../../schema/api/requests.ts';
import { Refusal } from '../../schema/refusal.ts';
import type { Backend } from '../backend/backend.ts';
import { isOutputOpen, printStatus } from '../output.ts';
import { followMs, persist } from '../rows/follow-rows.ts';
import { type ReadPage, readRows } from '../rows/read-rows.ts';
import type { CursorFile } from './cursor-file.ts';
import { forward } from './forward.ts';

/** @limit Waits while the local receiver cannot be reached, in ms: it is on this machine, and somebody starts it again. */
const receiverBackOff = { firstMs: 250, maxMs: 2_000 };

export interface ForwardingJob {
  readonly backend: Backend;
  readonly webhook: string | undefined;
  readonly to: string;
  readonly cursor: CursorFile;
  /** How many of the last deliveries come first; undefined to go on where the cursor is, or from now on. */
  readonly replayLast: number | undefined;
  readonly onForwarded: (delivery: DeliveryView, status: number, ms: number) => void;
}

/**
 * Forwards accepted deliveries in the order of their commits, one after the other, until the reader of the output ends.
 * What fails is repeated, so none is left out. The cursor moves when a delivery was answered: only one that was being
 * forwarded when the process was killed comes again.
 */
export async function forwardDeliveries(job: ForwardingJob): Promise<void> {
  const { backend, webhook, cursor } = job;
  const readPage: ReadPage<DeliveryView> = position =>
    backend.listDeliveries({ webhook, outcome: 'Accepted', ...position });
  let after = await findStart(job, readPage);
  await cursor.write(after);
  // While the row at the cursor is not kept any more, rows before it are passed over.
  let known = '';
  while (isOutputOpen()) {
    const page = await persist(() => readPage({ limit: apiPageMax, after })).catch(error => {
      if (!(error instanceof Refusal) || error.code !== 'cursor-unknown') throw error;
      printStatus(`Retention has removed ${after}; what is left of the deliveries after it comes next.`);
      known = after;
      return { rows: [], next: 'start' };
    });
    for (const row of page.rows) {
      if (row.id <= known) continue;
      await forwardRow(row, job);
      await cursor.write(row.id);
    }
    if (page.next === null || page.next === after) await wait(followMs);
    else {
      after = page.next;
      await cursor.write(after);
    }
  }
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
  return (await cursor.read()) ?? (await persist(() => readPage({ limit: 1, after: 'now' }))).next ?? 'start';
}

async function forwardRow(row: DeliveryView, { backend, to, onForwarded }: ForwardingJob): Promise<void> {
  try {
    const body = await persist(() => backend.readPayload(row.id));
    const startedMs = performance.now();
    const status = await persist(() => forward(to, row, body), receiverBackOff);
    onForwarded(row, status, Math.round(performance.now() - startedMs));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    printStatus(`${row.id} was left out: ${error.message}`);
  }
}
