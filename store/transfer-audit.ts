import { auditEntryShape } from '../schema/audit-entry.ts';
import type { AuditLog } from './audit-log.ts';
import { rowsPerPageMax, type TransferAudit, type TransferSource, type TransferTable } from './transfer.ts';

/** Adds the audit log to what is copied of a store. */
export function addAudit<T extends Pick<TransferSource, 'listLoggedFactories'>>(
  source: T,
  auditLog: AuditLog,
): T & { readonly audit: TransferTable<TransferAudit> } {
  return {
    ...source,
    listLoggedFactories: async () => {
      const isEmpty = (await auditLog.list({ limit: 1 })).length === 0;
      return [...new Set([...(isEmpty ? [] : ['']), ...(await source.listLoggedFactories())])];
    },
    audit: {
      read: async (factory, after) => {
        if (factory !== '') return [];
        const entries = await auditLog.list({ limit: Number.MAX_SAFE_INTEGER });
        const page = entries
          .filter(({ seq }) => seq > after)
          .reverse()
          .slice(0, rowsPerPageMax);
        return page.map(({ seq, ...entry }) => ({
          ...{ position: seq, id: 'an entry of the audit log', factory, snapshot: null, bytes: null },
          entry: JSON.stringify(auditEntryShape.parse(entry)),
        }));
      },
      write: rows => auditLog.record(rows.map(({ entry }) => auditEntryShape.parse(JSON.parse(entry)))),
    },
  };
}
