import { type AlertState, type Alerts, alertStateShape, noAlerts } from '../alerts.ts';
import type { Documents, StoredDocument } from './documents.ts';

const alertsDocument: StoredDocument<AlertState> = {
  kind: 'alerts',
  shape: alertStateShape,
  whenMissing: noAlerts,
};

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
