import { type ReconcileView, reconcileView } from '../../operations/views/reconcile-view.ts';
import type { Store } from '../../store/ports/store.ts';

/** How the last reconciles of a factory that follows a branch ended, in this process or another. */
export interface FactoryReconcile {
  readonly factory: string;
  readonly reconcile:
    | ReconcileView
    /** The status cannot be read; then nothing is reconciled either. */
    | { readonly problem: string };
}

export async function readReconcileStatuses({
  appliedStates,
  reconcileStatuses,
}: Pick<Store, 'appliedStates' | 'reconcileStatuses'>): Promise<FactoryReconcile[]> {
  const factories = await appliedStates.listFactories().catch(() => []);
  const statuses = factories.map(async factory => {
    const reconcile = await reconcileStatuses.read(factory).then(
      status => reconcileView(status),
      (error: Error) => ({ problem: error.message }),
    );
    return reconcile ? [{ factory, reconcile }] : [];
  });
  return (await Promise.all(statuses)).flat();
}
