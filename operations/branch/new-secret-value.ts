import type { OpenFactory } from '../factory.ts';
import { readRememberedRepository } from './remembered-repository.ts';

/** Says what makes the webhooks of a factory use a new value of a team secret: an apply, a commit or the dashboard. */
export async function explainNewValue(
  factory: Pick<OpenFactory, 'name' | 'store' | 'readState'>,
): Promise<string> {
  const followed = await readRememberedRepository(factory);
  if (followed) {
    const { failingSince } = await factory.store.reconcileStatuses.read(factory.name);
    // A tip that is applied is not applied again; one that failed is tried at each reconcile.
    return failingSince === null
      ? `Webhooks use the new value when the next commit on ${followed.branch} is applied; an empty commit is enough.`
      : 'Webhooks use the new value once the branch is applied: run `hookmill reconcile --once`, or wait for the daemon.';
  }
  const { source } = await factory.readState();
  if (source?.kind === 'dashboard')
    return 'Webhooks use the new value when you disable and enable them in the dashboard.';
  return 'Run `hookmill apply` for webhooks to use the new value.';
}
