import { parseJsonText } from '../../../json/parse-json-text.ts';
import { type StoredSessions, storedPersonShape } from '../../ports/stored-sessions.ts';
import type { Database } from '../connection/database.ts';

/** The sessions of all daemons on a database. Its clock decides when they expire. */
export function openTableSessions({ run }: Pick<Database, 'run'>): StoredSessions {
  return {
    keep: async (digest, { ownerSha256, person, host, from }, { lifetimeMs, perOwnerMax }) => {
      await run(
        `WITH expired AS (DELETE FROM hookmill.sessions WHERE until <= now()),
        oldest AS (DELETE FROM hookmill.sessions WHERE id_digest IN (
          SELECT id_digest FROM hookmill.sessions WHERE owner_sha256 = $2 AND until > now()
          ORDER BY until DESC OFFSET $5))
        INSERT INTO hookmill.sessions (id_digest, owner_sha256, host, until, person, address)
        VALUES ($1, $2, $3, now() + $4 * interval '1 ms', $6, $7)`,
        [
          digest,
          ownerSha256,
          host,
          lifetimeMs,
          perOwnerMax - 1,
          person ? JSON.stringify(person) : null,
          from,
        ],
      );
    },
    find: async (digest, idleMs) => {
      const [row] = await run<Row>(`${select} AND id_digest = $2`, [idleMs, digest]);
      return row && { ...toSession(row), idleForMs: row.idleForMs };
    },
    list: async idleMs => {
      const rows = await run<Row>(`${select} ORDER BY began DESC, id_digest`, [idleMs]);
      return rows.map(row => ({
        ...toSession(row),
        digest: row.digest,
        beganAt: row.began.toISOString(),
        usedAt: row.used.toISOString(),
        until: row.until.toISOString(),
      }));
    },
    recordUse: async digest => {
      await run('UPDATE hookmill.sessions SET used = now() WHERE id_digest = $1', [digest]);
    },
    remove: async digest => {
      await run('DELETE FROM hookmill.sessions WHERE id_digest = $1', [digest]);
    },
  };
}

const select = `SELECT id_digest AS digest, owner_sha256 AS "ownerSha256", host, person, address AS "from", began, used, until,
    greatest(0, (extract(epoch FROM now() - used) * 1000)::float8) AS "idleForMs"
  FROM hookmill.sessions WHERE until > now() AND used + $1 * interval '1 ms' > now()`;

interface Row {
  readonly digest: string;
  readonly ownerSha256: string;
  readonly host: string;
  readonly person: string | null;
  readonly from: string;
  readonly began: Date;
  readonly used: Date;
  readonly until: Date;
  readonly idleForMs: number;
}

function toSession({ ownerSha256, host, person, from }: Row) {
  const stored = person === null ? undefined : storedPersonShape.parse(parseJsonText(person));
  return { ownerSha256, host, from, person: stored };
}
