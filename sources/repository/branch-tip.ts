import type { Commit } from '../../schema/commit.ts';
import type { DefinitionFiles } from '../definition-files.ts';
import { GitFailure } from './git/git-failure.ts';
import { discardMirror, fetchHistorySince, fetchTip, type GitMirror, tipRef } from './git/git-mirror.ts';
import { countDescendants, readCommit } from './git/git-objects.ts';
import { readRevision } from './repository-source.ts';

/** @limit Largest disagreement between committers' clocks, in seconds, when history is fetched back to the applied revision. */
const commitClockSkewSeconds = 7 * 24 * 3600;

/** What stands at the tip of the branch. */
export interface BranchTip {
  readonly commit: Commit;
  readonly files: DefinitionFiles;
  /** By how many commits it is ahead of the applied revision; undefined if it does not come after it. */
  readonly commitsBehind: number | undefined;
}

/**
 * Fetches the tip and reads it. `applied` is the commit in force that the tip should come after. A mirror that git
 * cannot work with (a fetch was killed, the disk lost something) is fetched anew, once.
 */
export async function readTip(mirror: GitMirror, applied: Commit | undefined): Promise<BranchTip> {
  try {
    return await fetchAndRead(mirror, applied, false);
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    // What a fetch that was ended leaves is of no use, and may be large.
    await discardMirror(mirror);
    if (error.code !== 'refused') throw error;
    return fetchAndRead(mirror, applied, true);
  }
}

/** What a fresh mirror lacks was left out of the fetch; what a used one lacks may have been lost. */
async function fetchAndRead(
  mirror: GitMirror,
  applied: Commit | undefined,
  isFresh: boolean,
): Promise<BranchTip> {
  await fetchTip(mirror);
  const commit = await readCommit(mirror, tipRef);
  const files = await readRevision(mirror, commit.revision, mirror.repository.path, isFresh);
  return { commit, files, commitsBehind: applied && (await commitsAhead(mirror, applied, commit)) };
}

async function commitsAhead(mirror: GitMirror, applied: Commit, tip: Commit): Promise<number | undefined> {
  if (tip.revision === applied.revision) return 0;
  const count = () => countDescendants(mirror, applied.revision, tip.revision);
  const near = await count();
  if (near > 0) return near;
  const since = new Date(Date.parse(applied.committedAt) - commitClockSkewSeconds * 1000);
  // A server refuses to send the history after a time at which the tip itself is older.
  if (Date.parse(tip.committedAt) < since.getTime()) return undefined;
  await fetchHistorySince(mirror, since);
  return (await count()) || undefined;
}
