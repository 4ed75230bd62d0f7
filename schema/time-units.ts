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

export const hourMs = timeUnitsMs.h;
export const dayMs = timeUnitsMs.d;
