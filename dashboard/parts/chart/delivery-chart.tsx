import { useState } from 'preact/hooks';
import { deliveryKinds, outcomes } from '../../../schema/delivery.ts';
import { timeZone } from '../../state/time-zone.ts';
import {
  type Bar,
  countBar,
  describeBars,
  type HourlyDeliveries,
  type Span,
  spans,
  toBars,
} from '../../text/delivery-bars.ts';
import { formatHours } from '../../text/format-time.ts';
import { ListTable } from '../lists.tsx';
import { StackedBars } from './bars.tsx';

interface SpanChoiceProperties {
  readonly span: Span;
  readonly onChange: (span: Span) => void;
}

const barWidth = 12;
const height = 96;

interface Properties {
  /** The name of the webhook or factory. */
  readonly name: string;
  readonly since: string;
  readonly tallies: readonly HourlyDeliveries[];
  readonly span: Span;
}

/** A chart of deliveries by time and outcome. The pointer or the arrow keys choose a bar, which is then told in words; Escape chooses none. */
export function DeliveryChart({ name, since, tallies, span }: Properties) {
  const bars = toBars(since, tallies, span);
  const [chosen, setChosen] = useState<number>();
  const bar = chosen === undefined ? undefined : bars[chosen];
  const { label } = spans[span];
  const firstMs = bars[0]?.fromMs ?? 0;
  return (
    <figure class="chart" aria-label={`Deliveries to ${name}`}>
      <div
        class="chart-plot"
        role="slider"
        tabIndex={0}
        aria-label={`Time in the last ${label}`}
        aria-valuemin={1}
        aria-valuemax={bars.length}
        aria-valuenow={(chosen ?? bars.length - 1) + 1}
        aria-valuetext={describeBar(bar ?? bars.at(-1))}
        onKeyDown={event => {
          if (event.key === 'Escape') setChosen(undefined);
          const next = toIndex(event.key, chosen ?? bars.length, bars.length);
          if (next === undefined) return;
          event.preventDefault();
          setChosen(next);
        }}
        onPointerMove={event => {
          const { left, width } = event.currentTarget.getBoundingClientRect();
          setChosen(clamp(Math.floor(((event.clientX - left) / width) * bars.length), bars.length));
        }}
        onPointerLeave={() => setChosen(undefined)}
      >
        <svg
          class="bars"
          aria-hidden="true"
          viewBox={`0 0 ${bars.length * barWidth} ${height}`}
          preserveAspectRatio="none"
        >
          {chosen !== undefined && (
            <rect class="chosen" x={(chosen - 0.125) * barWidth} y={0} width={barWidth} height={height} />
          )}
          <StackedBars {...{ bars, barWidth, height }} />
        </svg>
      </div>
      <p class="axis muted small">
        <span>{formatHours(firstMs, firstMs, timeZone.value)}</span>
        <span>now</span>
      </p>
      <figcaption>
        <span class="chart-told">{bar ? describeBar(bar) : `Last ${label}: ${describeBars(bars)}`}</span>
        <Legend bars={bars} />
      </figcaption>
      <DeliveryTable bars={bars} />
    </figure>
  );
}

function Legend({ bars }: { readonly bars: readonly Bar[] }) {
  const busiest = Math.max(...bars.map(countBar));
  return (
    <span class="legend muted small">
      {deliveryKinds.map(kind => (
        <span key={kind} class={`key ${kind}`}>
          {kind}
        </span>
      ))}
      <span>Highest bar: {busiest}</span>
    </span>
  );
}

function describeBar(bar: Bar | undefined): string {
  if (!bar) return '';
  const counts = bar.counts.map(({ outcome, deliveries }) => `${deliveries} ${outcome}`);
  return `${formatHours(bar.fromMs, bar.toMs, timeZone.value)}: ${counts.join(', ') || 'no deliveries'}`;
}

/** The bar that a key leads to; undefined for any other key. */
function toIndex(key: string, from: number, length: number): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: from - 1,
    ArrowRight: from + 1,
    Home: 0,
    End: length - 1,
  };
  const index = steps[key];
  return index === undefined ? undefined : clamp(index, length);
}

function clamp(index: number, length: number): number {
  return Math.min(length - 1, Math.max(0, index));
}

/** The data of a chart as a table: the newest time first, and only times with deliveries. */
function DeliveryTable({ bars }: { readonly bars: readonly Bar[] }) {
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

/** Chooses the time that the charts of a page show. */
export function SpanChoice({ span, onChange }: SpanChoiceProperties) {
  return (
    <fieldset class="segments">
      <legend class="unseen">Time in charts</legend>
      {(Object.keys(spans) as Span[]).map(each => (
        <label key={each} class="segment">
          <input type="radio" name="span" checked={each === span} onChange={() => onChange(each)} />
          {spans[each].label}
        </label>
      ))}
    </fieldset>
  );
}
