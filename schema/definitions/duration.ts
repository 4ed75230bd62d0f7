import { z } from 'zod';

const unitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** Parses a duration in settings and flags (`500ms`, `30s`, `5m`, `1h`) to ms; undefined for any other text. */
export function parseDurationMs(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})(ms|s|m|h)$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * unitsMs[unit as keyof typeof unitsMs];
}

/** The shape of a duration as text, between two bounds. `what` names it in messages. */
export function durationShape(what: string, minMs: number, maxMs: number) {
  const isWithin = (text: string) => {
    const ms = parseDurationMs(text) ?? 0;
    return ms >= minMs && ms <= maxMs;
  };
  const hint = `write a time from ${renderDuration(minMs)} to ${renderDuration(maxMs)}, e.g. 30s or 5m`;
  return z
    .string()
    .refine(isWithin, { error: ({ input }) => `invalid ${what} "${input}"`, params: { hint } });
}

function renderDuration(ms: number): string {
  if (ms % unitsMs.h === 0) return `${ms / unitsMs.h}h`;
  return ms % unitsMs.m === 0 ? `${ms / unitsMs.m}m` : `${ms / unitsMs.s}s`;
}

/** @limit Longest time limit, debounce and wait between attempts that a definition can set, in ms (a day): a longer one is probably a mistake. */
const runTimeMsMax = 24 * 3_600_000;

/** The shape of the times that a definition sets for runs. */
export const runTime = durationShape('time', 1_000, runTimeMsMax);
