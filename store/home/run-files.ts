import { once } from 'node:events';
import { constants } from 'node:fs';
import {
  chmod,
  lstat,
  mkdir,
  open,
  opendir,
  readdir,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import {
  attachmentName,
  attachmentsName,
  headersAttachmentName,
  headersAttachmentsName,
  nameAttachment,
} from '../../schema/attachments.ts';
import type { StoredEvent } from '../ports/delivery-log.ts';
import { messageName, type RunFiles, type RunOutput, renderEventHeaders } from '../ports/run-files.ts';
import { StoreError } from '../ports/store-error.ts';
import { replaceFile, syncDirectory } from './durable-file.ts';
import { type Home, makePrivateDirectory, runOutputFile } from './home.ts';
import { createAppendStream, openRegularFile } from './regular-file.ts';
import { removeTree } from './remove-tree.ts';
import { openRunArtifacts } from './run-artifacts.ts';

/** @limit Output of an attempt that waits to be written, in bytes: then the command waits until the disk has taken it. */
const outputPendingBytesMax = 1024 * 1024;

/** The name of a run's directory, and of what is left of earlier attempts. */
const directoryPattern = /^(run_[0-9a-z]{26})(\.old|\.afterwards)?$/;

/** Run files that are all on this machine. */
export interface LocalRunFiles extends RunFiles {
  locateOutput(runId: string): string;
}

/** The files of runs in a home: `runs/<run id>/` belongs to its command, `run-outputs/<run id>.log` to hookmill. */
export function openRunFiles(home: Home): LocalRunFiles {
  const { runsDirectory, runOutputsDirectory } = home;
  const locate = (runId: string) => join(runsDirectory, runId);
  const locateOutput = (runId: string) => runOutputFile(home, runId);
  /** Where what is left of earlier attempts is being removed. */
  const locateOld = (runId: string) => `${locate(runId)}.old`;
  const { removeArtifacts, ...artifacts } = openRunArtifacts(home);
  return {
    placeIn: directory => placeRuns(runsDirectory, directory),
    discard: async runId => {
      const [directory, old] = [locate(runId), locateOld(runId)];
      const isThere = await rename(directory, old).then(
        () => true,
        async (error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return false;
          // A removal that was stopped left it.
          await removeTree(old);
          await rename(directory, old);
          return true;
        },
      );
      if (isThere) await removeTree(old);
    },
    prepare: async (runId, message, { payload, headers }, gathered) => {
      const directory = locate(runId);
      await makeRunDirectory(directory);
      await makePrivateDirectory(runOutputsDirectory);
      if (gathered) await writeGathered(directory, gathered);
      await writeRunFile(join(directory, attachmentName), payload);
      await writeRunFile(join(directory, headersAttachmentName), renderEventHeaders(headers));
      await writeRunFile(join(directory, messageName), message);
      await syncDirectory(runsDirectory);
      // Without links, because the user of the run's command may be unable to enter the home.
      return join(await realpath(runsDirectory), runId);
    },
    locate,
    locateOutput,
    appendOutput: (runId, heading, bytesMax) => appendOutput(locateOutput(runId), heading, bytesMax),
    readOutput: async (runId, from = 0) => {
      const file = await openRegularFile(locateOutput(runId));
      if (!file) return undefined;
      const { handle, size } = file;
      if (from < size)
        return { size: size - from, stream: handle.createReadStream({ start: from, end: size - 1 }) };
      await handle.close();
      return { size: 0, stream: Readable.from([]) };
    },
    ...artifacts,
    list: () => listRuns(runsDirectory),
    remove: async runId => {
      await rm(locateOutput(runId), { force: true });
      await removeArtifacts(runId);
      await artifacts.discardPrepared(runId);
      await removeTree(locate(runId), locateOld(runId));
    },
  };
}

/** Makes the home's directory of runs a link to another one, so that each process that knows the home finds it. */
async function placeRuns(runsDirectory: string, directory: string): Promise<void> {
  // Others may pass through, to reach what is theirs.
  if (await mkdir(directory, { recursive: true })) await chmod(directory, 0o711);
  const { uid, mode } = await stat(directory);
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0) {
    const message = `others can change ${directory}; let it belong to the user of the daemon, with mode 711`;
    throw new StoreError('unsafe', message);
  }
  await makePrivateDirectory(runsDirectory);
  if ((await realpath(runsDirectory)) === (await realpath(directory))) return;
  if ([...(await readdir(runsDirectory)), ...(await readdir(directory))].length > 0) {
    const what = `${directory} cannot be the directory of runs, because it or ${runsDirectory} is not empty`;
    const advice = `move all that is in ${runsDirectory} to ${directory}, and replace ${runsDirectory} by a symbolic link to it`;
    throw new StoreError('other-content', `${what}; ${advice}`);
  }
  const link = `${runsDirectory}.new`;
  await rm(link, { force: true });
  await symlink(directory, link);
  if ((await lstat(runsDirectory)).isDirectory()) await rmdir(runsDirectory);
  await rename(link, runsDirectory);
}

