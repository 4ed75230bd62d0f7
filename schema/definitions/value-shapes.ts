import { z } from 'zod';
import { type EventHeaders, withLowerNames } from '../headers.ts';
import { namePattern, nameRule } from '../names.ts';
import { findSecretNameMistake, secretNamePattern } from '../text/credentials.ts';
import { dayMs, parseDurationMs, timeUnitsMs } from '../time-units.ts';

/** The name of a webhook, an automation or a factory. */
export const nameShape = z.string().regex(namePattern, { error: `use ${nameRule}` });

/** The name of a team secret. */
export const secretNameShape = z
  .string()
  .superRefine((name, context) => {
    const mistake = findSecretNameMistake(name);
    if (!mistake) return;
    // As `addMistake` does, which definitions import beside this.
    const { message, ...params } = mistake;
    context.addIssue({ code: 'custom', message, params });
  })
  .meta({ pattern: secretNamePattern.source });

/** The shape of a duration as text, between two bounds. `what` names it in messages. */
export function durationShape(what: string, minMs: number, maxMs: number) {
  const isWithin = (text: string) => {
    const ms = parseDurationMs(text) ?? 0;
    return ms >= minMs && ms <= maxMs;
  };
  const hint = `write a time from ${renderDuration(minMs)} to ${renderDuration(maxMs)}, e.g. 30s or 5m`;
  return z
    .string()
    .refine(isWithin, { error: ({ input }) => `invalid ${what} "${input}"`, params: { hint } })
    .meta({ examples: ['30s'] });
}

function renderDuration(ms: number): string {
  const { h, m, s } = timeUnitsMs;
  if (ms % h === 0) return `${ms / h}h`;
  return ms % m === 0 ? `${ms / m}m` : `${ms / s}s`;
}

/** @limit Longest time limit, debounce and wait between attempts that a definition can set, in ms (a day): a longer one is probably a mistake. */
const runTimeMsMax = dayMs;

/** The shape of the times in a definition that control runs. */
export const runTime = durationShape('time', 1_000, runTimeMsMax);

/** Event headers that a person writes, with names in any case. */
export const eventHeadersShape = z
  .record(z.string(), z.string())
  .transform((headers): EventHeaders => withLowerNames(headers));
