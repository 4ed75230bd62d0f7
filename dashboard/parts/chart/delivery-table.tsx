import { outcomes } from '../../../schema/delivery.ts';
import { timeZone } from '../../state/time-zone.ts';
import type { Bar } from '../../text/delivery-bars.ts';
import { formatHours } from '../../text/format-time.ts';
import { ListTable } from '../list-table.tsx';

/** The data of a chart as a table: the newest time first, and only times with deliveries. */
export function DeliveryTable({ bars }: { readonly bars: readonly Bar[] }) {
  const busy = bars.filter(({ counts }) => counts.length > 0).toReversed();
  const shown = outcomes.filter(outcome => busy.some(bar => countOf(bar, outcome) > 0));
  if (busy.length === 0) return null;
  return (
    <details class="chart-table">
      <summary class="small">Show as a table</summary>
      <ListTable kind="numbers" columns={['Time', ...shown]}>
        {busy.map(bar => (
          <tr key={bar.fromMs}>
            <th scope="row">{formatHours(bar.fromMs, bar.toMs, timeZone.value)}</th>
            {shown.map(outcome => (
              <td key={outcome}>{countOf(bar, outcome)}</td>
            ))}
          </tr>
        ))}
      </ListTable>
    </details>
  );
}

function countOf({ counts }: Bar, outcome: (typeof outcomes)[number]): number {
  return counts.find(count => count.outcome === outcome)?.deliveries ?? 0;
}
