import type { z } from 'zod';
import type { statusAnswer } from '../../schema/api/answers.ts';
import type { AppliedState } from '../../schema/applied-state.ts';
import type { Permission } from '../../schema/grant.ts';
import type { Store } from '../../store/ports/store.ts';
import type { OpenFactory } from '../factory.ts';
import { factoryView, sourceView } from '../views/applied-views.ts';
import { reconcileView } from '../views/reconcile-view.ts';
import { isEdited } from './applied-source.ts';
import { findHandChanges } from './hand-changes.ts';

export type AppliedStatus = Omit<z.output<typeof statusAnswer>, 'permission' | 'problem'>;

/**
 * Shows what is applied to the factory, and how its branch was last reconciled if it follows one. Who changed something
 * is for callers who may read the audit log.
 */
export async function showStatus(
  { name, store, readState }: OpenFactory,
  permission: Permission,
): Promise<AppliedStatus> {
  const state = await readState();
  const { source, serial } = state;
  return {
    ...factoryView(state),
    source: sourceView(source),
    revision: source?.kind === 'repository' ? source.revision : null,
    appliedAt: serial === 0 ? null : state.appliedAt,
    edited: isEdited(state),
    changedByHand: await listHandChanges(store, state, permission),
    reconcile: reconcileView(await store.reconcileStatuses.read(name)),
    replicas: await showReplicas(store),
  };
}

async function listHandChanges(
  { auditLog }: Pick<Store, 'auditLog'>,
  { factory, source }: AppliedState,
  permission: Permission,
): Promise<AppliedStatus['changedByHand']> {
  if (source === null || source.kind === 'dashboard') return [];
  const changes = await findHandChanges(auditLog, factory);
  return changes.map(({ at, subject, who, from }) => {
    return { at, subject, who: permission === 'manage' ? { ...who, from } : null };
  });
}

async function showReplicas({ replicas }: Pick<Store, 'replicas'>): Promise<AppliedStatus['replicas']> {
  if (!replicas) return null;
  const { alive, standbyLagMs } = await replicas.describe();
  return { alive: [...alive], standbyLagMs };
}
