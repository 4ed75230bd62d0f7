/** @limit Longest commit of a delivery log that counts as working, in ms: slower ones make senders wait. */
const commitMsHealthy = 1_500;
/** @limit Time for which a failed commit still counts after a later one succeeded, in ms: what fails every other second does not work. */
const failureRemembersMs = 5_000;

/** Says why commits do not work, from how the last ones ended. Times are monotonic, in ms. */
export class CommitHealth {
  /** The time at which each batch in flight was sent, oldest first. */
  readonly #startedMs = new Map<number, number>();
  #failure: { readonly reason: string; readonly atMs: number; readonly repaired: boolean } | undefined;

  begin(batch: number, nowMs: number): void {
    this.#startedMs.set(batch, nowMs);
  }

  /** `wrote`: whether the commit reached the disk. One that changed nothing proves nothing. */
  succeed(batch: number, wrote: boolean): void {
    this.#startedMs.delete(batch);
    if (wrote && this.#failure && !this.#failure.repaired)
      this.#failure = { ...this.#failure, repaired: true };
  }

  fail(batch: number, reason: string, nowMs: number): void {
    this.#startedMs.delete(batch);
    this.#failure = { reason, atMs: nowMs, repaired: false };
  }

  /** Undefined while commits work. */
  describe(nowMs: number): string | undefined {
    if (this.#failure && (!this.#failure.repaired || nowMs - this.#failure.atMs < failureRemembersMs)) {
      return this.#failure.reason;
    }
    const [oldestMs = nowMs] = this.#startedMs.values();
    const waitedMs = nowMs - oldestMs;
    if (waitedMs < commitMsHealthy) return undefined;
    const seconds = Math.round(waitedMs / 1_000);
    return `the delivery log has not committed for ${seconds} s: another process may have locked it, or its disk is slow`;
  }
}
