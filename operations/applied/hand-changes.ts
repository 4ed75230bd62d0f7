import type { AuditLog, StoredAuditEntry } from '../../store/ports/audit-log.ts';

/** @limit Newest entries of the audit log in which `hookmill status` looks for changes since the last apply: a pause needs two. */
const entriesMax = 500;

/** Entries of the audit log by which the definition files or the branch become the applied state again. */
const applies = ['apply', 'reconcile'];

/**
 * Finds the webhooks that were enabled or disabled in the dashboard or through the API since the definitions were last
 * applied, each with its newest change; newest first. One that was switched back is left out. Other changes are refused
 * in a factory that has definition files.
 */
export async function findHandChanges(
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
