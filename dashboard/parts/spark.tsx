/** One hour, or several: what is usual, and above it what is not. */
export interface SparkBar {
  readonly usual: number;
  readonly bad: number;
}

interface Properties {
  readonly bars: readonly SparkBar[];
  readonly width?: number;
  readonly height?: number;
}

/** Bars without an axis, in their own scale. A number beside them tells the same. */
export function Spark({ bars, width = 96, height = 22 }: Properties) {
  const step = width / Math.max(1, bars.length);
  const scale = (height - 1) / Math.max(1, ...bars.map(({ usual, bad }) => usual + bad));
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      style={{ width: `${width}px`, height: `${height}px` }}
      aria-hidden="true"
    >
      {bars.map(({ usual, bad }, index) => {
        const at = { key: index, x: index * step, width: step * 0.72 };
        if (usual + bad === 0) return <rect {...at} class="z" y={height - 1} height={1} />;
        const [low, high] = [tall(usual, scale), tall(bad, scale)];
        return (
          <>
            {usual > 0 && <rect {...at} y={height - low} height={low} />}
            {bad > 0 && <rect {...at} key={`${index}r`} class="r" y={height - low - high} height={high} />}
          </>
        );
      })}
    </svg>
  );
}

/** A single one stays visible beside a thousand others. */
function tall(count: number, scale: number): number {
  return count === 0 ? 0 : Math.max(1.5, count * scale);
}
