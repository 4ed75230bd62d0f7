export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

export interface Rhythm {
  /** When deliveries come between two times, in order. */
  readonly list: (random: () => number, fromMs: number, untilMs: number) => number[];
  /** How fast time passes for it, compared with other times of the week. */
  readonly pace: (atMs: number) => number;
}

const always = () => 1;

function exponential(random: () => number, meanMs: number): number {
  return -Math.log(1 - random()) * meanMs;
}

/** Deliveries that come at random, on average so often in an hour of each kind. */
function atRandom(perHour: number, pace: Rhythm['pace'] = always): Rhythm {
  const list: Rhythm['list'] = (random, fromMs, untilMs) => {
    const times: number[] = [];
    let atMs = fromMs + exponential(random, hourMs / perHour);
    while (atMs < untilMs) {
      if (random() < pace(atMs)) times.push(Math.round(atMs));
      atMs += exponential(random, hourMs / perHour);
    }
    return times;
  };
  return { list, pace };
}

/** Monday to Friday, 8 to 17 o'clock. 1970 began on a Thursday. */
function isOffice(atMs: number): boolean {
  const hour = (atMs % dayMs) / hourMs;
  return (Math.floor(atMs / dayMs) + 3) % 7 < 5 && hour >= 8 && hour < 17;
}

interface Job {
  readonly everyMs: number;
  /** When it starts, counted from a Thursday. */
  readonly offsetMs?: number;
  /** By how much it may be late. */
  readonly lateMs: number;
  readonly deliveries?: number;
  readonly spacingMs?: number;
}

/** A job that starts by the clock, and sends some deliveries one after the other. */
function job({ everyMs, offsetMs = 0, lateMs, deliveries = 1, spacingMs = 0 }: Job): Rhythm {
  const list: Rhythm['list'] = (random, fromMs, untilMs) => {
    const times: number[] = [];
    for (let startMs = Math.ceil(fromMs / everyMs) * everyMs; startMs < untilMs; startMs += everyMs) {
      let atMs = startMs + offsetMs + random() * lateMs;
      for (let index = 0; index < deliveries; index++, atMs += exponential(random, spacingMs))
        times.push(Math.round(atMs));
    }
    return sortWithin(times, fromMs, untilMs);
  };
  return { list, pace: always };
}

/** Bursts that begin at random, each of some deliveries. */
function bursts(everyMs: number, deliveries: number, spacingMs: number): Rhythm {
  const list: Rhythm['list'] = (random, fromMs, untilMs) => {
    const times: number[] = [];
    for (let burstMs = fromMs; burstMs < untilMs; burstMs += exponential(random, everyMs)) {
      const size = 1 + exponential(random, deliveries);
      for (let index = 0, atMs = burstMs; index < size; index++, atMs += exponential(random, spacingMs))
        times.push(Math.round(atMs));
    }
    return sortWithin(times, fromMs, untilMs);
  };
  return { list, pace: always };
}

function sortWithin(times: readonly number[], fromMs: number, untilMs: number): number[] {
  return times.filter(atMs => atMs >= fromMs && atMs < untilMs).sort((a, b) => a - b);
}

const week = { everyMs: 7 * dayMs };

/** What is promised for these is tested. */
export const promisedRhythms: Readonly<Record<string, Rhythm>> = {
  'every half hour': job({ everyMs: 30 * minuteMs, lateMs: minuteMs }),
  'each hour': job({ everyMs: hourMs, lateMs: 2 * minuteMs }),
  'twenty an hour': atRandom(20),
  'two an hour': atRandom(2),
  'busy days, quiet nights': atRandom(30, atMs => 0.5 + 0.48 * Math.sin((2 * Math.PI * atMs) / dayMs)),
  'twelve an hour in the office': atRandom(12, atMs => (isOffice(atMs) ? 1 : 0)),
  'three an hour in the office, and some else': atRandom(3, atMs => (isOffice(atMs) ? 1 : 0.01)),
  'once a day': job({ everyMs: dayMs, offsetMs: 3 * hourMs, lateMs: 5 * minuteMs }),
  'once a week': job({ ...week, offsetMs: 100 * hourMs, lateMs: 10 * minuteMs }),
  'a batch each week': job({
    ...{ ...week, offsetMs: 99 * hourMs, lateMs: 20 * minuteMs },
    ...{ deliveries: 60, spacingMs: 5_000 },
  }),
  'three bursts a day': bursts(8 * hourMs, 20, 4_000),
  'ten bursts a day': bursts(2.4 * hourMs, 8, 20_000),
};
