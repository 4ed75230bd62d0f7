import type { AppliedState } from '../../schema/applied-state.ts';
import type { Commit } from '../../schema/commit.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { getCommit } from '../../schema/source-commit.ts';
import { parseDefinitions } from '../../sources/parse-definitions.ts';
import { type BranchTip, readTip } from '../../sources/repository/branch-tip.ts';
import type { FollowedBranch } from '../../sources/repository/followed-repository.ts';
import { type GitMirror, openMirror, readRemoteTip } from '../../sources/repository/git/git-mirror.ts';
import type { Repository } from '../../sources/repository/repository.ts';
import type { ReconcileFailure } from '../../store/ports/reconcile-statuses.ts';
import { listNamedSecrets } from '../access/secrets.ts';
import { applyDefinitions } from '../applied/apply.ts';
import { findAppliedSource, isEdited, toSourcePlace } from '../applied-source.ts';
import { describeEmpty, isEmpty, refuseForeignUses, refuseRenames, rewound } from '../checks/refusals.ts';
import type { Factory } from '../factory.ts';
import { declineFormers } from '../plan/destroyed-webhooks.ts';
import type { Change } from '../plan/plan.ts';
import type { Planned } from '../plan/plan-definitions.ts';
import { openCredential } from './remembered-repository.ts';

export interface FollowOptions {
  /** Applies a tip without definitions. */
  readonly allowEmpty?: boolean | undefined;
  /** Applies a renamed webhook: deletes the old one with its URL, and creates a new one. */
  readonly allowRename?: boolean | undefined;
  /** Applies a tip that does not descend from the applied revision. */
  readonly allowRewind?: boolean | undefined;
  /** The names of webhooks that get a new UID instead of their former one. */
  readonly newUids?: readonly string[] | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: FollowProgress) => void) | undefined;
}

export type FollowProgress =
  | { readonly step: 'look'; readonly repository: Repository }
  | { readonly step: 'fetch'; readonly revision: string }
  | { readonly step: 'apply'; readonly tip: Commit };

export type Followed =
  /** The tip is already applied. */
  | { readonly result: 'unchanged'; readonly tip: Commit; readonly state: AppliedState }
  | {
      readonly result: 'applied';
      readonly tip: Commit;
      readonly changes: readonly Change[];
      /** The applied state that the changes were planned against. */
      readonly before: AppliedState;
      readonly diagnostics: readonly Diagnostic[];
      readonly texts: ReadonlyMap<string, string>;
      readonly state: AppliedState;
    }
  | FollowFailure;

/** The reason why the tip was not applied. The last good state stays applied. */
export interface FollowFailure extends ReconcileFailure {
  readonly result: 'failed';
  /** The files of the diagnostics, for code frames. */
  readonly texts: ReadonlyMap<string, string>;
}

/**
 * Makes the tip of the branch the factory's applied state, all or nothing. If the tip is already applied, nothing
 * happens; a new value of a team secret is used only after the branch changes.
 * Fails with a `GitFailure`, with an error of the store or the file system, or as `declineFormers` does.
 */
export async function followBranch(
  factory: Factory,
  { repository, credential }: FollowedBranch,
  options: FollowOptions,
): Promise<Followed> {
  const { name, store } = factory;
  return store.mirrors.use(name, async directory => {
    const login = credential && (await openCredential(factory, credential));
    if (login && 'message' in login) return makeFailure({ reason: 'credential', ...login });
    const { environment, signal, onProgress } = options;
    const mirror = await openMirror(directory, repository, environment, login, signal);

    onProgress?.({ step: 'look', repository });
    const revision = await readRemoteTip(mirror);
    if (revision === undefined) return makeFailure(describeMissingBranch(repository.branch));
    const state = await store.appliedStates.read(name);
    const applied = findAppliedSource(state, toSourcePlace(repository));
    const appliedCommit = getCommit({ source: applied ?? null });
    if (appliedCommit?.revision === revision && !isEdited(state)) {
      declineFormers(new Map(), options.newUids ?? []);
      return { result: 'unchanged', tip: appliedCommit, state };
    }
    onProgress?.({ step: 'fetch', revision });
    const tip = await readTip(mirror, appliedCommit);
    const isRewound = appliedCommit !== undefined && tip.commitsBehind === undefined;
    if (isRewound && !options.allowRewind) return makeFailure({ reason: 'rewound', ...rewound }, tip);
    return applyTip(factory, mirror, state, tip, options);
  });
}

async function applyTip(
  factory: Factory,
  mirror: GitMirror,
  state: AppliedState,
  tip: BranchTip,
  { allowEmpty, allowRename, newUids, onProgress }: FollowOptions,
): Promise<Followed> {
  const { commit, files } = tip;
  onProgress?.({ step: 'apply', tip: commit });
  const definitions = parseDefinitions(files);
  const { texts } = definitions;
  if (isEmpty(definitions, state) && !allowEmpty) {
    return makeFailure({ reason: 'empty', ...describeEmpty(mirror.repository.path) }, tip);
  }

  const source = { kind: 'repository' as const, ...toSourcePlace(mirror.repository), ...commit };
  const foreign: Diagnostic[] = [];
  const renames: Diagnostic[] = [];
  const confirm = async (planned: Planned) => {
    foreign.push(...refuseForeignUses(planned, definitions));
    if (!allowRename) renames.push(...refuseRenames(planned, definitions));
    return foreign.length === 0 && renames.length === 0;
  };
  const { branch, url } = mirror.repository;
  const who = { kind: 'commit' as const, name: commit.revision };
  const actor = { who, from: `${branch} of ${url}`, operation: 'reconcile' };
  const applied = await applyDefinitions(factory, definitions, source, confirm, { newUids, actor });
  if (applied.result === 'invalid') {
    const wantedSecrets = listNamedSecrets(definitions.webhooks);
    return { ...makeFailure(invalid, tip, applied.diagnostics, texts), wantedSecrets };
  }
  if (foreign.length > 0) return makeFailure(sharedWithOthers, tip, foreign, texts);
  if (applied.result === 'declined') return makeFailure(renamed, tip, renames, texts);
  return { ...applied, result: applied.result, tip: commit, texts };
}

type FailureReason = Pick<FollowFailure, 'reason' | 'message' | 'hint'>;

const renamed: FailureReason = {
  reason: 'renamed',
  message: 'a webhook file was renamed, so its URL would change',
};
const sharedWithOthers: FailureReason = {
  reason: 'invalid',
  message: 'a webhook would use a team secret in another way than another factory',
};
const invalid: FailureReason = { reason: 'invalid', message: 'the definitions at the tip have errors' };

function describeMissingBranch(branch: string): FailureReason {
  const message = `the repository has no branch ${branch}`;
  return { reason: 'branch-missing', message, hint: 'push the branch, or name another one' };
}

export function makeFailure(
  failure: FailureReason,
  tip?: BranchTip,
  diagnostics: readonly Diagnostic[] = [],
  texts: ReadonlyMap<string, string> = new Map(),
): FollowFailure {
  const { commit, commitsBehind } = tip ?? {};
  return { result: 'failed', ...failure, tip: commit, commitsBehind, diagnostics, texts };
}
