import { posix } from 'node:path';
import type { AppliedState } from '../schema/applied-state.ts';
import type { Commit } from '../schema/commit.ts';
import type { Diagnostic } from '../schema/diagnostics.ts';
import { definitionFolders } from '../sources/definition-file-name.ts';
import { parseDefinitions } from '../sources/parse-definitions.ts';
import { type BranchTip, readTip } from '../sources/repository/branch-tip.ts';
import type { FollowedBranch, RepositoryCredential } from '../sources/repository/followed-repository.ts';
import type { GitCredential } from '../sources/repository/git/git-environment.ts';
import { type GitMirror, openMirror, readRemoteTip } from '../sources/repository/git/git-mirror.ts';
import { hasCommit } from '../sources/repository/git/git-objects.ts';
import type { Repository } from '../sources/repository/repository.ts';
import { renamedDefinitions } from '../sources/repository/repository-source.ts';
import type { ReconcileFailureReason } from '../store/reconcile-statuses.ts';
import { appliedFrom, isEdited, type RepositorySource, type SourcePlace } from './applied-source.ts';
import { applyDefinitions } from './apply.ts';
import type { Factory } from './factory.ts';
import type { Change } from './plan.ts';

export interface FollowOptions {
  /** Applies a tip that has no definitions at all. */
  readonly allowEmpty?: boolean | undefined;
  /** Applies a renamed webhook as what it is: one deleted, its URL with it, and another created. */
  readonly allowRename?: boolean | undefined;
  /** Follows a branch whose history was rewritten or taken back. */
  readonly allowRewind?: boolean | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: FollowProgress) => void) | undefined;
}

export type FollowProgress =
  | { readonly step: 'look'; readonly repository: Repository }
  | { readonly step: 'fetch'; readonly revision: string }
  | { readonly step: 'apply'; readonly tip: Commit };

export type Followed =
  /** The tip is what is applied. */
  | { readonly result: 'unchanged'; readonly tip: Commit; readonly state: AppliedState }
  | {
      readonly result: 'applied';
      readonly tip: Commit;
      readonly changes: readonly Change[];
      readonly diagnostics: readonly Diagnostic[];
      readonly texts: ReadonlyMap<string, string>;
      readonly state: AppliedState;
    }
  | FollowFailure;

/** The last good state stays in force. */
export interface FollowFailure {
  readonly result: 'failed';
  readonly reason: ReconcileFailureReason;
  readonly message: string;
  readonly hint?: string | undefined;
  /** Where it came so far. */
  readonly tip?: Commit | undefined;
  /** By how many commits the tip is ahead of the applied revision, where it comes after it. */
  readonly commitsBehind?: number | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** The files that the diagnostics are about, for code frames. */
  readonly texts: ReadonlyMap<string, string>;
}

/**
 * Makes the tip of the branch the factory's applied state: all of it, or nothing. Where the tip is applied already
 * nothing is done, so that a team secret's new value waits for a change to the branch.
 * Fails with a `GitFailure`, or with what the store or the file system says.
 */
export async function followBranch(
  factory: Factory,
  { repository, credential }: FollowedBranch,
  options: FollowOptions,
): Promise<Followed> {
  const { name, store } = factory;
  return store.mirrors.use(name, async directory => {
    const login = credential && (await openCredential(factory, credential));
    if (login === 'unusable') return followFailure(credentialRefusal(credential?.secretName));
    const { environment, signal, onProgress } = options;
    const mirror = await openMirror(directory, repository, environment, login, signal);

    onProgress?.({ step: 'look', repository });
    const revision = await readRemoteTip(mirror);
    if (revision === undefined) return followFailure(branchMissing(repository.branch));
    const state = await store.appliedStates.read(name);
    const applied = appliedFrom(state, placeOf(repository));
    if (applied?.revision === revision && !isEdited(state)) {
      return { result: 'unchanged', tip: commitOf(applied), state };
    }
    onProgress?.({ step: 'fetch', revision });
    const tip = await readTip(mirror, applied && commitOf(applied));
    const isRewound = applied !== undefined && tip.commitsBehind === undefined;
    if (isRewound && !options.allowRewind) return followFailure(rewound, tip);
    return applyTip(factory, mirror, tip, options);
  });
}

