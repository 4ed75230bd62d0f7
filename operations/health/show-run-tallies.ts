import type { z } from 'zod';
import { endStates } from '../../schema/delivery.ts';
import { hourMs } from '../../schema/time-units.ts';
import type { runTalliesAnswer } from '../../schema/views/runs.ts';
import type { RunDuration, RunTally } from '../../store/ports/tallies.ts';
import type { OpenFactory } from '../factory.ts';
import { weekHours } from './usual-deliveries.ts';

type RunTalliesView = z.output<typeof runTalliesAnswer>;
type DurationView = RunTalliesView['duration']['day'];

const dayHours = 24;

/** Shows the ends of a factory's runs by hours of the last seven days, how long they took, and the runs that have not ended. */
export async function showRunTallies({
  name: factory,
  store,
  readState,
  now,
}: OpenFactory): Promise<RunTalliesView> {
  const endHour = Math.floor(now().getTime() / hourMs) + 1;
  const sinceHour = endHour - weekHours;
  const [dayHour, dayBeforeHour] = [endHour - dayHours, endHour - 2 * dayHours];
  const applied = (await readState()).automations.map(({ name }) => name);
  const read = await store.deliveries.readRunTallies({
    ...{ factory, automations: applied, sinceHour, durationsSinceHour: dayBeforeHour },
  });
  const byAutomation = Map.groupBy(read.tallies, ({ automation }) => automation);
  const lastRuns = new Map(
    read.lastRuns.map(({ automation, atMs, ...run }) => [automation, { ...run, at: toTime(atMs) }]),
  );
  const automations = [...new Set([...applied, ...byAutomation.keys()])];
  const isIn = (from: number, to: number) => read.durations.filter(({ hour }) => hour >= from && hour < to);
  return {
    since: toTime(sinceHour * hourMs),
    automations: automations.map(automation => ({
      automation,
      ...listHours(byAutomation.get(automation) ?? [], sinceHour),
      lastRun: lastRuns.get(automation) ?? null,
    })),
    now: read.now,
    duration: {
      day: summarizeDurations(isIn(dayHour, endHour)),
      dayBefore: summarizeDurations(isIn(dayBeforeHour, dayHour)),
    },
  };
}

type Hours = Record<(typeof endStates)[number], number[]>;

function listHours(tallies: readonly RunTally[], sinceHour: number): Hours {
  const hours = Object.fromEntries(
    endStates.map(state => [state, Array.from({ length: weekHours }, () => 0)]),
  ) as Hours;
  for (const tally of tallies) {
    const index = tally.hour - sinceHour;
    if (index >= weekHours) continue;
    for (const state of endStates) hours[state][index] = tally[state];
  }
  return hours;
}

function summarizeDurations(durations: readonly RunDuration[]): DurationView {
  const runs = durations.reduce((sum, duration) => sum + duration.runs, 0);
  if (runs === 0) return null;
  const inOrder = durations.toSorted((a, b) => a.bucket - b.bucket);
  const find = (rank: number) => {
    let passed = 0;
    return inOrder.find(({ runs }) => {
      passed += runs;
      return passed >= rank;
    });
  };
  const toMs = (share: number) => {
    const { bucket = 0 } = find(Math.ceil(share * runs)) ?? {};
    // The middle of the bucket, measured in factors.
    return Math.round(2 ** ((bucket + 0.5) / 8));
  };
  return { medianMs: toMs(0.5), p90Ms: toMs(0.9) };
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
