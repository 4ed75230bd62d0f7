import type { Commit } from '../../schema/commit.ts';
import type { DefinitionFiles } from '../definitions.ts';
import { GitFailure } from './git/git-command.ts';
import { discardMirror, fetchHistorySince, fetchTip, type GitMirror, tipRef } from './git/git-mirror.ts';
import { countDescendants, readCommit } from './git/git-objects.ts';
import { readRevision } from './repository-source.ts';

/** @limit Largest difference between committers' clocks, in seconds, when history is fetched back to the applied revision. */
const commitClockSkewSeconds = 7 * 24 * 3600;

/** The commit at the tip of the branch, and its definition files. */
export interface BranchTip {
  readonly commit: Commit;
  readonly files: DefinitionFiles;
  /** The number of commits since the applied revision; undefined if the tip does not descend from it. */
  readonly commitsBehind: number | undefined;
}

/**
 * Fetches and reads the tip, which should descend from the commit `applied`. If git cannot work with the mirror (a fetch
 * was killed, the disk lost data), it is discarded and fetched again, once.
 */
export async function readTip(mirror: GitMirror, applied: Commit | undefined): Promise<BranchTip> {
  try {
    return await fetchAndRead(mirror, applied, false);
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    // An unfinished fetch may have left large files.
    await discardMirror(mirror);
    if (error.code !== 'refused') throw error;
    return fetchAndRead(mirror, applied, true);
  }
}

/** If a blob is missing from a fresh mirror, the fetch left it out. In a used mirror, it may have been lost. */
async function fetchAndRead(
  mirror: GitMirror,
  applied: Commit | undefined,
  isFresh: boolean,
): Promise<BranchTip> {
  await fetchTip(mirror);
  const commit = await readCommit(mirror, tipRef);
  const files = await readRevision(mirror, commit.revision, mirror.repository.path, isFresh);
  return { commit, files, commitsBehind: applied && (await countCommitsAhead(mirror, applied, commit)) };
}

async function countCommitsAhead(
  mirror: GitMirror,
  applied: Commit,
  tip: Commit,
): Promise<number | undefined> {
  if (tip.revision === applied.revision) return 0;
  const count = () => countDescendants(mirror, applied.revision, tip.revision);
  const near = await count();
  if (near > 0) return near;
  const since = new Date(Date.parse(applied.committedAt) - commitClockSkewSeconds * 1000);
  // A server refuses to send history since a time after the tip.
  if (Date.parse(tip.committedAt) < since.getTime()) return undefined;
  await fetchHistorySince(mirror, since);
  return (await count()) || undefined;
}
