import { z } from 'zod';
import { type Commit, commitShape } from '../schema/commit.ts';
import { diagnosticShape } from '../schema/diagnostic-shape.ts';
import type { Diagnostic } from '../schema/diagnostics.ts';

/** @limit Most diagnostics of a failed reconcile that are kept: nobody reads more, and each reconcile writes them. */
const reconcileDiagnosticsKept = 100;

/** Why a reconcile left the last good state in force. */
export const reconcileFailureReasons = [
  /** The remote did not answer, or would not. */
  'remote',
  'timeout',
  'too-large',
  'git-missing',
  'branch-missing',
  /** The team secret for the repository is not there or cannot be sent. */
  'credential',
  /** The tip does not come after the applied revision. */
  'rewound',
  /** The tip has no definitions at all. */
  'empty',
  'renamed',
  /** The definitions, or the team secrets that they name, have errors. */
  'invalid',
  /** Something on this machine: a lock that is held, a full disk, a damaged file. */
  'store',
] as const;

export type ReconcileFailureReason = (typeof reconcileFailureReasons)[number];

const failureShape = z.strictObject({
  at: z.string(),
  reason: z.enum(reconcileFailureReasons),
  message: z.string(),
  hint: z.string().optional(),
  /** The tip that failed, where it came that far. */
  tip: commitShape.nullable(),
  diagnostics: z.array(diagnosticShape),
});

/** Which branch a factory follows, so that commands know it without being told. */
const followedShape = z.strictObject({
  repository: z.string(),
  branch: z.string(),
  path: z.string(),
  /** The team secret that is sent, by its name. */
  credential: z.strictObject({ username: z.string(), secretName: z.string() }).nullable(),
});

/** `factories/<factory>/reconcile.json`: what became of the last reconciles. */
export const reconcileStatusShape = z.strictObject({
  formatVersion: z.literal(1),
  /** As it was last reconciled; null before the first time, and once a work tree took over. */
  followed: followedShape.nullable(),
  suspendedAt: z.string().nullable(),
  /** The branch's tip as it was last seen, and how many commits it is ahead of the applied revision, if known. */
  tip: commitShape.nullable(),
  commitsBehind: z.int().nonnegative().nullable(),
  lastSuccess: z.strictObject({ at: z.string(), tip: commitShape }).nullable(),
  /** Kept after a success, which ends `failingSince`. */
  lastFailure: failureShape.nullable(),
  failingSince: z.string().nullable(),
});

export type ReconcileStatus = z.output<typeof reconcileStatusShape>;
export type RememberedBranch = z.output<typeof followedShape>;

export type ReconcileEnd =
  | { readonly ok: true; readonly tip: Commit }
  | {
      readonly ok: false;
      readonly reason: ReconcileFailureReason;
      readonly message: string;
      readonly hint?: string | undefined;
      readonly tip?: Commit | undefined;
      readonly commitsBehind?: number | undefined;
      readonly diagnostics: readonly Diagnostic[];
    };

/** How the factories that follow a branch were last reconciled. */
export interface ReconcileStatuses {
  read(factory: string): Promise<ReconcileStatus>;
  /** Changes the status under its lock. Fails with `locked`. */
  change(factory: string, change: (status: ReconcileStatus) => ReconcileStatus): Promise<void>;
}

/** The status after a reconcile of a branch that ended like this. */
export function afterReconcile(
  status: ReconcileStatus,
  followed: RememberedBranch,
  end: ReconcileEnd,
  at: string,
): ReconcileStatus {
  if (end.ok) {
    const { tip } = end;
    return { ...status, followed, tip, commitsBehind: 0, lastSuccess: { at, tip }, failingSince: null };
  }
  const { reason, message, hint, tip = null, commitsBehind = null } = end;
  const diagnostics = end.diagnostics.slice(0, reconcileDiagnosticsKept);
  return {
    ...status,
    followed,
    ...(tip && { tip, commitsBehind }),
    lastFailure: { at, reason, message, ...(hint !== undefined && { hint }), tip, diagnostics },
    failingSince: status.failingSince ?? at,
  };
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
};
