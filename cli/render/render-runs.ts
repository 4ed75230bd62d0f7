import type { RunView } from '../../operations/views/delivery-views.ts';
import { describeRunState, describeUsage } from '../../schema/clients/describe.ts';
import { defaultRunner } from '../../schema/delivery.ts';
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
      runs.map(run => {
        const { id, automation, runner, state, attempts, error, report } = run;
        const reported = state === 'running' || state === 'succeeded' ? report?.message : undefined;
        const texts = [reported ?? error, report && describeUsage(report)];
        const about = texts.filter(text => text !== undefined).join(' · ');
        const by = runner === defaultRunner ? automation : `${automation} on ${runner}`;
        return [id, by, renderDeliveryOf(run), renderRunState(run), String(attempts), about];
      }),
    );
}

/** Renders the delivery of a run, and the number of deliveries if the run gathers several. */
export function renderDeliveryOf({ deliveryId, replay, manual, deliveryCount }: RunView): string {
  const count = deliveryCount === undefined || deliveryCount === 1 ? '' : ` (newest of ${deliveryCount})`;
  return `${deliveryId}${count}${replay ? ' (replay)' : manual ? ' (manual)' : ''}`;
}

export function renderRunState(run: RunView): string {
  const more = describeRunState(run);
  return more === undefined ? run.state : `${run.state} (${more})`;
}
