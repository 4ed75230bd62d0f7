import {
  neverReconciled,
  type ReconcileStatus,
  type ReconcileStatuses,
  reconcileStatusShape,
} from '../reconcile-statuses.ts';
import type { Documents, StoredDocument } from './documents.ts';

/** The reconcile statuses, each in a document of its factory. */
export function openReconcileStatuses(documents: Documents): ReconcileStatuses {
  return {
    read: factory => documents.read(reconcileStatusDocument(factory)),
    change: async (factory, change) => {
      const { data } = await documents.change(reconcileStatusDocument(factory), async status => ({
        next: change(status),
        result: undefined,
      }));
      return data;
    },
  };
}

/** The document with the reconcile status of a factory. */
export function reconcileStatusDocument(factory: string): StoredDocument<ReconcileStatus> {
  return { kind: 'reconcile', factory, shape: reconcileStatusShape, whenMissing: neverReconciled };
}
