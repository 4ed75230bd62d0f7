import { parseJsonText } from '../json/parse-json-text.ts';
import { auditEntryShape } from '../schema/audit-entry.ts';
import type { AuditLog } from './ports/audit-log.ts';
import {
  rowsPerPageMax,
  type TransferAudit,
  type TransferSource,
  type TransferTable,
} from './ports/transfer.ts';

/** Changes of the place in which everything is. */
export type PlaceChange = (typeof placeChanges)[number];
const placeChanges = ['copyStore', 'restoreStore', 'migrateStore'] as const;

/**
 * Adds the audit log to what is copied of a store, without changes of the place: another place has changes of its own, and
 * may have been migrated before it gets the copy.
 */
export function addAudit<T extends Pick<TransferSource, 'listLoggedFactories'>>(
  source: T,
  auditLog: AuditLog,
): T & { readonly audit: TransferTable<TransferAudit> } {
  const list = async () => {
    const entries = await auditLog.list({ limit: Number.MAX_SAFE_INTEGER });
    return entries.filter(({ operation }) => !placeChanges.some(change => change === operation)).reverse();
  };
  // Read once for all pages; a read from the beginning starts again.
  let entries: Awaited<ReturnType<typeof list>> = [];
  return {
    ...source,
    listLoggedFactories: async () => {
      const isEmpty = (await list()).length === 0;
      return [...new Set([...(isEmpty ? [] : ['']), ...(await source.listLoggedFactories())])];
    },
    audit: {
      read: async (factory, after) => {
        if (factory !== '') return [];
        if (after === 0 || entries.length === 0) entries = await list();
        const from = entries.findIndex(({ seq }) => seq > after);
        const page = from < 0 ? [] : entries.slice(from, from + rowsPerPageMax);
        return page.map(({ seq, ...entry }) => ({
          ...{ position: seq, id: 'an entry of the audit log', factory, snapshot: null, bytes: null },
          entry: JSON.stringify(auditEntryShape.parse(entry)),
        }));
      },
      write: rows => auditLog.record(rows.map(({ entry }) => auditEntryShape.parse(parseJsonText(entry)))),
    },
  };
}
