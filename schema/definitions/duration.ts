const unitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** Parses a duration in settings and flags (`500ms`, `30s`, `5m`, `1h`) to ms; undefined for any other text. */
export function parseDurationMs(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})(ms|s|m|h)$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * unitsMs[unit as keyof typeof unitsMs];
}
