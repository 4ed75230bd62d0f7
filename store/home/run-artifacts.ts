import { createWriteStream } from 'node:fs';
import { lstat, opendir, realpath, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { artifactNamePattern } from '../../schema/attachments.ts';
import {
  artifactBytesMax,
  artifactsMax,
  artifactsName,
  type RunArtifact,
  type RunFiles,
} from '../ports/run-files.ts';
import { type Home, makePrivateDirectory } from './home.ts';
import { openRegularFile } from './regular-file.ts';
import { removeTree } from './remove-tree.ts';

/** The artifacts of runs in a home: `run-artifacts/<run id>/`, copied from what the command left in `artifacts/`. */
export function openRunArtifacts({
  runsDirectory,
  runArtifactsDirectory,
}: Pick<Home, 'runsDirectory' | 'runArtifactsDirectory'>): Pick<
  RunFiles,
  'keepArtifacts' | 'listArtifacts' | 'readArtifact' | 'prepareArtifacts' | 'discardPrepared'
> & { removeArtifacts(runId: string): Promise<void> } {
  const locate = (runId: string) => join(runArtifactsDirectory, runId);
  const locatePrepared = (runId: string) => join(runsDirectory, `${runId}.afterwards`);
  /** Where the next artifacts are complete before those before are removed. */
  const locateNext = (runId: string) => `${locate(runId)}.new`;
  const removeAll = (path: string) => rm(path, { recursive: true, force: true });
  return {
    keepArtifacts: async (runId, { from = join(runsDirectory, runId), owner } = {}) => {
      const next = locateNext(runId);
      await removeAll(next);
      const isComplete = await copyArtifacts(join(from, artifactsName), next, owner);
      const isSecond = from !== join(runsDirectory, runId);
      if (isSecond && (await listArtifacts(next)).length === 0) return isComplete;
      await removeAll(locate(runId));
      await rename(next, locate(runId)).catch(ignoreMissing);
      return isComplete;
    },
    prepareArtifacts: async runId => {
      const directory = locatePrepared(runId);
      await removeTree(directory);
      // A daemon may have been killed before it put them in their place.
      if ((await listArtifacts(locate(runId))).length === 0)
        await rename(locateNext(runId), locate(runId)).catch(ignoreMissing);
      if ((await listArtifacts(locate(runId))).length === 0) return undefined;
      await makePrivateDirectory(directory);
      await copyArtifacts(locate(runId), join(directory, artifactsName), undefined);
      // Without links, because the user of the command may be unable to enter the home.
      return join(await realpath(runsDirectory), basename(directory));
    },
    discardPrepared: runId => removeTree(locatePrepared(runId)),
    listArtifacts: runId => listArtifacts(locate(runId)),
    readArtifact: async (runId, name) => {
      const file = artifactNamePattern.test(name) && (await openRegularFile(join(locate(runId), name)));
      return file ? { size: file.size, stream: file.handle.createReadStream() } : undefined;
    },
    removeArtifacts: async runId => {
      await removeAll(locate(runId));
      await removeAll(locateNext(runId));
    },
  };
}

/**
 * Copies files that a command left. Anything but an ordinary file of the owner is left out: no link is followed, no pipe
 * waited for. Nobody but the daemon can replace `from` itself; a process of the command's user may still replace what is
 * in it.
 */
async function copyArtifacts(from: string, to: string, owner: number | undefined): Promise<boolean> {
  const stats = await lstat(from).catch(() => undefined);
  if (!stats?.isDirectory()) return stats === undefined;
  await makePrivateDirectory(to);
  let [files, bytes, leftOut] = [0, 0, 0];
  for await (const { name } of await opendir(from)) {
    if (files === artifactsMax || leftOut === artifactsMax) return false;
    const file = artifactNamePattern.test(name) ? await openRegularFile(join(from, name), owner) : undefined;
    if (!file || bytes + file.size > artifactBytesMax) {
      await file?.handle.close();
      leftOut++;
      continue;
    }
    // No more than its size, because a process may still write to it. An empty file has no last byte.
    const content = file.handle.createReadStream({ start: 0, end: Math.max(file.size, 1) - 1 });
    await pipeline(content, createWriteStream(join(to, name), { flags: 'wx', mode: 0o600 }));
    files++;
    bytes += file.size;
  }
  return leftOut === 0;
}

async function listArtifacts(directory: string): Promise<RunArtifact[]> {
  const artifacts: RunArtifact[] = [];
  try {
    for await (const { name } of await opendir(directory))
      artifacts.push({ name, size: (await lstat(join(directory, name))).size });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return artifacts.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A command that left no folder has no artifacts. */
function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
