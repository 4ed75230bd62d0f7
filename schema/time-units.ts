/** Units of time, in ms. */
export const timeUnitsMs = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
} as const;

/** Converts a count of a unit, as a pattern found them in a text, to ms. The unit must be one of these. */
export function toMs(count: string, unit: string): number {
  return Number(count) * timeUnitsMs[unit as keyof typeof timeUnitsMs];
}

/** Parses a duration in settings and flags (`500ms`, `30s`, `5m`, `1h`) to ms; undefined for any other text. */
export function parseDurationMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,9})(ms|s|m|h)$/.exec(text) ?? [];
  return count === undefined ? undefined : toMs(count, unit);
}

export const hourMs = timeUnitsMs.h;
export const dayMs = timeUnitsMs.d;
