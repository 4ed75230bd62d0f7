import { signal } from '@preact/signals';

/** A message about the last action, shown and read out for a few seconds. */
export const announcement = signal<{ readonly text: string; readonly id: number } | undefined>(undefined);

const shownMs = 4_000;
let timer: ReturnType<typeof setTimeout> | undefined;
let count = 0;

export function announce(text: string): void {
  count += 1;
  announcement.value = { text, id: count };
  clearTimeout(timer);
  timer = setTimeout(() => {
    announcement.value = undefined;
  }, shownMs);
}
