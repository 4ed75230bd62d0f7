import { join } from 'node:path';
import { parseJsonText } from '../../../json/parse-json-text.ts';
import { openCredential } from '../../../operations/branch/remembered-repository.ts';
import { parseFieldPath, readField } from '../../../schema/field-path.ts';
import { toFollowedBranch } from '../../../sources/repository/followed-repository.ts';
import { GitFailure, type GitFailureCode, runGit } from '../../../sources/repository/git/git-command.ts';
import { fetchWorkingCopy, parseRevisionName } from '../../../sources/repository/working-copy.ts';
import { removeTree } from '../../../store/home/remove-tree.ts';
import type { Store } from '../../../store/ports/store.ts';
import type { WorkspaceSettings } from '../run-settings.ts';
import type { CommandUser } from './command-user.ts';
import type { Attempt, AttemptResult, PrepareCommand } from './runner.ts';

/** @limit Time limit for checking out the files of a working copy, in ms: enough for 2 GiB on a slow disk. */
const checkoutMs = 600_000;

export interface WorkspaceDeps {
  readonly settings: WorkspaceSettings;
  readonly user: CommandUser | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly store: Pick<Store, 'teamSecrets'>;
}

/**
 * Makes `workspace/` in the run's directory: a working copy of the commit that the payload names. The daemon fetches it
 * with the operator's credential. The command's user checks it out, and never sees that credential.
 */
export async function prepareWorkspace(
  attempt: Attempt,
  deps: WorkspaceDeps,
  signal: AbortSignal,
): ReturnType<PrepareCommand> {
  const { settings, user, environment } = deps;
  if (settings.automations?.includes(attempt.run.automation) === false) return {};
  const own = findRepository(settings, attempt.repository);
  if (own === undefined) return {};
  if ('kind' in own) return { failure: own };
  const payload: unknown = parseJsonText(Buffer.from(attempt.payload).toString());
  const revision = parseRevisionName(readField(payload, parseFieldPath(settings.ref) ?? []));
  if (!revision) {
    const reason = `the payload has no full commit ID and no name of a branch at ${settings.ref}`;
    return { failure: { kind: 'failed', reason } };
  }
  if ('commit' in revision && /^0+$/.test(revision.commit)) {
    const reason = `the commit ID at ${settings.ref} is all zeros, because the push deleted the branch`;
    return { failure: { kind: 'failed', reason } };
  }
  const directory = join(attempt.directory, 'workspace');
  await removeTree(directory);
  try {
    const { repository, credential } = await openRepository(attempt, own, deps);
    await fetchWorkingCopy(directory, revision, { repository, credential, environment, signal });
    await user?.give(directory);
    const takeBack = await user?.lend(attempt.directory);
    await checkOut(directory, user, environment, signal).finally(takeBack);
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    const reason = `the working copy could not be made: ${error.message.trim().replaceAll('\n', '; ')}`;
    return { failure: { kind: kinds[error.code], reason } };
  }
  return { variables: { HOOKMILL_WORKSPACE: directory } };
}

type OwnRepository = Pick<WorkspaceSettings, 'credentialSecret' | 'credentialUsername'> & {
  readonly repository: string;
};

/** The repository of an attempt; undefined if its automation has chosen none, or the result if that is gone. */
function findRepository(
  { repository, repositories = {}, ...own }: WorkspaceSettings,
  chosen: string | undefined,
): OwnRepository | Extract<AttemptResult, { kind: 'failed' }> | undefined {
  if (repository !== undefined) return { ...own, repository };
  if (chosen === undefined) return undefined;
  const reason = `the runner offers no repository ${chosen} any more`;
  return Object.hasOwn(repositories, chosen) ? repositories[chosen] : { kind: 'failed', reason };
}

async function openRepository({ run }: Attempt, own: OwnRepository, { store }: WorkspaceDeps) {
  const { repository, credential: wanted } = toFollowedBranch(own);
  const credential = wanted && (await openCredential({ name: run.factory, store }, wanted));
  if (credential && 'message' in credential) throw new GitFailure('refused', credential.message);
  return { repository, credential };
}

const kinds: Readonly<Record<GitFailureCode, 'failed' | 'retry' | 'unattempted'>> = {
  'git-missing': 'unattempted',
  'mirror-unwritable': 'unattempted',
  timeout: 'retry',
  'too-large': 'failed',
  stopped: 'retry',
  'no-branches': 'retry',
  refused: 'retry',
};

/** Checks out the files. The repository cannot run anything: it has no filters configured, and `reset` runs no hooks. */
async function checkOut(
  directory: string,
  user: CommandUser | undefined,
  { PATH }: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  const environment = { PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' };
  const session = { prefix: user?.prefix ?? [] };
  await runGit({ directory, environment, signal, timeoutMs: checkoutMs, session }, git =>
    git.reset(['--hard']),
  );
}
