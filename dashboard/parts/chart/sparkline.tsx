import { type Bar, describeBars } from '../../text/delivery-bars.ts';
import { StackedBars } from './stacked-bars.tsx';

const barWidth = 4;
const height = 22;

interface Properties {
  readonly bars: readonly Pick<Bar, 'kinds'>[];
  /** The time that the bars show, as in `24 hours`. */
  readonly time: string;
}

/** The last deliveries of a webhook in a row of a list. */
export function Sparkline({ bars, time }: Properties) {
  const label = `Last ${time}: ${describeBars(bars)}`;
  const width = bars.length * barWidth;
  return (
    <svg
      class="sparkline bars"
      role="img"
      aria-label={label}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
    >
      <title>{label}</title>
      <StackedBars {...{ bars, barWidth, height }} />
    </svg>
  );
}
