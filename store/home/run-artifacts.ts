import { createWriteStream } from 'node:fs';
import { lstat, opendir, readdir, realpath, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { artifactNamePattern } from '../../schema/attachments.ts';
import {
  type ArtifactsOf,
  artifactBytesMax,
  artifactsMax,
  artifactsName,
  type KeptArtifacts,
  type RunArtifact,
  type RunFiles,
} from '../ports/run-files.ts';
import { syncDirectory } from './durable-file.ts';
import { type Home, makePrivateDirectory } from './home.ts';
import { openRegularFile } from './regular-file.ts';
import { removeTree } from './remove-tree.ts';

/**
 * The artifacts of runs in a home: `run-artifacts/<run id>/<claim>/`, copied from what the command of that attempt left in
 * `artifacts/`. The highest number is that of the last attempt.
 */
export function openRunArtifacts({
  runsDirectory,
  runArtifactsDirectory,
}: Pick<Home, 'runsDirectory' | 'runArtifactsDirectory'>): Pick<
  RunFiles,
  | 'beginArtifacts'
  | 'keepArtifacts'
  | 'listArtifacts'
  | 'readArtifact'
  | 'prepareArtifacts'
  | 'discardPrepared'
> & { removeArtifacts(runId: string): Promise<void> } {
  const locateAll = (runId: string) => join(runArtifactsDirectory, runId);
  const locate = ({ id, claims }: ArtifactsOf) => join(locateAll(id), String(claims));
  const locatePrepared = (runId: string) => join(runsDirectory, `${runId}.afterwards`);
  const removeAll = (path: string) => rm(path, { recursive: true, force: true });
  const findLast = async (runId: string) =>
    join(locateAll(runId), String(await findLastClaim(locateAll(runId))));
  return {
    beginArtifacts: async attempt => {
      await removeAll(locateAll(attempt.id));
      // So that those of an attempt before, which is kept late, are not the last ones.
      await makePrivateDirectory(locateAll(attempt.id));
      await makePrivateDirectory(locate(attempt));
    },
    keepArtifacts: async (attempt, { from = join(runsDirectory, attempt.id), ...given } = {}) => {
      const place = locate(attempt);
      const next = `${place}.new`;
      await removeAll(next);
      await makePrivateDirectory(locateAll(attempt.id));
      const isComplete = await copyArtifacts(join(from, artifactsName), next, given);
      const isSecond = from !== join(runsDirectory, attempt.id);
      if (isSecond && (await listArtifacts(next)).length === 0) return isComplete;
      await removeAll(place);
      await rename(next, place).catch(ignoreMissing);
      await syncDirectory(locateAll(attempt.id));
      return isComplete;
    },
    prepareArtifacts: async attempt => {
      const directory = locatePrepared(attempt.id);
      await removeTree(directory);
      if ((await listArtifacts(locate(attempt))).length === 0) return undefined;
      await makePrivateDirectory(directory);
      await copyArtifacts(locate(attempt), join(directory, artifactsName));
      // Without links, because the user of the command may be unable to enter the home.
      return join(await realpath(runsDirectory), basename(directory));
    },
    discardPrepared: runId => removeTree(locatePrepared(runId)),
    listArtifacts: async runId => listArtifacts(await findLast(runId)),
    readArtifact: async (runId, name) => {
      const isName = artifactNamePattern.test(name);
      const file = isName && (await openRegularFile(join(await findLast(runId), name)));
      return file ? { size: file.size, stream: file.handle.createReadStream() } : undefined;
    },
    removeArtifacts: runId => removeAll(locateAll(runId)),
  };
}

/** Finds the last attempt whose artifacts are complete; 0 if there is none. */
async function findLastClaim(directory: string): Promise<number> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return [];
  });
  return Math.max(0, ...names.filter(name => /^[0-9]+$/.test(name)).map(Number));
}

/**
 * Copies files that a command left. Anything but an ordinary file of the owner is left out: no link is followed, no pipe
 * waited for. Nobody but the daemon can replace `from` itself; a process of the command's user may still replace what is
 * in it.
 */
async function copyArtifacts(
  from: string,
  to: string,
  { owner, isKept = () => true }: Omit<KeptArtifacts, 'from'> = {},
): Promise<boolean> {
  const stats = await lstat(from).catch(() => undefined);
  if (!stats?.isDirectory()) return stats === undefined;
  await makePrivateDirectory(to);
  let [files, bytes, leftOut] = [0, 0, 0];
  for await (const { name } of await opendir(from)) {
    if (files === artifactsMax || leftOut === artifactsMax) {
      leftOut++;
      break;
    }
    const isNamed = artifactNamePattern.test(name) && isKept(name);
    const file = isNamed ? await openRegularFile(join(from, name), owner) : undefined;
    if (!file || bytes + file.size > artifactBytesMax) {
      await file?.handle.close();
      leftOut++;
      continue;
    }
    // No more than its size, because a process may still write to it. An empty file has no last byte.
    const content = file.handle.createReadStream({ start: 0, end: Math.max(file.size, 1) - 1 });
    await pipeline(content, createWriteStream(join(to, name), { flags: 'wx', mode: 0o600, flush: true }));
    files++;
    bytes += file.size;
  }
  await syncDirectory(to);
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
