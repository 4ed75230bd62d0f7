import { signal } from '@preact/signals';

const tickMs = 10_000;

/** The present, in ms: relative times follow it. */
export const nowMs = signal(Date.now());

setInterval(() => {
  if (!document.hidden) nowMs.value = Date.now();
}, tickMs);
document.addEventListener('visibilitychange', () => {
  nowMs.value = Date.now();
});
