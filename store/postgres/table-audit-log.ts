import { parseJsonText } from '../../json/parse-json-text.ts';
import type { AuditEntry } from '../../schema/audit-entry.ts';
import {
  type AuditLog,
  auditEntriesKept,
  type StoredAuditEntry,
  storedAuditEntryShape,
} from '../ports/audit-log.ts';
import type { Database } from './connection/database.ts';

/** Entries are removed about each time this part of those that are kept has been added, as a divisor: it reads all of a factory. */
const removedPart = 100;

/** The audit log of a database, a row of `hookmill.audit` for each entry. */
export function openTableAuditLog({ run }: Pick<Database, 'run'>): AuditLog {
  const add = async (entries: readonly AuditEntry[], kept = auditEntriesKept): Promise<number> => {
    const [added] = await run<{ last: number }>(
      `WITH added AS (
        INSERT INTO hookmill.audit (factory, entry)
        SELECT factory, entry FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS given (factory, entry, place)
        ORDER BY place RETURNING seq)
      SELECT max(seq) AS last FROM added`,
      [entries.map(({ factory }) => factory), entries.map(entry => JSON.stringify(entry))],
    );
    // By chance, because all factories share the sequence: by its numbers, the turn might never be that of one of them.
    if (Math.random() * Math.ceil(kept / removedPart) < entries.length) await removeOld(entries, kept);
    return added?.last ?? 0;
  };
  const removeOld = (entries: readonly AuditEntry[], kept: number) =>
    run(
      `DELETE FROM hookmill.audit WHERE seq IN (
        SELECT seq FROM (
          SELECT seq, row_number() OVER (
            PARTITION BY factory, entry LIKE '%"unfinished":true%' ORDER BY seq DESC) AS place
          FROM hookmill.audit WHERE coalesce(factory, '') = ANY($1::text[])) AS placed
        WHERE place > $2::bigint)`,
      [[...new Set(entries.map(({ factory }) => factory ?? ''))], kept],
    );
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
        ({ seq, entry }): StoredAuditEntry =>
          storedAuditEntryShape.parse({ ...(parseJsonText(entry) as object), seq }),
      );
    },
  };
}
