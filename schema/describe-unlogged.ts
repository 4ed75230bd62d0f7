import type { UnloggedReason } from './unlogged.ts';

const reasons: Readonly<Record<UnloggedReason, string>> = {
  'rate limit': 'by the rate limit',
  'failed attempts': 'after too many failed attempts',
  authentication: 'by authentication, beyond the rows that are logged',
  incomplete: 'with an incomplete body',
  disabled: 'because the webhook is disabled',
  method: 'with another method than POST',
  'not recorded': 'because they could not be recorded',
  'similar URL': 'at a similar URL',
  'unknown URL': 'at unknown URLs',
};

interface Unlogged {
  readonly reason: UnloggedReason;
  readonly detail: string;
  readonly count: number;
  readonly lastAt: string;
}

/**
 * Counts the requests without a row for each reason, such as `18 by the rate limit (last 16:03:11)`. They are given
 * newest first.
 */
export function describeUnlogged(
  requests: readonly Unlogged[],
  formatTime: (at: string) => string,
): readonly string[] {
  const byText = new Map<string, { count: number; lastAt: string }>();
  for (const { reason, detail, count, lastAt } of requests) {
    const text = detail === '' ? reasons[reason] : `${reasons[reason]}: ${detail}`;
    const known = byText.get(text) ?? { count: 0, lastAt };
    byText.set(text, { ...known, count: known.count + count });
  }
  return [...byText].map(([text, { count, lastAt }]) => `${count} ${text} (last ${formatTime(lastAt)})`);
}
