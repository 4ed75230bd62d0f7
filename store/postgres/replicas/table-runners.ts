import { onlyDefault } from '../../documents/daemon-records.ts';
import { type OfferedRunners, offeredRunnersShape } from '../../ports/daemon-records.ts';
import { parseJsonFile } from '../../stored-json.ts';
import type { Database } from '../connection/database.ts';

/** The runners of each replica, which count as long as its lease. */
export function openTableRunners({ run }: Database): OfferedRunners {
  return {
    read: async () => {
      const rows = await run<{ runners: string; isAlive: boolean }>(
        `SELECT runners, ${isAlive} AS "isAlive" FROM hookmill.offered_runners ORDER BY at DESC`,
      );
      const alive = rows.filter(row => row.isAlive);
      const offered = (alive.length > 0 ? alive : rows.slice(0, 1)).flatMap(
        ({ runners }) => parseJsonFile('hookmill.offered_runners', runners, offeredRunnersShape).runners,
      );
      if (rows.length === 0) return onlyDefault.runners;
      const byName = Map.groupBy(offered, ({ name }) => name);
      return [...byName.values()].flatMap(([last]) => last ?? []);
    },
    record: async (daemonId, runners) => {
      // Those of the last daemon stay, for commands while none is alive.
      await run(
        `DELETE FROM hookmill.offered_runners WHERE at < now() - interval '1 hour' AND NOT ${isAlive}`,
        [],
      );
      await run(
        `INSERT INTO hookmill.offered_runners (daemon_id, runners) VALUES ($1, $2)
        ON CONFLICT (daemon_id) DO UPDATE SET runners = excluded.runners, at = now()`,
        [daemonId, JSON.stringify({ formatVersion: 1, runners })],
      );
    },
  };
}

/** Whether the lease of a daemon lasts. A daemon that has lost one goes on under its name with a number. */
const isAlive = `EXISTS (SELECT FROM hookmill.replicas
  WHERE split_part(replicas.id, '.', 1) = daemon_id AND lease_until > clock_timestamp())`;
