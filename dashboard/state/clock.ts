import { signal } from '@preact/signals';

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
