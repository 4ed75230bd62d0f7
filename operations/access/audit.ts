import type { z } from 'zod';
import type { AppliedState } from '../../schema/applied-state.ts';
import type { AuditEntry } from '../../schema/audit-entry.ts';
import { findPermission, type Grant } from '../../schema/grant.ts';
import { Refusal, type RefusalCode } from '../../schema/refusal.ts';
import type { auditAnswer } from '../../schema/views/access.ts';
import type { AuditWanted } from '../../store/ports/audit-log.ts';
import type { Store } from '../../store/ports/store.ts';
import { StoreError, type StoreErrorCode } from '../../store/ports/store-error.ts';
import { type Change, summarize } from '../plan/plan.ts';

/** @limit Longest text in an entry of the audit log, in characters: names and summaries are far shorter. */
const auditTextCharsMax = 300;

/** A change that somebody is about to make. */
export type ChangeToRecord = Omit<AuditEntry, 'at' | 'unfinished'>;

interface Recorder {
  readonly store: Pick<Store, 'auditLog'>;
  readonly now: () => Date;
}

/** A change that has begun. Its entry in the audit log is unfinished until the change ends. */
export interface BegunChange {
  /** Finishes the entry with this subject; with null, removes it, because nothing was changed. */
  end(subject: string | null): Promise<void>;
  /** Removes the entry if the error says that nothing was changed; otherwise, it stays unfinished. Never fails. */
  endFailed(error: unknown): Promise<void>;
}

/**
 * Chooses the factory to which the entry belongs of a change that concerns these. Only who may manage all factories adds to
 * the entries of all, so that nobody else pushes out entries of the operator.
 */
export function chooseAuditedFactory(
  grants: readonly Grant[],
  concerned: readonly (string | null)[],
): string | null {
  if (findPermission(grants, null) === 'manage') return null;
  const managed = concerned.find(factory => findPermission(grants, factory) === 'manage');
  if (typeof managed !== 'string') throw new Error('the caller may manage none of these factories');
  return managed;
}

/** Writes the entry of a change before it is made, so that a crash leaves no change without an entry. */
export async function beginChange(
  { store: { auditLog }, now }: Recorder,
  planned: ChangeToRecord,
): Promise<BegunChange> {
  const entry = { at: now().toISOString(), ...clipped(planned) };
  const begun = await auditLog.begin(entry);
  const end = (changed: string | null) =>
    auditLog.end(begun, changed === null ? null : { ...entry, subject: clip(changed) });
  return {
    end,
    endFailed: async error => {
      if (isRefused(error)) await end(null).catch(() => undefined);
    },
  };
}

/** `in-parts`: the entry stays unfinished however the change fails. `after`: before it, the store cannot have the entry. */
export type WhenRecorded = 'before' | 'in-parts' | 'after';

/**
 * Makes a change and records it. `describe` returns the subject of its entry; by default, that is the planned one. If the
 * entry cannot be finished after the change, it stays unfinished, and this does not fail.
 */
export async function recordChange<T>(
  recorder: Recorder,
  planned: ChangeToRecord,
  change: () => Promise<T>,
  describe: (result: T) => string | null = () => planned.subject,
  when: WhenRecorded = 'before',
): Promise<T> {
  const begun = when === 'after' ? undefined : await beginChange(recorder, planned);
  const result = await change().catch(async (error: unknown) => {
    if (when === 'before') await begun?.endFailed(error);
    throw error;
  });
  const subject = describe(result);
  if (begun) await begun.end(subject).catch(() => undefined);
  else if (subject !== null) {
    const made = { at: recorder.now().toISOString(), ...clipped({ ...planned, subject }) };
    await recorder.store.auditLog.record([made]);
  }
  return result;
}

/**
 * Names who makes a change: a person with the subject too, which nobody else at the provider gets. A long name is cut, the
 * subject never.
 */
export function nameActor({
  name,
  subject,
}: {
  readonly name: string;
  readonly subject?: string | null | undefined;
}): string {
  if (subject == null || subject === name) return name;
  const end = ` (${subject})`;
  return name.slice(0, auditTextCharsMax - end.length) + end;
}

function clipped({ who, from, operation, factory, subject }: ChangeToRecord): ChangeToRecord {
  const actor = { kind: who.kind, name: clip(who.name) };
  return { who: actor, from: clip(from), operation, factory, subject: clip(subject) };
}

function clip(text: string): string {
  return text.slice(0, auditTextCharsMax);
}

/** Whether the error says for certain that nothing was changed. */
function isRefused(error: unknown): boolean {
  const hasCode = error instanceof Refusal || error instanceof StoreError;
  return hasCode && !uncertainCodes.has(error.code);
}

const uncertainCodes: ReadonlySet<RefusalCode | StoreErrorCode> = new Set([
  'state-unreadable',
  // It may have received what it did not answer.
  'daemon-unreachable',
  'unwritable',
  'unreachable',
]);

/** Summarises an apply for the audit log. */
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
