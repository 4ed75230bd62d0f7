import { type AppliedState, appliedStateShape, emptyAppliedState } from '../../schema/applied-state.ts';
import { type AlertState, type Alerts, alertStateShape, noAlerts } from '../ports/alerts.ts';
import type { Documents, StoredDocument } from '../ports/documents.ts';
import {
  neverReconciled,
  type ReconcileStatus,
  type ReconcileStatuses,
  reconcileStatusShape,
} from '../ports/reconcile-statuses.ts';
import type { AppliedStates } from '../ports/store.ts';

const alertsDocument: StoredDocument<AlertState> = {
  kind: 'alerts',
  shape: alertStateShape,
  whenMissing: noAlerts,
};

/** The applied states, each in a document of its factory. */
export function openAppliedStates(documents: Documents): AppliedStates {
  return {
    listFactories: documents.listFactories,
    read: factory => documents.read(appliedStateDocument(factory)),
    change: async (factory, change) => {
      const { data, result } = await documents.change(appliedStateDocument(factory), async state => {
        const { next, result } = await change(state);
        if (!next) return { result };
        const { isDamaged: _, ...content } = next;
        return { next: { ...content, serial: state.serial + 1 }, result };
      });
      return { state: data, result };
    },
    readVersion: factory => documents.readVersion(appliedStateDocument(factory)),
    readEach: async function* (factories) {
      const wanted = factories ?? (await documents.listFactories());
      const each = documents.readEach(wanted.map(appliedStateDocument));
      for await (const { id, ...read } of each) yield { factory: id.factory ?? '', ...read };
    },
    watch: documents.watch,
  };
}

/** The document with the applied state of a factory. */
export function appliedStateDocument(factory: string): StoredDocument<AppliedState> {
  return {
    kind: 'applied',
    factory,
    shape: appliedStateShape,
    whenMissing: emptyAppliedState(factory),
    whenEdited: state => ({ ...state, isDamaged: true }),
  };
}

/** The state of alerts, in one document. */
export function openAlerts(documents: Documents): Alerts {
  return {
    read: () => documents.read(alertsDocument),
    change: async change => {
      const { data } = await documents.change(alertsDocument, async state => {
        const next = change(state);
        return { next: next === state ? undefined : next, result: undefined };
      });
      return data;
    },
  };
}

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
