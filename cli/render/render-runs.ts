import type { RunView } from '../../operations/views/delivery-views.ts';
import { renderTable } from './render-table.ts';

/** Runs as a table. */
export function renderRuns(runs: readonly RunView[]): string {
  const rows = runs.map(({ id, automation, deliveryId, state, attempts, replay, error }) => {
    return [id, automation, deliveryId + (replay ? ' (replay)' : ''), state, String(attempts), error ?? ''];
  });
  return renderTable(['RUN', 'AUTOMATION', 'DELIVERY', 'STATE', 'ATTEMPTS', ''], rows);
}
