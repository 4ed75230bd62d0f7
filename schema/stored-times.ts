/** Whether a stored time is ahead of now, because the clock was set back since. It then counts as now, wherever it is kept. */
export function isAhead(at: string, nowMs: number): boolean {
  return Date.parse(at) > nowMs;
}

/** A stored time, or now if it is ahead of that. */
export function notAhead(at: string, nowMs: number): string {
  return isAhead(at, nowMs) ? new Date(nowMs).toISOString() : at;
}

/** A wait as it is stored. One that began ahead of now begins now, and lasts as long as it was to last. */
export interface StoredWait {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Returns the same object if the wait did not begin ahead of now. */
export function beginNotAhead<W extends StoredWait>(wait: W, nowMs: number): W {
  const aheadMs = wait.fromMs - nowMs;
  return aheadMs > 0 ? { ...wait, fromMs: nowMs, untilMs: wait.untilMs - aheadMs } : wait;
}

/** The end of an overlap, which is as long as it was to be also if the clock was set back since it began. */
export function findOverlapEnd(
  { since, until }: { readonly since: string; readonly until: string },
  nowMs: number,
): string {
  const wait = beginNotAhead({ fromMs: Date.parse(since), untilMs: Date.parse(until) }, nowMs);
  return new Date(wait.untilMs).toISOString();
}

/** The end of an overlap that has not come yet; undefined without one. */
export function findRunningEnd(
  overlap: Parameters<typeof findOverlapEnd>[0] | undefined,
  nowMs: number,
): string | undefined {
  const until = overlap && findOverlapEnd(overlap, nowMs);
  return until !== undefined && nowMs < Date.parse(until) ? until : undefined;
}

/** A wait that lasts on while the clock is set. */
export interface FollowedWait {
  readonly isRunning: (nowMs: number) => boolean;
  readonly untilMs: () => number;
}

/** Follows a wait in memory: once its beginning was seen ahead of now, it goes on from there. */
export function followWait(wait: StoredWait): FollowedWait {
  let current = wait;
  return {
    isRunning: nowMs => {
      current = beginNotAhead(current, nowMs);
      return nowMs < current.untilMs;
    },
    untilMs: () => current.untilMs,
  };
}
