import type { z } from 'zod';
import type { AppliedState } from '../../schema/applied-state.ts';
import type { Permission } from '../../schema/grant.ts';
import type { statusAnswer } from '../../schema/views/factories.ts';
import type { AuditLog, StoredAuditEntry } from '../../store/ports/audit-log.ts';
import type { Store } from '../../store/ports/store.ts';
import { isEdited } from '../applied-source.ts';
import type { OpenFactory } from '../factory.ts';
import { factoryView, sourceView } from '../views/applied-views.ts';
import { reconcileView } from '../views/reconcile-view.ts';
import { listAttention } from './list-attention.ts';

/** @limit Newest entries of the audit log in which `hookmill status` looks for changes since the last apply: a pause needs two. */
const entriesMax = 500;

/** Entries of the audit log by which the definition files or the branch become the applied state again. */
const applies = ['apply', 'reconcile'];

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
 * Lists the webhooks that were enabled or disabled since the definition files were applied. By whom is for callers who may
 * read the audit log.
 */
export async function listHandChanges(
  { auditLog }: Pick<Store, 'auditLog'>,
  { factory, source }: AppliedState,
  permission: Permission,
): Promise<AppliedStatus['changedByHand']> {
  if (source === null || source.kind === 'dashboard') return [];
  const changes = await findHandChanges(auditLog, factory);
  return changes.flatMap(({ at, subject, who, from }) => {
    const [, name, uid, became] = /^(.*) \((wh_\w+)\): (enabled|disabled)$/.exec(subject) ?? [];
    if (name === undefined || uid === undefined) return [];
    const enabled = became === 'enabled';
    const is = { webhook: { name, uid }, enabled, enabledInFile: !enabled };
    return [{ at, subject, ...is, who: permission === 'manage' ? { ...who, from } : null }];
  });
}

/**
 * Finds the webhooks that were enabled or disabled in the dashboard or through the API since the definitions were last
 * applied, each with its newest change; newest first. One that was switched back is left out. Other changes are refused
 * in a factory that has definition files.
 */
async function findHandChanges(
  auditLog: Pick<AuditLog, 'list'>,
  factory: string,
): Promise<StoredAuditEntry[]> {
  const entries = await auditLog.list({ factory, limit: entriesMax });
  const applied = entries.findIndex(({ operation }) => applies.includes(operation));
  const since = entries.slice(0, applied < 0 ? undefined : applied);
  const changes = since.filter(({ operation, unfinished }) => operation === 'changeWebhook' && !unfinished);
  // An entry's subject is the webhook, and what it became. Each change switches it, so an even number changes nothing.
  const byWebhook = Map.groupBy(changes, ({ subject }) => subject.replace(/: \w+$/, ''));
  return [...byWebhook.values()].flatMap(found => (found.length % 2 === 1 ? found.slice(0, 1) : []));
}

async function showReplicas({ replicas }: Pick<Store, 'replicas'>): Promise<AppliedStatus['replicas']> {
  if (!replicas) return null;
  const { alive, standbyLagMs } = await replicas.describe();
  return { alive: [...alive], standbyLagMs };
}
