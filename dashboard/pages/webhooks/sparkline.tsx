import type { ListedActivity } from '../../api-types.ts';

type Hours = ListedActivity['hours'];

const barWidth = 4;
const height = 22;

/** The last 24 hours of a webhook: for each hour, stacked bars of accepted, duplicate and rejected deliveries. */
export function Sparkline({ hours }: { readonly hours: Hours }) {
  const busiest = Math.max(
    1,
    ...hours.map(({ accepted, duplicate, rejected }) => accepted + duplicate + rejected),
  );
  const label = summarize(hours);
  return (
    <svg
      class="sparkline"
      role="img"
      aria-label={label}
      width={hours.length * barWidth}
      height={height}
      viewBox={`0 0 ${hours.length * barWidth} ${height}`}
    >
      <title>{label}</title>
      <path class="floor" d={`M0 ${height - 0.5}H${hours.length * barWidth}`} />
      {hours.map((hour, index) => bars(hour, index, (height - 2) / busiest))}
    </svg>
  );
}

function bars(hour: Hours[number], index: number, scale: number) {
  let top = height - 1;
  return (['accepted', 'duplicate', 'rejected'] as const).map(kind => {
    if (hour[kind] === 0) return null;
    // A single delivery stays visible beside a thousand others.
    const tall = Math.max(1.5, hour[kind] * scale);
    top -= tall;
    return (
      <rect key={kind + index} class={kind} x={index * barWidth} y={top} width={barWidth - 1} height={tall} />
    );
  });
}

function summarize(hours: Hours): string {
  const sum = (kind: keyof Hours[number]) => hours.reduce((total, hour) => total + hour[kind], 0);
  return `Last 24 hours: ${sum('accepted')} accepted, ${sum('duplicate')} duplicate, ${sum('rejected')} rejected`;
}
