import type { Replicas, SharedWindow } from '../../replicas.ts';
import type { Database } from '../connection/database.ts';

/** @limit Time in which PostgreSQL must count what waits, in ms: beyond it the answer is 503, before the sender gives up. */
const countMs = 4_000;

interface Waiting {
  readonly resolve: (window: SharedWindow) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Counts events over all daemons, see `Replicas.countEvent`. What arrives together is counted by one statement, apart
 * from the transaction that records deliveries: the row of a busy webhook is then locked for the time of an update in
 * memory, never for that of a sync, because its table is not logged.
 */
export function openSharedWindows(database: Database): Replicas['countEvent'] {
  let waiting = new Map<string, Waiting[]>();
  let isCounting = false;

  const countWaiting = async () => {
    const counted = waiting;
    waiting = new Map();
    const everyone = [...counted.values()].flat();
    try {
      const windows = await count(database, counted);
      for (const [key, requests] of counted) {
        const window = windows.get(key);
        for (const [index, { resolve, reject }] of requests.entries()) {
          if (window) resolve({ ...window, count: window.count - requests.length + index + 1 });
          else reject(new Error(`no window was counted for ${key}`));
        }
      }
    } catch (error) {
      for (const { reject } of everyone) reject(error);
    }
  };
  const countAll = async () => {
    isCounting = true;
    while (waiting.size > 0) await countWaiting();
    isCounting = false;
  };

  return key =>
    new Promise((resolve, reject) => {
      const requests = waiting.get(key) ?? [];
      requests.push({ resolve, reject });
      waiting.set(key, requests);
      // After the event loop's current turn, so that requests that arrived in it are counted together.
      if (!isCounting && waiting.size === 1 && requests.length === 1) setImmediate(countAll);
    });
}

async function count(
  database: Database,
  waiting: ReadonlyMap<string, readonly Waiting[]>,
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
    [keys, keys.map(key => waiting.get(key)?.length)],
    countMs,
  );
  return new Map(rows.map(({ key, ...window }) => [key, window]));
}
