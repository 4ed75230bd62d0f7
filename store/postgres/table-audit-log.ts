import type { AuditEntry } from '../../schema/audit-entry.ts';
import {
  type AuditLog,
  auditEntriesKept,
  type StoredAuditEntry,
  storedAuditEntryShape,
} from '../audit-log.ts';
import type { Database } from './connection/database.ts';

/** The audit log of a database, a row of `hookmill.audit` for each entry. */
export function openTableAuditLog({ run }: Pick<Database, 'run'>): AuditLog {
  const add = async (entries: readonly AuditEntry[], kept = auditEntriesKept): Promise<number> => {
    const [added] = await run<{ last: number }>(
      `WITH added AS (
        INSERT INTO hookmill.audit (factory, entry)
        SELECT factory, entry FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS given (factory, entry, place)
        ORDER BY place RETURNING seq),
      removed AS (DELETE FROM hookmill.audit WHERE seq <= (SELECT max(seq) FROM added) - $3::bigint)
      SELECT max(seq) AS last FROM added`,
      [entries.map(({ factory }) => factory), entries.map(entry => JSON.stringify(entry)), kept],
    );
    return added?.last ?? 0;
  };
  return {
    begin: (entry, kept) => add([{ ...entry, unfinished: true }], kept),
    end: async (begun, entry) => {
      if (!entry) await run('DELETE FROM hookmill.audit WHERE seq = $1', [begun]);
      else await run('UPDATE hookmill.audit SET entry = $2 WHERE seq = $1', [begun, JSON.stringify(entry)]);
    },
    record: async (entries, kept) => {
      await add(entries, kept);
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
