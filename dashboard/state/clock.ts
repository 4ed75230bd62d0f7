import { signal } from '@preact/signals';

const tickMs = 10_000;

/** The current time, in ms; relative times follow it. */
export const nowMs = signal(0);

/** Keeps `nowMs` current while somebody looks at the page. */
export function startClock(): void {
  const tick = () => {
    if (!document.hidden) nowMs.value = Date.now();
  };
  tick();
  setInterval(tick, tickMs);
  document.addEventListener('visibilitychange', tick);
}
