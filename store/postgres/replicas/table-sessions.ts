import type { StoredSession, StoredSessions } from '../../stored-sessions.ts';
import type { Database } from '../connection/database.ts';

/** The sessions of all daemons on a database. Its clock decides when they expire. */
export function openTableSessions({ run }: Pick<Database, 'run'>): StoredSessions {
  return {
    keep: async (digest, { tokenSha256, host }, { lifetimeMs, perTokenMax }) => {
      await run(
        `WITH expired AS (DELETE FROM hookmill.sessions WHERE until <= now()),
        oldest AS (DELETE FROM hookmill.sessions WHERE id_digest IN (
          SELECT id_digest FROM hookmill.sessions WHERE token_sha256 = $2 AND until > now()
          ORDER BY until DESC OFFSET $5))
        INSERT INTO hookmill.sessions (id_digest, token_sha256, host, until)
        VALUES ($1, $2, $3, now() + $4 * interval '1 ms')`,
        [digest, tokenSha256, host, lifetimeMs, perTokenMax - 1],
      );
    },
    find: async digest => {
      const text = `SELECT token_sha256 AS "tokenSha256", host FROM hookmill.sessions WHERE id_digest = $1 AND until > now()`;
      return (await run<StoredSession>(text, [digest]))[0];
    },
    remove: async digest => {
      await run('DELETE FROM hookmill.sessions WHERE id_digest = $1', [digest]);
    },
  };
}
