import { signal } from '@preact/signals';

const tickMs = 10_000;
const ticks = signal(1);

/** The present, in ms. Reading `value` is reading the clock, and subscribes to time going on. */
export const nowMs = {
  get value(): number {
    return ticks.value && Date.now();
  },
  peek: (): number => Date.now(),
};

setInterval(() => {
  if (!document.hidden) ticks.value++;
}, tickMs);
document.addEventListener('visibilitychange', () => {
  ticks.value++;
});
