export function percentile(numbers: readonly number[], part: number): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * part)] ?? Number.NaN;
}

export function median(numbers: readonly number[]): number {
  return percentile(numbers, 0.5);
}

export function round(value: number, decimals = 1): number {
  return Number(value.toFixed(decimals));
}

/** The percentiles of times in ms as columns of a table; of several rounds, the medians of their percentiles. */
export function describeTimes(...rounds: readonly (readonly number[])[]) {
  const over = (part: number) => round(median(rounds.map(times => percentile(times, part))), 2);
  return { 'p50 ms': over(0.5), 'p99 ms': over(0.99) };
}

/** The slope of the line through points with the least squared error, or 0 if all have the same x. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: 0 | 1) => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [middleX, middleY] = [mean(0), mean(1)];
  const spread = points.reduce((sum, [x]) => sum + (x - middleX) ** 2, 0);
  const together = points.reduce((sum, [x, y]) => sum + (x - middleX) * (y - middleY), 0);
  return spread === 0 ? 0 : together / spread;
}
