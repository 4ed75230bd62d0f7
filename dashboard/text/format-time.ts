import { dayMs } from '../../schema/time-units.ts';

const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'short' });

/** The time zone of exact times: the browser's, or UTC. */
export type TimeZone = 'local' | 'utc';

const exact = makeFormats({ dateStyle: 'medium', timeStyle: 'long' });
const hours = makeFormats({
  ...{ weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
});
const clock = makeFormats({ timeStyle: 'medium' });
const minutes = makeFormats({ hour: '2-digit', minute: '2-digit' });
const moments = makeFormats({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const shortDays = makeFormats({ weekday: 'short', day: 'numeric' });

function makeFormats(options: Intl.DateTimeFormatOptions): Record<TimeZone, Intl.DateTimeFormat> {
  const make = (more: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat('en-GB', { ...options, ...more });
  return { local: make({}), utc: make({ timeZone: 'UTC' }) };
}

/** `3 min. ago` of the past; `just now` also if the clock of the daemon is ahead. */
export function formatAge(atMs: number, nowMs: number): string {
  return formatRelativeTime(Math.min(atMs, nowMs), nowMs);
}

/** `3 min. ago`, `in 2 hr.`; under a minute `just now` or `soon`. */
export function formatRelativeTime(atMs: number, nowMs: number): string {
  const seconds = Math.round((atMs - nowMs) / 1_000);
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  }
  return seconds > 5 ? 'soon' : 'just now';
}

/** Date, time to the second and time zone. */
export function formatExactTime(atMs: number, zone: TimeZone): string {
  return exact[zone].format(atMs);
}

/** `Sun 22 Nov, 14:00–15:00`. */
export function formatHours(fromMs: number, toMs: number, zone: TimeZone): string {
  return hours[zone].formatRange(fromMs, toMs);
}

/** `Tue 24 Nov, 00:07`. */
export function formatMinute(atMs: number, zone: TimeZone): string {
  return hours[zone].format(atMs);
}

/** `23:49`. */
export function formatHourMark(atMs: number, zone: TimeZone): string {
  return minutes[zone].format(atMs);
}

/** `Mon 23`. */
export function formatDayMark(atMs: number, zone: TimeZone): string {
  return shortDays[zone].format(atMs);
}

/** Since when something is so: `23:49` today, `3 Nov, 08:11` before. */
export function formatMoment(atMs: number, nowMs: number, zone: TimeZone): string {
  return (dayOf(atMs, zone) === dayOf(nowMs, zone) ? minutes : moments)[zone].format(atMs);
}

const shortDates = makeFormats({ day: 'numeric', month: 'short' });

/** `12 Jan`, of another year `12 Jan 2027`. */
export function formatDate(atMs: number, nowMs: number, zone: TimeZone): string {
  const year = new Date(atMs).getUTCFullYear();
  const date = shortDates[zone].format(atMs);
  return year === new Date(nowMs).getUTCFullYear() ? date : `${date} ${year}`;
}

const days = makeFormats({ weekday: 'long', day: 'numeric', month: 'long' });
const dates = makeFormats({ dateStyle: 'short' });
const precise = makeFormats({
  ...{ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
  ...{ second: '2-digit', fractionalSecondDigits: 3, timeZoneName: 'short' },
});

/** Both time zones, with milliseconds. */
export function formatBothTimes(atMs: number): string {
  return `${precise.utc.format(atMs)}\n${precise.local.format(atMs)}`;
}

/** The day of a time, as a list of days has it: `Today, Tuesday 24 November`. */
export function formatDay(atMs: number, nowMs: number, zone: TimeZone): string {
  const day = days[zone].format(atMs).replace(',', '');
  if (dayOf(atMs, zone) === dayOf(nowMs, zone)) return `Today, ${day}`;
  const year = new Date(atMs).getUTCFullYear();
  return year === new Date(nowMs).getUTCFullYear() ? day : `${day} ${year}`;
}

/** When the day of a time begins. */
export function startOfDay(atMs: number, zone: TimeZone): number {
  return zone === 'utc' ? Math.floor(atMs / dayMs) * dayMs : new Date(atMs).setHours(0, 0, 0, 0);
}

/** Tells days apart. */
export function dayOf(atMs: number, zone: TimeZone): string {
  return dates[zone].format(atMs);
}

/** `18 min`, `9 h 45 min`, `3 d 2 h`: how long something has lasted. */
export function formatLength(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 1) return `${Math.max(0, Math.floor(ms / 1_000))} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  const [big, small] =
    hours < 24 ? [`${hours} h`, `${minutes % 60} min`] : [`${Math.floor(hours / 24)} d`, `${hours % 24} h`];
  return small.startsWith('0 ') ? big : `${big} ${small}`;
}

/** `16:03:11`. */
export function formatClockTime(at: string, zone: TimeZone): string {
  return clock[zone].format(Date.parse(at));
}

/** The value of a field for date and time. */
export function formatTimeInput(at: string, zone: TimeZone): string {
  const atMs = Date.parse(at);
  const offsetMs = zone === 'utc' ? 0 : new Date(atMs).getTimezoneOffset() * 60_000;
  return new Date(atMs - offsetMs).toISOString().slice(0, 16);
}

/** Reads such a value as an ISO time; empty if it is none. */
export function parseTimeInput(text: string, zone: TimeZone): string {
  const at = new Date(zone === 'utc' ? `${text}Z` : text);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}

/** `0.4 s`, `12 s`, `3 min 4 s`. */
export function formatDuration(ms: number): string {
  if (ms < 100) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** `10 min` for `10m`; a text that is no time as it is. */
export function formatRunTime(text: string): string {
  const [, count = '', unit = ''] = /^(\d+)(s|m|h)$/.exec(text) ?? [];
  return count === '' ? text : `${count} ${unit === 'm' ? 'min' : unit}`;
}
