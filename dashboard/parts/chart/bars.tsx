import { deliveryKinds } from '../../../schema/delivery.ts';
import { type Bar, countBar, describeBars } from '../../text/delivery-bars.ts';

const barWidth = 4;

const height = 22;

interface SparklineProperties {
  readonly bars: readonly Pick<Bar, 'kinds'>[];
  /** The time that the bars show, as in `24 hours`. */
  readonly time: string;
}

interface Properties {
  readonly bars: readonly Pick<Bar, 'kinds'>[];
  readonly barWidth: number;
  readonly height: number;
}

/** The bars of a chart within an SVG: accepted, duplicate and rejected deliveries on top of each other. */
export function StackedBars({ bars, barWidth, height }: Properties) {
  const scale = (height - 2) / Math.max(1, ...bars.map(countBar));
  return (
    <>
      <path class="floor" d={`M0 ${height - 0.5}H${bars.length * barWidth}`} />
      {bars.map((bar, index) => drawBar(bar, index * barWidth, scale, barWidth, height))}
    </>
  );
}

function drawBar(
  { kinds }: Pick<Bar, 'kinds'>,
  left: number,
  scale: number,
  barWidth: number,
  height: number,
) {
  let top = height - 1;
  return deliveryKinds.map(kind => {
    if (kinds[kind] === 0) return null;
    // A single delivery stays visible beside a thousand others.
    const tall = Math.max(1.5, kinds[kind] * scale);
    top -= tall;
    return <rect key={kind + left} class={kind} x={left} y={top} width={barWidth * 0.75} height={tall} />;
  });
}

/** The last deliveries of a webhook in a row of a list. */
export function Sparkline({ bars, time }: SparklineProperties) {
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
