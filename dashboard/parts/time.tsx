import { nowMs } from '../state/clock.ts';
import { exactTime, relativeTime } from '../text/format-time.ts';

/** How long ago, with the exact time on hover. */
export function Time({ at }: { readonly at: string }) {
  const atMs = Date.parse(at);
  return (
    <time dateTime={at} title={exactTime(atMs)}>
      {relativeTime(atMs, nowMs.value)}
    </time>
  );
}

export function ExactTime({ at }: { readonly at: string }) {
  const atMs = Date.parse(at);
  return (
    <time dateTime={at}>
      {exactTime(atMs)} <span class="muted together">({relativeTime(atMs, nowMs.value)})</span>
    </time>
  );
}
