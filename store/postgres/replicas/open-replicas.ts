import { randomUUID } from 'node:crypto';
import type { Replica, Replicas, Turn } from '../../ports/replicas.ts';
import type { Database } from '../connection/database.ts';
import { openSharedWindows } from './shared-windows.ts';

/** @limit Time after which another daemon may take a turn whose holder gives no sign of life, in ms. */
const turnLeaseMs = 10_000;
/** @limit Time between two signs of life of the holder of a turn, in ms: three may be lost. */
const turnRenewMs = 2_500;

/** Opens what the daemons on a database share. */
export function openReplicas(database: Database): Replicas {
  return {
    countEvent: openSharedWindows(database),
    takeTurn: (name, everyMs) => takeTurn(database, name, everyMs),
    describe: async () => {
      const [alive, standbyLagMs] = await Promise.all([listReplicas(database), readStandbyLag(database)]);
      return { alive, standbyLagMs };
    },
  };
}

async function listReplicas(database: Database): Promise<readonly Replica[]> {
  const rows = await database.run<Omit<Replica, 'startedAt'> & { startedAt: Date }>(`
    SELECT id, started_at AS "startedAt", (
      SELECT count(*) FROM hookmill.runs WHERE state = 'running' AND claimed_by = replicas.id) AS runs
    FROM hookmill.replicas WHERE lease_until > clock_timestamp() ORDER BY started_at, id`);
  return rows.map(({ startedAt, ...replica }) => ({ ...replica, startedAt: startedAt.toISOString() }));
}

async function readStandbyLag(database: Database): Promise<number | null> {
  const [row] = await database.run<{ lagMs: number | null }>(`
    SELECT round(extract(epoch FROM max(replay_lag)) * 1000)::float8 AS "lagMs" FROM pg_stat_replication`);
  return row?.lagMs ?? null;
}

/** Takes a turn, see `Replicas.takeTurn`. The clock of the database decides. */
async function takeTurn(database: Database, name: string, everyMs: number): Promise<Turn | undefined> {
  const holder = randomUUID();
  const taken = await database.run(
    `INSERT INTO hookmill.turns AS turn (name, holder, lease_until, ended_at)
    VALUES ($1, $2, clock_timestamp() + $3 * interval '1 ms', '-infinity')
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
      WHERE turn.lease_until <= clock_timestamp() AND turn.ended_at <= clock_timestamp() - $4 * interval '1 ms'
    RETURNING name`,
    [name, holder, turnLeaseMs, everyMs],
  );
  return taken.length === 0 ? undefined : holdTurn(database, name, holder);
}

function holdTurn(database: Database, name: string, holder: string): Turn {
  const lost = new AbortController();
  let renewedMs = performance.now();
  const renew = async () => {
    const sentMs = performance.now();
    const renewed = await database
      .run(
        `UPDATE hookmill.turns SET lease_until = clock_timestamp() + $3 * interval '1 ms'
        WHERE name = $1 AND holder = $2 RETURNING name`,
        [name, holder, turnLeaseMs],
        turnRenewMs,
      )
      .catch(() => undefined);
    if (renewed?.length === 1) renewedMs = sentMs;
    else if (renewed || performance.now() - renewedMs > turnLeaseMs) lost.abort();
  };
  const timer = setInterval(() => void renew(), turnRenewMs);
  timer.unref();
  return {
    lost: lost.signal,
    end: async () => {
      clearInterval(timer);
      // If the database is out of reach, the lease ends by itself; what was done in the turn is done.
      await database
        .run(
          `UPDATE hookmill.turns SET lease_until = clock_timestamp(), ended_at = clock_timestamp()
          WHERE name = $1 AND holder = $2`,
          [name, holder],
        )
        .catch(() => undefined);
    },
  };
}
