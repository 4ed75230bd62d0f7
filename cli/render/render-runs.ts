import type { RunView } from '../../operations/views/delivery-views.ts';
import { openTable } from './render-table.ts';

/** Runs as a table. */
export function renderRuns(runs: readonly RunView[]): string {
  return openRunTable()(runs);
}

/** Opens a table of runs, whose rows may come little by little. */
export function openRunTable(): (runs: readonly RunView[]) => string {
  const table = openTable(['RUN', 'AUTOMATION', 'DELIVERY', 'STATE', 'ATTEMPTS', '']);
  return runs =>
    table(
      runs.map(({ id, automation, deliveryId, state, attempts, replay, error, report }) => {
        return [
          id,
          automation,
          deliveryId + (replay ? ' (replay)' : ''),
          state,
          String(attempts),
          (state === 'running' ? report?.message : undefined) ?? error ?? '',
        ];
      }),
    );
}
