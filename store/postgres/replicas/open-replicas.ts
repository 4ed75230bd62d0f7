import type { Replica, Replicas } from '../../ports/replicas.ts';
import type { Database } from '../connection/database.ts';
import { openSharedWindows } from './shared-windows.ts';
import { takeTurn } from './turns.ts';

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
