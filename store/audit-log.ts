import { z } from 'zod';
import { type AuditEntry, auditEntryShape } from '../schema/audit-entry.ts';

/** @limit Newest entries of the audit log that are always kept; a home has up to twice as many: years of changes by people. */
export const auditEntriesKept = 10_000;

export const storedAuditEntryShape = auditEntryShape.extend({
  /** The place of the entry in the order of the log, above 0. */
  seq: z.int().positive(),
});

export type StoredAuditEntry = z.output<typeof storedAuditEntryShape>;

export interface AuditWanted {
  /** Only entries of this factory and, if `withAll`, those of all factories. Absent: every entry. */
  readonly factory?: string | undefined;
  readonly withAll?: boolean;
  /** Only entries before this place. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Who changed what, when, and from where. Entries are only appended; the oldest are forgotten. */
export interface AuditLog {
  /** Resolves when the entries are on disk. */
  record(entries: readonly AuditEntry[], kept?: number): Promise<void>;
  /** Newest first. */
  list(wanted: AuditWanted): Promise<StoredAuditEntry[]>;
}
