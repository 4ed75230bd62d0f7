import { type StoredSessions, storedPersonShape } from '../../stored-sessions.ts';
import type { Database } from '../connection/database.ts';

/** The sessions of all daemons on a database. Its clock decides when they expire. */
export function openTableSessions({ run }: Pick<Database, 'run'>): StoredSessions {
  return {
    keep: async (digest, { ownerSha256, person, host }, { lifetimeMs, perOwnerMax }) => {
      await run(
        `WITH expired AS (DELETE FROM hookmill.sessions WHERE until <= now()),
        oldest AS (DELETE FROM hookmill.sessions WHERE id_digest IN (
          SELECT id_digest FROM hookmill.sessions WHERE token_sha256 = $2 AND until > now()
          ORDER BY until DESC OFFSET $5))
        INSERT INTO hookmill.sessions (id_digest, token_sha256, host, until, person)
        VALUES ($1, $2, $3, now() + $4 * interval '1 ms', $6)`,
        [digest, ownerSha256, host, lifetimeMs, perOwnerMax - 1, person ? JSON.stringify(person) : null],
      );
    },
    find: async digest => {
      const [row] = await run<{ ownerSha256: string; host: string; person: string | null }>(
        `SELECT token_sha256 AS "ownerSha256", host, person FROM hookmill.sessions WHERE id_digest = $1 AND until > now()`,
        [digest],
      );
      if (!row?.person) return row && { ...row, person: undefined };
      return { ...row, person: storedPersonShape.parse(JSON.parse(row.person)) };
    },
    remove: async digest => {
      await run('DELETE FROM hookmill.sessions WHERE id_digest = $1', [digest]);
    },
  };
}