/**
 * Makes a run's directory, or takes it back from the user of an earlier attempt's command. That command may have put
 * something else in its place.
 */
async function makeRunDirectory(directory: string): Promise<void> {
  const existing = await lstat(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (existing && !existing.isDirectory()) await rm(directory);
  await makePrivateDirectory(directory);
  if (existing?.isDirectory()) await takeBack(directory);
}

/** Writes a file for a run's command. The command of an earlier attempt may have put a directory in its place. */
async function writeRunFile(file: string, content: string | Uint8Array): Promise<void> {
  await replaceFile(file, content, runFileMode).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EISDIR') throw error;
    await removeTree(file);
    await replaceFile(file, content, runFileMode);
  });
}

/** Writes the attachments of all deliveries, one after the other. An earlier attempt may have changed its own ones. */
async function writeGathered(directory: string, events: AsyncIterable<StoredEvent>): Promise<void> {
  const directories = [attachmentsName, headersAttachmentsName].map(name => join(directory, name));
  for (const path of directories) {
    await removeTree(path);
    await mkdir(path);
    await chmod(path, 0o755);
  }
  let index = 0;
  for await (const { payload, headers } of events) {
    const name = nameAttachment(index++);
    const contents = [payload, renderEventHeaders(headers)];
    const write = async (path: string, content: Uint8Array | string = '') => {
      await writeFile(join(path, name), content, { flush: true });
      await chmod(join(path, name), runFileMode);
    };
    await Promise.all(directories.map((path, part) => write(path, contents[part])));
  }
  for (const path of directories) await syncDirectory(path);
}

/** The user of the command can read them, because the directory is theirs meanwhile. */
const runFileMode = 0o644;

async function* listRuns(runsDirectory: string): AsyncGenerator<string> {
  await makePrivateDirectory(runsDirectory);
  for await (const { name } of await opendir(runsDirectory)) {
    const [, runId] = directoryPattern.exec(name) ?? [];
    if (runId !== undefined) yield runId;
  }
}

function appendOutput(path: string, heading: string, bytesMax: number): RunOutput {
  const file = createAppendStream(path, outputPendingBytesMax);
  // Listens from the start, because writing may fail long before the output is closed.
  const ended = finished(file).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  );
  let kept = 0;
  let cut = 0;
  file.write(note(heading));
  return {
    write: async chunk => {
      const part = chunk.subarray(0, bytesMax - kept);
      kept += part.length;
      cut += chunk.length - part.length;
      if (part.length === 0) freeMemory(chunk);
      else if (!file.write(part)) await Promise.race([once(file, 'drain').catch(() => undefined), ended]);
    },
    isFull: () => kept === bytesMax,
    close: async lastLine => {
      if (kept > 0) file.write('\n');
      if (cut > 0) file.write(note(`output truncated: ${cut} more bytes were not kept`));
      file.end(note(lastLine));
      const error = await ended;
      if (error) throw error;
    },
  };
}

/**
 * Frees the memory of a chunk that has it for itself. The garbage collector would let some 64 MB of such chunks gather
 * before it runs, because it counts mostly what is in its own heap.
 */
function freeMemory({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

function note(text: string): string {
  return `[hookmill: ${text}]\n`;
}

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/**
 * Makes a directory belong to the daemon's user again, for that user only. Afterwards no other process can replace what
 * is in the directory itself, whatever it did or opened before; what is in directories below, it still can. The parent
 * must be the daemon's own. The owner comes first, because an owner can change the mode again.
 */
export async function takeBack(directory: string): Promise<void> {
  const handle = await open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    const [uid, gid] = [process.getuid?.(), process.getgid?.()];
    if (uid !== undefined && gid !== undefined && (await handle.stat()).uid !== uid)
      await handle.chown(uid, gid);
    await handle.chmod(0o700);
  } finally {
    await handle.close();
  }
}
