import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { TimeZone } from '../text/format-time.ts';

const tickMs = 10_000;
const ticks = signal(1);

/** The current time, in ms. A component that reads `value` renders again as time passes. */
export const nowMs = {
  get value(): number {
    return ticks.value && Date.now();
  },
};

/** Keeps relative times current while somebody looks at the page. */
export function startClock(): void {
  const tick = () => {
    if (!document.hidden) ticks.value++;
  };
  setInterval(tick, tickMs);
  document.addEventListener('visibilitychange', tick);
}

const item = 'hookmill-time-zone';

/** The time zone in which the pages show times. This browser keeps it. */
export const timeZone = signal<TimeZone>(localStorage.getItem(item) === 'utc' ? 'utc' : 'local');

export function switchTimeZone(): void {
  timeZone.value = timeZone.value === 'utc' ? 'local' : 'utc';
  localStorage.setItem(item, timeZone.value);
}

/** Calls `act` every `everyMs` while the page is visible; never if `everyMs` is undefined. */
export function useInterval(act: () => void, everyMs: number | undefined): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => {
      if (!document.hidden) latest.current();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}

/** Returns the value once it has not changed for `ms`. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
