import type { z } from 'zod';
import type { auditAnswer } from '../schema/api/answers.ts';
import type { AppliedState } from '../schema/applied-state.ts';
import type { AuditEntry } from '../schema/audit-entry.ts';
import type { AuditWanted } from '../store/audit-log.ts';
import type { Store } from '../store/ports.ts';
import { type Change, summarize } from './plan.ts';

/** @limit Longest text in an entry of the audit log, in characters: names and summaries are far shorter. */
const auditTextCharsMax = 300;

/** Records a change that was made just now. */
export async function recordChange(
  { store: { auditLog }, now }: { readonly store: Pick<Store, 'auditLog'>; readonly now: () => Date },
  { who, from, operation, factory, subject }: Omit<AuditEntry, 'at'>,
): Promise<void> {
  const clip = (text: string) => text.slice(0, auditTextCharsMax);
  const actor = { kind: who.kind, name: clip(who.name) };
  const entry = { who: actor, from: clip(from), operation, factory, subject: clip(subject) };
  await auditLog.record([{ at: now().toISOString(), ...entry }]);
}

/** What an apply has changed, for the audit log. */
export function describeApplied({ serial }: AppliedState, changes: readonly Change[]): string {
  const { add, change, destroy } = summarize(changes);
  return `serial ${serial}: ${add} added, ${change} changed, ${destroy} destroyed`;
}

export type ListedAudit = z.output<typeof auditAnswer>;

/** Lists changes, newest first. `cursor` is the `next` of the page before. */
export async function listAudit(
  { auditLog }: Pick<Store, 'auditLog'>,
  {
    cursor,
    limit,
    ...wanted
  }: Pick<AuditWanted, 'factory' | 'withAll' | 'limit'> & { cursor?: string | undefined },
): Promise<ListedAudit> {
  const before = cursor === undefined ? undefined : Number(cursor);
  const found = await auditLog.list({ ...wanted, before, limit: limit + 1 });
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  return {
    entries: shown.map(({ seq: _, ...entry }) => entry),
    next: found.length > limit && last ? String(last.seq) : null,
  };
}
