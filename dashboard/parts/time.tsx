import { nowMs } from '../state/clock.ts';
import { formatExactTime, formatRelativeTime } from '../text/format-time.ts';

/** A relative time, with the exact time on hover. */
export function Time({ at }: { readonly at: string }) {
  const atMs = Date.parse(at);
  return (
    <time dateTime={at} title={formatExactTime(atMs)}>
      {formatRelativeTime(atMs, nowMs.value)}
    </time>
  );
}

export function ExactTime({ at }: { readonly at: string }) {
  const atMs = Date.parse(at);
  return (
    <time dateTime={at}>
      {formatExactTime(atMs)} <span class="muted together">({formatRelativeTime(atMs, nowMs.value)})</span>
    </time>
  );
}
