import type { Attempt } from './runner.ts';

/** The time limit for an attempt, in whole ms: the operator's, or the automation's if that is shorter. */
export function boundTimeLimitMs(
  { timeLimitSeconds }: { readonly timeLimitSeconds: number },
  { timeLimitMs = Infinity }: Pick<Attempt, 'timeLimitMs'>,
): number {
  return Math.min(Math.ceil(timeLimitSeconds * 1_000), timeLimitMs);
}
