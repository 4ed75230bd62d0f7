import { z } from 'zod';
import { type AuditEntry, auditEntryShape } from '../../schema/audit-entry.ts';

/** @limit Newest finished entries of the audit log that are always kept of each factory, and as many unfinished ones: years of changes by people, and nobody can push out entries of a factory that they may not change. */
export const auditEntriesKept = 10_000;

export const storedAuditEntryShape = auditEntryShape.extend({
  /** The place of the entry in the order of the log, above 0. */
  seq: z.int().positive(),
});

export type StoredAuditEntry = z.output<typeof storedAuditEntryShape>;

export interface AuditWanted {
  /** Only entries of this factory and, if `withAll`, entries that concern all factories. Absent: every entry. */
  readonly factory?: string | undefined;
  readonly withAll?: boolean;
  /** Only entries before this place. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/**
 * The record of who changed what, when, and from where. An entry begins before its change and ends after it, so that
 * nothing is changed without one. Of each factory, the oldest entries beyond `kept` are removed; finished and unfinished
 * ones are counted apart. Entries without a factory count as one more factory.
 */
export interface AuditLog {
  /** Records an entry that is listed as unfinished until the change ends. Returns its place, once it is on disk. */
  begin(entry: AuditEntry, kept?: number): Promise<number>;
  /** Puts the entry in the place of the one with which the change began; null removes it, because nothing was changed. */
  end(begun: number, entry: AuditEntry | null, kept?: number): Promise<void>;
  /** Records entries of changes that have ended. Resolves when they are on disk. */
  record(entries: readonly AuditEntry[], kept?: number): Promise<void>;
  /** Newest first. */
  list(wanted: AuditWanted): Promise<StoredAuditEntry[]>;
}
