/** A delivery that was sent, by a counter of events that the sender saw. */
export interface Posted {
  readonly n: number;
  readonly issue: number;
  readonly repo: number;
  readonly sentAt: number;
  acceptedAt?: number;
}

/** A line of the story that runs tell. Those of a daemon's runs count until it was killed. */
interface Line {
  readonly what: string;
  readonly automation: string;
  readonly run: string;
  readonly ns: readonly number[];
}

/** The rule of each automation, apart from what the daemon makes of it. */
const flows: Readonly<
  Record<string, { limit?: number; lane: (posted: Posted) => unknown; isOrdered?: boolean }>
> = {
  limited: { limit: 2, lane: () => '' },
  keyed: { limit: 1, lane: ({ repo }) => repo },
  ordered: { isOrdered: true, lane: ({ issue }) => issue },
  held: { isOrdered: true, lane: ({ issue }) => issue },
  both: { isOrdered: true, lane: ({ issue }) => issue },
  'both together': { limit: 2, lane: () => '' },
};
const runsPerHour = 10;

/**
 * Compares what the runs themselves have recorded with the keys of their automations: nothing that hookmill says is used.
 * Of the deliveries, only what their sender knows is used: one came before another if it was accepted before the other
 * was sent.
 */
export function findFlowViolations(story: string, posted: readonly Posted[]): string[] {
  const lines = parseStory(story);
  const accepted = posted.filter(({ acceptedAt }) => acceptedAt !== undefined);
  return [
    ...Object.keys(flows).flatMap(name => findInLanes(name, lines, posted)),
    ...findLost(lines, accepted),
    ...findInBursts(lines, accepted),
    ...findTooMany(lines),
  ].slice(0, 20);
}

function parseStory(story: string): Line[] {
  const killed = new Set<string>();
  return story.split('\n').flatMap((text): Line[] => {
    const [what = '', round = '', automation = '', run = '', , ...payload] = text.split(' ');
    if (what === 'kill') killed.add(round);
    if (what === 'kill' || what === 'dismiss' || what === 'lapse')
      return [{ what, automation: '', run: round, ns: [] }];
    if (what === 'cancel') return [{ what, automation: round, run: '', ns: [Number(automation)] }];
    // A command may outlive its daemon until its run is repeated.
    if (text === '' || killed.has(round)) return [];
    const given = [JSON.parse(payload.join(' '))].flat() as { n: number }[];
    return [{ what, automation, run, ns: given.map(({ n }) => n) }];
  });
}

/** Replays the story of an automation: who is at work when a run starts, and what has ended before. */
function findInLanes(name: string, lines: readonly Line[], posted: readonly Posted[]): string[] {
  const { limit = 1, lane, isOrdered } = flows[name] as (typeof flows)[string];
  const [automation] = name.split(' ');
  const byNumber = new Map(posted.map(about => [about.n, about]));
  const open = new Map<string, unknown>();
  const ended = new Set<number>();
  const started = new Set<number>();
  const dismissed = new Set<string>();
  const runOf = new Map<number, string>();
  const found: string[] = [];
  // Runs that failed because daemons ended five times in a row: the next ones of their order went on, until they were retried.
  const lapsed = new Set(lines.flatMap(({ what, run }) => (what === 'lapse' ? [run] : [])));
  for (const { what, automation: own, run, ns } of lines) {
    if (what === 'kill') open.clear();
    if (what === 'dismiss') dismissed.add(run);
    const about = byNumber.get(ns[0] ?? -1);
    if (own !== automation || !about) continue;
    if (what === 'end' || what === 'pause' || what === 'stop') open.delete(run);
    // A cancelled run may end without a word, or not start at all.
    if (what === 'end' || what === 'cancel') ended.add(about.n);
    if (what !== 'start') continue;
    const mine = lane(about);
    const others = [...open].filter(([id, other]) => id !== run && other === mine);
    if (others.length >= limit) found.push(`${name}: ${run} started beside ${others.map(([id]) => id)}`);
    open.set(run, mine);
    runOf.set(about.n, run);
    if (!isOrdered || started.has(about.n)) continue;
    started.add(about.n);
    for (const before of posted) {
      if (lane(before) !== mine || (before.acceptedAt ?? Infinity) > about.sentAt) continue;
      const isLapsed = lapsed.has(`${runOf.get(before.n)}`);
      if (!ended.has(before.n) && !isLapsed)
        found.push(`${name}: ${about.n} started before ${before.n} had ended`);
      const isHeld = name === 'held' && before.n % 20 === 19 && !dismissed.has(`${runOf.get(before.n)}`);
      if (isHeld) found.push(`${name}: ${about.n} started though ${before.n} had failed`);
    }
  }
  return found;
}

/** Every accepted delivery has one run of each automation that takes deliveries one by one, and it has ended. */
function findLost(lines: readonly Line[], accepted: readonly Posted[]): string[] {
  return ['limited', 'keyed', 'ordered', 'held', 'both'].flatMap(automation => {
    const own = lines.filter(line => line.automation === automation && line.what === 'end');
    const runs = Map.groupBy(own, ({ ns }) => ns[0]);
    const cancels = lines.filter(line => line.automation === automation && line.what === 'cancel');
    const cancelled = new Set(cancels.map(({ ns }) => ns[0]));
    return accepted.flatMap(({ n }) => {
      const ids = new Set(runs.get(n)?.map(({ run }) => run));
      return ids.size === 1 || (ids.size === 0 && cancelled.has(n))
        ? []
        : [`${automation}: ${n} has ${ids.size} runs that ended`];
    });
  });
}

/** Every accepted delivery was given to one run, and to each of its attempts. */
function findInBursts(lines: readonly Line[], accepted: readonly Posted[]): string[] {
  const ended = lines.filter(({ automation, what }) => automation === 'gathering' && what === 'end');
  const attempts = Map.groupBy(
    lines.filter(({ automation, what }) => automation === 'gathering' && what === 'start'),
    ({ run }) => run,
  );
  const given = new Map<number, Set<string>>();
  for (const { run, ns } of ended) for (const n of ns) given.set(n, (given.get(n) ?? new Set()).add(run));
  return [
    ...accepted.flatMap(({ n }) =>
      given.get(n)?.size === 1 ? [] : [`gathering: ${n} is in ${[...(given.get(n) ?? [])]}`],
    ),
    ...[...given].flatMap(([n, runs]) => (runs.size === 1 ? [] : [`gathering: ${n} is in ${[...runs]}`])),
    ...[...attempts].flatMap(([run, of]) =>
      new Set(of.map(({ ns }) => ns.join())).size === 1
        ? []
        : [`gathering: ${run} had other deliveries at each attempt`],
    ),
    ...(attempts.size < accepted.length / 2
      ? []
      : [`gathering: ${attempts.size} runs of ${accepted.length} deliveries`]),
  ];
}

function findTooMany(lines: readonly Line[]): string[] {
  const runs = new Set(lines.filter(({ automation }) => automation === 'fused').map(({ run }) => run));
  return runs.size === runsPerHour ? [] : [`fused: ${runs.size} runs were started`];
}
