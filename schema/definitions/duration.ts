const unitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** A length of time as settings and flags write it (`500ms`, `30s`, `5m`, `1h`), in ms; undefined for anything else. */
export function durationMs(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})(ms|s|m|h)$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * unitsMs[unit as keyof typeof unitsMs];
}
