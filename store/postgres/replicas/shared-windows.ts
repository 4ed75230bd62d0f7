import type { Replicas, SharedWindow } from '../../ports/replicas.ts';
import type { Database } from '../connection/database.ts';

/** @limit Time in which PostgreSQL must count what waits, in ms: beyond it the answer is 503, before the sender gives up. */
const countMs = 4_000;

/** @limit Part of a limit that a daemon counts at once, as a divisor: so little may stay unused, and a busy webhook asks so rarely. */
const blockPart = 1_000;

interface Waiting {
  /** The events that are counted, and more that are counted in advance. */
  added: number;
  readonly requests: {
    readonly resolve: (window: SharedWindow) => void;
    readonly reject: (error: unknown) => void;
  }[];
}

/** Numbers that were counted in advance. */
interface Block {
  next: number;
  readonly last: number;
  readonly endsAtMs: number;
}

/**
 * Counts events over all daemons, see `Replicas.countEvent`. What arrives together is counted by one statement, apart
 * from the transaction that records deliveries: the row of a busy webhook is then locked for the time of an update in
 * memory, never for the time of a sync, because its table is not logged.
 */
export function openSharedWindows(database: Database): Replicas['countEvent'] {
  const blocks = new Map<string, Block>();
  let waiting = new Map<string, Waiting>();
  let isCounting = false;

  const takeFromBlock = (key: string): SharedWindow | undefined => {
    const block = blocks.get(key);
    if (!block) return undefined;
    const msLeft = block.endsAtMs - performance.now();
    if (msLeft > 0 && block.next <= block.last) return { count: block.next++, msLeft };
    blocks.delete(key);
    return undefined;
  };
  const countWaiting = async () => {
    const counted = waiting;
    waiting = new Map();
    try {
      const windows = await count(database, counted);
      for (const [key, { added, requests }] of counted) {
        const window = windows.get(key);
        if (!window) throw new Error(`no window was counted for ${key}`);
        const { count: last, msLeft } = window;
        let next = last - added + 1;
        for (const { resolve } of requests) resolve({ count: next++, msLeft });
        if (next <= last) blocks.set(key, { next, last, endsAtMs: performance.now() + msLeft });
      }
    } catch (error) {
      for (const { requests } of counted.values()) for (const { reject } of requests) reject(error);
    }
  };
  const countAll = async () => {
    isCounting = true;
    while (waiting.size > 0) await countWaiting();
    isCounting = false;
  };
  const wait = (key: string, limit: number) =>
    new Promise<SharedWindow>((resolve, reject) => {
      const block = Math.max(1, Math.floor(limit / blockPart));
      // After the event loop's current turn, so that requests that arrived in it are counted together.
      if (!isCounting && waiting.size === 0) setImmediate(countAll);
      const counted: Waiting = waiting.get(key) ?? { added: block - 1, requests: [] };
      counted.added++;
      counted.requests.push({ resolve, reject });
      waiting.set(key, counted);
    });

  return async (key, limit) => takeFromBlock(key) ?? wait(key, limit);
}

async function count(
  database: Database,
  waiting: ReadonlyMap<string, Waiting>,
): Promise<Map<string, SharedWindow>> {
  // In the order of their keys, so that two daemons do not wait for each other.
  const keys = [...waiting.keys()].sort();
  const rows = await database.run<SharedWindow & { key: string }>(
    `INSERT INTO hookmill.rate_windows AS stored (key, until, count)
    SELECT key, clock_timestamp() + interval '1 minute', added FROM unnest($1::text[], $2::bigint[]) AS given (key, added)
    ON CONFLICT (key) DO UPDATE SET
      until = CASE WHEN stored.until > clock_timestamp() THEN stored.until ELSE excluded.until END,
      count = excluded.count + CASE WHEN stored.until > clock_timestamp() THEN stored.count ELSE 0 END
    RETURNING key, count, extract(epoch FROM until - clock_timestamp())::float8 * 1000 AS "msLeft"`,
    [keys, keys.map(key => waiting.get(key)?.added)],
    countMs,
  );
  return new Map(rows.map(({ key, ...window }) => [key, window]));
}
