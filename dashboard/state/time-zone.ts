import { signal } from '@preact/signals';
import type { TimeZone } from '../text/format-time.ts';

const item = 'hookmill-time-zone';

/** The time zone in which the pages show times. This browser keeps it. */
export const timeZone = signal<TimeZone>(localStorage.getItem(item) === 'utc' ? 'utc' : 'local');

export function switchTimeZone(): void {
  timeZone.value = timeZone.value === 'utc' ? 'local' : 'utc';
  localStorage.setItem(item, timeZone.value);
}
