/** @limit Length of the windows in which attempts and deliveries are counted, in ms: the limits are stated per minute. */
const windowMs = 60_000;
/** @limit Most keys that a counter keeps; beyond it the oldest window ends early. To gain guesses from that, as many other addresses must fail. */
const keysMax = 50_000;

/** The events of one key, in the window that began with the first of them. */
export interface CountedWindow {
  readonly count: number;
  readonly endsAtMs: number;
}

/** Counts events by key in windows of a minute, in this process's memory. */
export class WindowCounter {
  /** All windows last equally long, so the first one in this map is the first to end. */
  readonly #windows = new Map<string, Window>();
  /** Gives each window once, the oldest first. Another iterator would first pass by the traces of all deleted ones. */
  #windowsByAge = this.#windows.entries();
  #oldest: readonly [string, Window] | undefined;
  readonly #monotonicMs: () => number;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Whether no key has a window; saves the caller from making a key. */
  get isEmpty(): boolean {
    return this.#windows.size === 0;
  }

  /** Returns the current window of a key. */
  find(key: string): CountedWindow | undefined {
    const window = this.#windows.get(key);
    return window && this.#monotonicMs() < window.endsAtMs ? window : undefined;
  }

  /** Counts an event, and returns the window with it. */
  count(key: string): CountedWindow {
    const nowMs = this.#monotonicMs();
    let window = this.#windows.get(key);
    if (!window || nowMs >= window.endsAtMs) {
      this.#makeRoom(nowMs);
      window = { count: 0, endsAtMs: nowMs + windowMs };
      this.#windows.set(key, window);
    }
    window.count++;
    return window;
  }

  /** Takes back an event that was counted before it was known to be one. */
  takeBack(key: string): void {
    const window = this.#windows.get(key);
    if (window && window.count > 0) window.count--;
  }

  /** Whole seconds until the window ends, at least 1. */
  secondsLeft({ endsAtMs }: CountedWindow): number {
    return Math.max(1, Math.ceil((endsAtMs - this.#monotonicMs()) / 1_000));
  }

  /** Removes the windows that have ended, and the oldest of the others if there are as many as may be kept. */
  #makeRoom(nowMs: number): void {
    while (this.#windows.size > 0) {
      this.#oldest ??= this.#takeNext();
      const [key, { endsAtMs }] = this.#oldest;
      if (nowMs < endsAtMs && this.#windows.size < keysMax) return;
      this.#windows.delete(key);
      this.#oldest = undefined;
    }
  }

  #takeNext(): readonly [string, Window] {
    const { value } = this.#windowsByAge.next();
    if (value) return value;
    // An iterator that came to the end, when there was no window left, gives none of the later ones.
    this.#windowsByAge = this.#windows.entries();
    return this.#takeNext();
  }
}

interface Window {
  count: number;
  readonly endsAtMs: number;
}
