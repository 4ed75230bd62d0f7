import { nowMs } from '../state/clock.ts';
import { timeZone } from '../state/time-zone.ts';
import { formatAge, formatExactTime, formatRelativeTime } from '../text/format-time.ts';

interface Properties {
  readonly at: string;
}

/** How long ago something happened, with the exact time on hover. */
export function Time({ at }: Properties) {
  const atMs = Date.parse(at);
  return (
    <time dateTime={at} title={formatExactTime(atMs, timeZone.value)}>
      {formatAge(atMs, nowMs.value)}
    </time>
  );
}

/** When something happened, or will happen if it is `due`. */
export function ExactTime({ at, due = false }: Properties & { readonly due?: boolean }) {
  const atMs = Date.parse(at);
  const format = due ? formatRelativeTime : formatAge;
  return (
    <time dateTime={at}>
      {formatExactTime(atMs, timeZone.value)}{' '}
      <span class="muted together">({format(atMs, nowMs.value)})</span>
    </time>
  );
}
