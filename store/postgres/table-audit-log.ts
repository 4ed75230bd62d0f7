import {
  type AuditLog,
  auditEntriesKept,
  type StoredAuditEntry,
  storedAuditEntryShape,
} from '../audit-log.ts';
import type { Database } from './connection/database.ts';

/** The audit log of a database, a row of `hookmill.audit` for each entry. */
export function openTableAuditLog({ run }: Pick<Database, 'run'>): AuditLog {
  return {
    record: async (entries, kept = auditEntriesKept) => {
      await run(
        `WITH added AS (
          INSERT INTO hookmill.audit (factory, entry)
          SELECT factory, entry FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS given (factory, entry, place)
          ORDER BY place RETURNING seq)
        DELETE FROM hookmill.audit WHERE seq <= (SELECT max(seq) FROM added) - $3::bigint`,
        [entries.map(({ factory }) => factory), entries.map(entry => JSON.stringify(entry)), kept],
      );
    },
    list: async ({ factory = null, withAll = false, before = null, limit }) => {
      const rows = await run<{ seq: number; entry: string }>(
        `SELECT seq, entry FROM hookmill.audit
        WHERE ($1::text IS NULL OR factory = $1 OR ($2 AND factory IS NULL)) AND ($3::bigint IS NULL OR seq < $3)
        ORDER BY seq DESC LIMIT $4`,
        [factory, withAll, before, limit],
      );
      return rows.map(
        ({ seq, entry }): StoredAuditEntry => storedAuditEntryShape.parse({ ...JSON.parse(entry), seq }),
      );
    },
  };
}
