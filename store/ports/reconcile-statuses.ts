import { z } from 'zod';
import { type Commit, commitShape } from '../../schema/commit.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { diagnosticShape } from '../../schema/views/problem-answer.ts';

/** The kinds of reconcile failures. */
const reconcileFailureReasons = [
  /** The remote did not answer, or refused to. */
  'remote',
  'timeout',
  'too-large',
  'git-missing',
  'branch-missing',
  /** The team secret for the repository is missing or cannot be sent. */
  'credential',
  /** The tip does not descend from the applied revision. */
  'rewound',
  /** The tip has no definitions. */
  'empty',
  'renamed',
  /** The definitions, or the team secrets that they name, have errors. */
  'invalid',
  /** A lock that is held, a full disk, a damaged file. */
  'store',
] as const;

export type ReconcileFailureReason = (typeof reconcileFailureReasons)[number];

const failureShape = z.strictObject({
  at: z.string(),
  reason: z.enum(reconcileFailureReasons),
  message: z.string(),
  hint: z.string().optional(),
  /** The tip that failed; null if it was not read. */
  tip: commitShape.nullable(),
  diagnostics: z.array(diagnosticShape),
});

/** @limit Commits of a branch that its factory remembers as applied or refused, the newest ones: a page shows them all. */
const recentCommitsMax = 10;

const count = z.int().nonnegative();
/** A commit that was the tip of the branch, and what became of it. */
const recentCommitShape = z.strictObject({
  commit: commitShape,
  /** When it was applied, or first refused. */
  at: z.string(),
  /** `unchanged`: it was applied already when the factory began to remember commits. */
  result: z.enum(['applied', 'refused', 'unchanged']),
  /** The changes of the definitions that it made; null unless it was applied. */
  summary: z.strictObject({ add: count, change: count, destroy: count }).nullable(),
  /** Why it was refused; null otherwise. */
  reason: z.enum(reconcileFailureReasons).nullable(),
  /** The errors in its definitions. */
  errors: count,
});

/** The branch that a factory follows, so that commands know it without options. */
const followedShape = z.strictObject({
  repository: z.string(),
  branch: z.string(),
  path: z.string(),
  /** The name of the team secret that is sent. */
  credential: z.strictObject({ username: z.string(), secretName: z.string() }).nullable(),
});

/** The branch that a factory follows, and how its last reconciles ended. */
export const reconcileStatusShape = z.strictObject({
  formatVersion: z.literal(1),
  /** As it was last reconciled; null before the first time, and after a work tree was applied instead. */
  followed: followedShape.nullable(),
  suspendedAt: z.string().nullable(),
  /** The branch's tip when it was last read. */
  tip: commitShape.nullable(),
  /** The number of commits by which the tip is ahead of the applied revision, if known. */
  commitsBehind: z.int().nonnegative().nullable(),
  lastSuccess: z.strictObject({ at: z.string(), tip: commitShape }).nullable(),
  /** Kept after a success, which only clears `failingSince`. */
  lastFailure: failureShape.nullable(),
  failingSince: z.string().nullable(),
  /** When somebody asked for a look at the branch that no daemon has taken yet; null if nobody has. */
  askedAt: z.string().nullable().default(null),
  /** The team secrets that the webhooks at a refused tip name; empty once a tip is applied. */
  wantedSecrets: z.array(z.strictObject({ name: z.string(), webhook: z.string() })).default([]),
  /** Newest first. */
  recent: z.array(recentCommitShape).default([]),
});

export type ReconcileStatus = z.output<typeof reconcileStatusShape>;
export type RecentCommit = z.output<typeof recentCommitShape>;
export type RememberedBranch = z.output<typeof followedShape>;

/** Why a reconcile left the last good state applied. */
export interface ReconcileFailure {
  readonly reason: ReconcileFailureReason;
  readonly message: string;
  readonly hint?: string | undefined;
  /** The tip, if it was read. */
  readonly tip?: Commit | undefined;
  /** The number of commits since the applied revision, if the tip descends from it. */
  readonly commitsBehind?: number | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** The team secrets that the webhooks at the tip name, if these could be read. */
  readonly wantedSecrets?: ReconcileStatus['wantedSecrets'] | undefined;
}

export type ReconcileEnd =
  /** Without a summary, the tip was applied already. */
  | { readonly ok: true; readonly tip: Commit; readonly summary?: RecentCommit['summary'] }
  | (ReconcileFailure & { readonly ok: false });

/** How the factories that follow a branch were last reconciled. */
export interface ReconcileStatuses {
  /** The status of a factory; `neverReconciled` if nothing is stored. */
  read(factory: string): Promise<ReconcileStatus>;
  /** Changes the status under its lock, and returns it as it is stored afterwards. Fails with `locked`. */
  change(factory: string, change: (status: ReconcileStatus) => ReconcileStatus): Promise<ReconcileStatus>;
}

/** The status after a reconcile has ended. `answered` is the `askedAt` that the status had when it began. */
export function addReconcileEnd(
  before: ReconcileStatus,
  followed: RememberedBranch,
  end: ReconcileEnd,
  at: string,
  answered: string | null = null,
): ReconcileStatus {
  const status = {
    ...before,
    followed,
    askedAt: before.askedAt === answered ? null : before.askedAt,
    recent: addRecent(before.recent, end, at),
  };
  if (end.ok) {
    const { tip } = end;
    const success = { lastSuccess: { at, tip }, failingSince: null, wantedSecrets: [] };
    return { ...status, tip, commitsBehind: 0, ...success };
  }
  const { reason, message, hint, tip = null, commitsBehind = null, wantedSecrets } = end;
  const diagnostics = [...end.diagnostics];
  return {
    ...status,
    ...(tip && { tip, commitsBehind, wantedSecrets: wantedSecrets ?? [] }),
    lastFailure: { at, reason, message, ...(hint !== undefined && { hint }), tip, diagnostics },
    failingSince: status.failingSince ?? at,
  };
}

/** Adds the tip, if it was read. A tip that had the same end before stays as it is, with the time of that. */
function addRecent(recent: RecentCommit[], end: ReconcileEnd, at: string): RecentCommit[] {
  if (!end.tip) return recent;
  const [last] = recent;
  const isSame = last?.commit.revision === end.tip.revision;
  if (end.ok && !end.summary && isSame && last.result !== 'refused') return recent;
  const added = describeEnd(end, end.tip, at);
  // The same commit again replaces its refusal, which was the end so far.
  const isAgain = isSame && last.result === 'refused';
  const entry = isAgain && added.result === 'refused' ? { ...added, at: last.at } : added;
  return [entry, ...recent.slice(isAgain ? 1 : 0)].slice(0, recentCommitsMax);
}

function describeEnd(end: ReconcileEnd, commit: Commit, at: string): RecentCommit {
  if (!end.ok) {
    const errors = end.diagnostics.filter(({ severity }) => severity === 'error').length;
    return { commit, at, result: 'refused', summary: null, reason: end.reason, errors };
  }
  const { summary = null } = end;
  return { commit, at, result: summary ? 'applied' : 'unchanged', summary, reason: null, errors: 0 };
}

export const neverReconciled: ReconcileStatus = {
  formatVersion: 1,
  followed: null,
  suspendedAt: null,
  tip: null,
  commitsBehind: null,
  lastSuccess: null,
  lastFailure: null,
  failingSince: null,
  askedAt: null,
  wantedSecrets: [],
  recent: [],
};
