import { neverReconciled, type ReconcileStatuses, reconcileStatusShape } from '../reconcile-statuses.ts';
import { type Home, reconcileStatusFile } from './files/home.ts';
import { openJsonFile } from './files/json-file.ts';
import { withHomeLock } from './files/make-home.ts';

/** The reconcile statuses in a home: `factories/<factory>/reconcile.json`. */
export function openReconcileStatuses(home: Home, lockTimeoutMs: number): ReconcileStatuses {
  const open = (factory: string) =>
    openJsonFile(reconcileStatusFile(home, factory), reconcileStatusShape, neverReconciled);
  return {
    read: async factory => (await open(factory)).data,
    change: (factory, change) =>
      withHomeLock(home, reconcileStatusFile(home, factory), lockTimeoutMs, async () => {
        const database = await open(factory);
        database.data = change(database.data);
        await database.write();
        return database.data;
      }),
  };
}
