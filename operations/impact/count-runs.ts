import type { RunFlowKeys } from '../../schema/definitions/automation-definition.ts';
import { hourMs } from '../../schema/time-units.ts';
import { compileLaneValue, debounceTimes } from './run-flow.ts';

/** The runs of an automation that past deliveries would have started. */
export interface CountedRuns {
  readonly runs: number;
  /** The number of these runs that `runsPerHour` would have stopped. */
  readonly stopped: number;
}

export interface RunCounter {
  /** Adds a delivery that starts a run, in any order. */
  add(atMs: number, payload: unknown): void;
  count(): CountedRuns;
}

/**
 * Counts the runs of past deliveries by their times of arrival: the deliveries of a burst share a run, and a fuse stops
 * runs.
 */
export function openRunCounter({ debounce, runsPerHour = Infinity }: RunFlowKeys): RunCounter {
  const readKey = compileLaneValue(debounce?.key);
  const times = debounce && debounceTimes(debounce);
  const starts: { readonly atMs: number; readonly key: unknown }[] = [];
  return {
    add: (atMs, payload) => starts.push({ atMs, key: readKey(payload) }),
    count: () => {
      const sorted = starts.sort((a, b) => a.atMs - b.atMs);
      const bursts = times && [...Map.groupBy(sorted, ({ key }) => key).values()];
      const startsMs = bursts
        ? bursts.flatMap(burst => listBurstStarts(burst, times)).sort((a, b) => a - b)
        : sorted.map(({ atMs }) => atMs);
      return { runs: startsMs.length, stopped: countStopped(startsMs, runsPerHour) };
    },
  };
}

/** Lists the start times of the runs of a lane that gathers deliveries, oldest first. */
function listBurstStarts(
  burst: readonly { readonly atMs: number }[],
  { forMs, atMostMs }: ReturnType<typeof debounceTimes>,
): number[] {
  const startsMs: number[] = [];
  let firstMs = 0;
  for (const { atMs } of burst) {
    const isGathered = atMs < (startsMs.at(-1) ?? Number.NEGATIVE_INFINITY);
    if (isGathered) startsMs.pop();
    else firstMs = atMs;
    startsMs.push(Math.min(atMs + forMs, firstMs + atMostMs));
  }
  return startsMs;
}

/** Counts the runs that the fuse stops: `runsPerHour` others were started within the hour before. */
function countStopped(startsMs: readonly number[], runsPerHour: number): number {
  const startedMs: number[] = [];
  for (const atMs of startsMs) {
    const before = startedMs.at(-runsPerHour);
    if (before === undefined || atMs - before >= hourMs) startedMs.push(atMs);
  }
  return startsMs.length - startedMs.length;
}
