import { hash } from 'node:crypto';
import type { RunFlowKeys } from '../../schema/definitions/automation-definition.ts';
import { defaultRunner } from '../../schema/delivery.ts';
import { parseFieldPath, readField } from '../../schema/field-path.ts';
import { hourMs, parseDurationMs } from '../../schema/time-units.ts';
import type { RunFlow } from '../../store/ports/delivery-log.ts';

/** The longest wait of a debounce, in multiples of its time, if a definition does not set it. */
const atMostTimes = 10;
/** Characters of a lane's digest in base64url: 132 bits. */
const laneChars = 22;

/** Computes the flow of a run from the parsed payload of its delivery. */
export type FindRunFlow = (payload: unknown) => RunFlow;

/**
 * Compiles the keys of an automation that control the flow of its runs; undefined if it has none. The same automation
 * and payload always have the same flow: on arrival, in a replay and in every process.
 */
export function compileRunFlow(
  factory: string,
  {
    name,
    runner,
    concurrency,
    concurrencyKey,
    order,
    onFailure,
    onlyLatest = false,
    cancelRunning = false,
    debounce,
    notify,
    runsPerHour,
  }: RunFlowKeys & { readonly name: string },
): FindRunFlow | undefined {
  const findLane = (kind: keyof RunFlow, path: string | undefined) => {
    const readValue = compileLaneValue(path);
    return (payload: unknown) => {
      const lane = JSON.stringify([factory, name, kind, readValue(payload)]);
      return hash('sha256', lane, 'base64url').slice(0, laneChars);
    };
  };
  const parts: ((payload: unknown) => RunFlow)[] = [];
  if (runner !== undefined && runner !== defaultRunner) parts.push(() => ({ runner }));
  if (concurrency !== undefined) {
    const lane = findLane('limit', concurrencyKey);
    parts.push(payload => ({ limit: { lane: lane(payload), runs: concurrency } }));
  }
  if (order !== undefined) {
    const lane = findLane('order', order);
    const latest = onlyLatest && { latest: { cancelRunning } };
    parts.push(payload => ({ order: { lane: lane(payload), hold: onFailure === 'hold', ...latest } }));
  }
  if (debounce) {
    const lane = findLane('burst', debounce.key);
    const times = debounceTimes(debounce);
    parts.push(payload => ({ burst: { lane: lane(payload), ...times } }));
  }
  if (notify) parts.push(() => ({ notify: [...new Set(notify)] }));
  if (runsPerHour !== undefined) parts.push(() => ({ runsPerHour }));
  if (parts.length === 0) return undefined;
  return payload => Object.assign({}, ...parts.map(part => part(payload)));
}

/**
 * Compiles a function that reads the value at a path, which decides the lane of a run: a string, number or boolean,
 * otherwise null. Objects and lists count as null, because nearly each is different and would get a lane of its own.
 */
export function compileLaneValue(
  path: string | undefined,
): (payload: unknown) => string | number | boolean | null {
  const steps = path === undefined ? undefined : parseFieldPath(path);
  if (!steps) return () => null;
  return payload => {
    const value = readField(payload, steps);
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? value
      : null;
  };
}

/** The times of a debounce in ms. */
function debounceTimes({ for: wait, atMost }: NonNullable<RunFlowKeys['debounce']>) {
  const forMs = parseDurationMs(wait) ?? 0;
  return {
    forMs,
    atMostMs: (atMost === undefined ? undefined : parseDurationMs(atMost)) ?? atMostTimes * forMs,
  };
}

/** The runs of an automation that past deliveries would have started. */
interface CountedRuns {
  readonly runs: number;
  /** The number of these runs that `runsPerHour` would have stopped. */
  readonly stopped: number;
}

interface RunCounter {
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
