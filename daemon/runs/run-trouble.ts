import type { Logger } from 'pino';

/** @limit Shortest wait of a run that hookmill itself could not begin, in ms: most passing faults are over then. */
const troubleWaitMsMin = 1_000;
/** @limit Longest wait of a run that hookmill itself could not begin, in ms: a repaired disk is noticed soon. */
const troubleWaitMsMax = 30_000;

/** Trouble that keeps hookmill from executing runs, such as a full disk. It is logged when it begins and when it ends. */
export class RunTrouble {
  readonly #log: Logger;
  readonly #monotonicMs: () => number;
  #current: { readonly sinceMs: number; runs: number } | undefined;

  constructor(log: Logger, monotonicMs: () => number) {
    this.#log = log;
    this.#monotonicMs = monotonicMs;
  }

  /** Records that a run could not begin. */
  add(run: string, reason: string): void {
    if (!this.#current) {
      this.#current = { sinceMs: this.#monotonicMs(), runs: 0 };
      this.#log.error({ run, reason }, 'cannot execute runs; they wait, and no attempt is counted');
    }
    this.#current.runs++;
  }

  /** Records that a run was executed. */
  end(): void {
    if (!this.#current) return;
    this.#log.info({ postponed: this.#current.runs }, 'can execute runs again');
    this.#current = undefined;
  }

  /** As long as the trouble has lasted, within bounds. */
  waitMs(): number {
    const lastedMs = this.#current ? this.#monotonicMs() - this.#current.sinceMs : 0;
    return Math.round(Math.min(Math.max(lastedMs, troubleWaitMsMin), troubleWaitMsMax));
  }
}
