import { signal } from '@preact/signals';

/** A message about the last action, shown and read out for a few seconds. */
interface Announcement {
  readonly text: string;
  readonly id: number;
  /** Where what was done can be opened. */
  readonly open?: { readonly label: string; readonly href: string } | undefined;
}

export const announcement = signal<Announcement | undefined>(undefined);

const shownMs = 6_000;
let timer: ReturnType<typeof setTimeout> | undefined;
let count = 0;

/** Tells what was done. Failures are notices, never told here. */
export function announce(text: string, open?: Announcement['open']): void {
  count += 1;
  announcement.value = { text, id: count, open };
  goOn();
}

/** Keeps the message while somebody points at it or has the focus in it. */
export function stay(): void {
  clearTimeout(timer);
}

export function goOn(): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    announcement.value = undefined;
  }, shownMs);
}
