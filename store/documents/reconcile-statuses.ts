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
    read: factory => documents.read(documentOf(factory)),
    change: async (factory, change) => {
      const { data } = await documents.change(documentOf(factory), async status => ({
        next: change(status),
        result: undefined,
      }));
      return data;
    },
  };
}

function documentOf(factory: string): StoredDocument<ReconcileStatus> {
  return { kind: 'reconcile', factory, shape: reconcileStatusShape, whenMissing: neverReconciled };
}
