const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'short' });
const exact = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'long',
});

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** `3 min. ago`, `in 2 hr.`; under a minute `just now` or `soon`. */
export function formatRelativeTime(atMs: number, nowMs: number): string {
  const seconds = Math.round((atMs - nowMs) / 1_000);
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  }
  return seconds > 5 ? 'soon' : 'just now';
}

/** Date, time to the second and time zone. */
export function formatExactTime(atMs: number): string {
  return exact.format(atMs);
}

/** `16:03:11`. */
export function formatClockTime(at: string): string {
  return clock.format(Date.parse(at));
}

/** `0.4 s`, `12 s`, `3 min 4 s`. */
export function formatDuration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
