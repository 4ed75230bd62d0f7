import type { z } from 'zod';
import type { AppliedState } from '../../schema/applied-state.ts';
import type { Permission } from '../../schema/grant.ts';
import type { statusAnswer } from '../../schema/views/factories.ts';
import type { Store } from '../../store/ports/store.ts';
import { isEdited, isSwitchedByHand } from '../applied-source.ts';
import type { OpenFactory } from '../factory.ts';
import { factoryView, sourceView } from '../views/applied-views.ts';
import { reconcileView } from '../views/reconcile-view.ts';
import { listAttention } from './list-attention.ts';

/** @limit Newest entries of the audit log in which `hookmill status` looks for who enabled or disabled a webhook by hand. */
const entriesMax = 500;

export type AppliedStatus = Omit<z.output<typeof statusAnswer>, 'permission'>;

/**
 * Shows what is applied to the factory, how its branch was last reconciled if it follows one, and what needs attention.
 * Who changed something is for callers who may read the audit log. `problem` is why a daemon does not serve it.
 */
export async function showStatus(
  { name, store, readState }: OpenFactory,
  permission: Permission,
  problem: AppliedStatus['problem'],
): Promise<AppliedStatus> {
  const state = await readState();
  const { source, serial } = state;
  const facts = {
    ...factoryView(state),
    source: sourceView(source),
    revision: source?.kind === 'repository' ? source.revision : null,
    appliedAt: serial === 0 ? null : state.appliedAt,
    edited: isEdited(state),
    changedByHand: await listHandChanges(store, state, permission),
    reconcile: reconcileView(await store.reconcileStatuses.read(name)),
    replicas: await showReplicas(store),
    problem,
  };
  return { ...facts, attention: await listAttention(store, facts) };
}

/**
 * Lists the webhooks that were enabled or disabled in the dashboard or through the API since the definition files were
 * applied, the last change first. By whom is for callers who may read the audit log.
 */
export async function listHandChanges(
  { auditLog }: Pick<Store, 'auditLog'>,
  state: AppliedState,
  permission: Permission,
): Promise<AppliedStatus['changedByHand']> {
  const changed = state.webhooks.filter(webhook => isSwitchedByHand(state, webhook));
  if (changed.length === 0) return [];
  const entries =
    permission === 'manage' ? await auditLog.list({ factory: state.factory, limit: entriesMax }) : [];
  return changed
    .map(({ name, uid, enabled, switched }) => {
      const made = entries.find(
        ({ operation, subject }) => operation === 'changeWebhook' && subject.includes(`(${uid})`),
      );
      return {
        ...{ at: switched?.at ?? '', webhook: { name, uid }, enabled, enabledInFile: !enabled },
        who: made ? { ...made.who, from: made.from } : null,
      };
    })
    .toSorted((a, b) => b.at.localeCompare(a.at));
}

async function showReplicas({ replicas }: Pick<Store, 'replicas'>): Promise<AppliedStatus['replicas']> {
  if (!replicas) return null;
  const { alive, standbyLagMs } = await replicas.describe();
  return { alive: [...alive], standbyLagMs };
}