async function applyTip(
  factory: Factory,
  mirror: GitMirror,
  tip: BranchTip,
  { allowEmpty, allowRename, onProgress }: FollowOptions,
): Promise<Followed> {
  const { commit, files } = tip;
  const definitions = parseDefinitions(files);
  const { fileCount, texts } = definitions;
  if (fileCount === 0 && definitions.diagnostics.length === 0 && !allowEmpty)
    return followFailure(empty, tip);

  onProgress?.({ step: 'apply', tip: commit });
  const source = { kind: 'repository' as const, ...placeOf(mirror.repository), ...commit };
  let renames: Diagnostic[] = [];
  const applied = await applyDefinitions(factory, definitions, source, async changes => {
    if (!allowRename) renames = await renameProblems(factory, mirror, commit.revision, changes);
    return renames.length === 0;
  });
  if (applied.result === 'invalid') return followFailure(invalid, tip, applied.diagnostics, texts);
  if (applied.result === 'declined') return followFailure(renamed, tip, renames, texts);
  return { ...applied, result: applied.result, tip: commit, texts };
}

/** A webhook whose file was renamed would lose its UID, and with it the URL that its sender has. */
async function renameProblems(
  { name, store }: Factory,
  mirror: GitMirror,
  revision: string,
  changes: readonly Change[],
): Promise<Diagnostic[]> {
  const namesOf = (action: Change['action']) =>
    new Set(changes.flatMap(one => (one.kind === 'webhook' && one.action === action ? [one.name] : [])));
  const [deleted, created] = [namesOf('delete'), namesOf('create')];
  if (deleted.size === 0 || created.size === 0) return [];
  const { source } = await store.appliedStates.read(name);
  if (source?.kind !== 'repository' || !(await hasCommit(mirror, source.revision))) return [];
  const { path } = mirror.repository;
  const renames = await renamedDefinitions(mirror, 'webhook', source, { revision, path });
  return renames
    .filter(({ from, to }) => deleted.has(from) && created.has(to))
    .map(({ from, to }) => ({
      code: 'webhook/renamed',
      severity: 'error',
      message: `the webhook ${from} was renamed to ${to}: its URL would move, and its sender get 404`,
      file: posix.join(path, definitionFolders.webhook, `${to}.yaml`),
      hint: 'rename it back, or allow the rename and give the sender the new URL',
    }));
}

async function openCredential(
  { store }: Factory,
  { username, secretName }: RepositoryCredential,
): Promise<GitCredential | 'unusable'> {
  const secrets = await store.teamSecrets.open([secretName]);
  const password = secrets.get(secretName)?.value?.text;
  // A line end would end the value in the protocol of git's credential helpers.
  if (password === undefined || /[\r\n\0]/.test(username + password)) return 'unusable';
  return { username, password };
}

function placeOf({ url, branch, path }: Repository): SourcePlace {
  return { repository: url, branch, path };
}

function commitOf({ revision, author, subject, committedAt }: RepositorySource): Commit {
  return { revision, author, subject, committedAt };
}

type Refusal = Pick<FollowFailure, 'reason' | 'message' | 'hint'>;

const rewound: Refusal = {
  reason: 'rewound',
  message: 'the branch does not come after the applied revision: its history was rewritten or taken back',
  hint: 'push a commit that comes after the applied revision, or allow the rewind once',
};
const empty: Refusal = {
  reason: 'empty',
  message: 'there are no definitions at the tip, so all webhooks would be destroyed',
  hint: 'check the path; if it is meant, allow an empty tip once',
};
const renamed: Refusal = { reason: 'renamed', message: 'a webhook was renamed, which is unsupported' };
const invalid: Refusal = { reason: 'invalid', message: 'the definitions at the tip have errors' };

function branchMissing(branch: string): Refusal {
  const message = `the repository has no branch ${branch}`;
  return { reason: 'branch-missing', message, hint: 'push it, or name another' };
}

function credentialRefusal(secretName = ''): Refusal {
  const message = `the team secret ${secretName} for the repository is missing or has line ends`;
  return { reason: 'credential', message, hint: `set it with \`hookmill secrets set ${secretName}\`` };
}

/** A failure as data. */
export function followFailure(
  refusal: Refusal,
  tip?: BranchTip,
  diagnostics: readonly Diagnostic[] = [],
  texts: ReadonlyMap<string, string> = new Map(),
): FollowFailure {
  const { commit, commitsBehind } = tip ?? {};
  return { result: 'failed', ...refusal, tip: commit, commitsBehind, diagnostics, texts };
}
