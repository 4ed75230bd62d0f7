/** A generator of pseudo-random numbers (mulberry32): the same seed gives the same webhooks on each machine. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** When the deliveries of a webhook come between two times, in order. */
export type Rhythm = (random: () => number, fromMs: number, untilMs: number) => number[];

const exponential = (random: () => number, meanMs: number) => -Math.log(1 - random()) * meanMs;

/** Times that come at random, with a mean number per hour that may change. */
function atRandom(perHour: (atMs: number) => number, perHourMax: number): Rhythm {
  return (random, fromMs, untilMs) => {
    const times: number[] = [];
    for (let atMs = fromMs; ; ) {
      atMs += exponential(random, hourMs / perHourMax);
      if (atMs >= untilMs) return times;
      if (random() * perHourMax < perHour(atMs)) times.push(Math.round(atMs));
    }
  };
}

function isOffice(atMs: number): boolean {
  // 1970 began on a Thursday: day 2 is a Saturday.
  const day = Math.floor(atMs / dayMs + 5) % 7;
  const hour = (atMs % dayMs) / hourMs;
  return day >= 1 + 1 - 1 && day < 5 + 1 - 1 && hour >= 8 && hour < 17;
}

/** Each job starts at a time of the week, a little late, and sends some deliveries. */
function jobs(everyMs: number, lateMs: number, deliveries: number, spacingMs: number, offsetMs = 0): Rhythm {
  return (random, fromMs, untilMs) => {
    const times: number[] = [];
    for (
      let startMs = Math.ceil(fromMs / everyMs) * everyMs + offsetMs;
      startMs < untilMs;
      startMs += everyMs
    ) {
      let atMs = startMs + random() * lateMs;
      for (let index = 0; index < deliveries; index++) {
        times.push(Math.round(atMs));
        atMs += exponential(random, spacingMs);
      }
    }
    return times.filter(atMs => atMs >= fromMs && atMs < untilMs).sort((a, b) => a - b);
  };
}

/** Bursts come at random times. */
function bursts(everyMs: number, deliveries: number, spacingMs: number): Rhythm {
  return (random, fromMs, untilMs) => {
    const times: number[] = [];
    for (let burstMs = fromMs; ; ) {
      burstMs += exponential(random, everyMs);
      if (burstMs >= untilMs) return times.filter(atMs => atMs < untilMs).sort((a, b) => a - b);
      let atMs = burstMs;
      for (const size = 1 + Math.floor(exponential(random, deliveries)); times.length >= 0; ) {
        times.push(Math.round(atMs));
        atMs += exponential(random, spacingMs);
        if (times.length % (size + 1) === 0 || random() < 1 / deliveries) break;
      }
    }
  };
}

const inDay = (atMs: number) => 1 + Math.sin((2 * Math.PI * (atMs % dayMs)) / dayMs);

/** Rhythms that webhooks have. */
export const rhythms: Readonly<Record<string, Rhythm>> = {
  'every five minutes': jobs(5 * minuteMs, 20_000, 1, 1),
  'steady, 20 an hour': atRandom(() => 20, 20),
  'steady, 2 an hour': atRandom(() => 2, 2),
  'day and night': atRandom(atMs => 30 * inDay(atMs), 60),
  'office hours, 12 an hour': atRandom(atMs => (isOffice(atMs) ? 12 : 0), 12),
  'office hours, 3 an hour': atRandom(atMs => (isOffice(atMs) ? 3 : 0.02), 3),
  'a batch each week': jobs(7 * dayMs, 20 * minuteMs, 60, 5_000, 4 * dayMs + 3 * hourMs),
  'once a week': jobs(7 * dayMs, 10 * minuteMs, 1, 1, 3 * dayMs + 30 * hourMs),
  'bursts, three a day': bursts(8 * hourMs, 20, 4_000),
  'bursts, ten a day': bursts(2.4 * hourMs, 8, 20_000),
};

/** Further rhythms, on which nothing was promised. */
export const otherRhythms: Readonly<Record<string, Rhythm>> = {
  'weekend batches': (random, fromMs, untilMs) =>
    atRandom(atMs => (Math.floor(atMs / dayMs + 4) % 7 >= 5 ? 0 : 0), 1)(random, fromMs, untilMs)
      .concat(jobs(7 * dayMs, hourMs, 200, 30_000, 2 * dayMs + 6 * hourMs)(random, fromMs, untilMs))
      .concat(jobs(7 * dayMs, hourMs, 200, 30_000, 3 * dayMs + 6 * hourMs)(random, fromMs, untilMs))
      .sort((a, b) => a - b),
  'once a day': jobs(dayMs, 5 * minuteMs, 1, 1, 3 * hourMs),
  'each hour': jobs(hourMs, minuteMs, 1, 1),
  'each minute': jobs(minuteMs, 5_000, 1, 1),
  monthly: jobs(30 * dayMs, hourMs, 10, minuteMs, 5 * dayMs),
  'two a day': atRandom(() => 1 / 12, 1),
  'six a day': atRandom(() => 1 / 4, 1),
  'three a week': atRandom(() => 3 / 168, 1),
  'twice a second': (random, fromMs, untilMs) => atRandom(() => 600, 600)(random, fromMs, untilMs),
  'heavy tails': (random, fromMs, untilMs) => {
    const times: number[] = [];
    for (let atMs = fromMs; ; ) {
      atMs += 2 * minuteMs * (1 - random()) ** (-1 / 1.5);
      if (atMs >= untilMs) return times;
      times.push(Math.round(atMs));
    }
  },
};
