import { randomBytes } from 'node:crypto';
import { type FileHandle, link, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const temporarySuffix = '.tmp';

/**
 * Replaces a file. After a crash or power loss it is either the old file or the new one: a temporary file in the same
 * directory is written, fsynced and renamed over it, then the directory is fsynced. On a full disk this fails and
 * leaves the old file. Only its owner can read it, unless `mode` allows more.
 */
export async function replaceFile(file: string, data: string | Uint8Array, mode = 0o600): Promise<void> {
  await moveTemporary(await writeTemporary(file, data, mode), file);
}

/** Gives a temporary file, which was synced, the name of `file`. On failure, the temporary file is removed. */
export async function moveTemporary(temporary: string, file: string): Promise<void> {
  try {
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(dirname(file));
}

/** Creates a file as `replaceFile` does, or fails with EEXIST if it exists. */
export async function createFile(file: string, data: string): Promise<void> {
  const temporary = await writeTemporary(file, data, 0o600);
  try {
    await link(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
  await syncDirectory(dirname(file));
}

/** Removes the temporary files that killed writers left. Call it only under the file's lock. */
export async function sweepTemporaries(file: string): Promise<void> {
  const directory = dirname(file);
  const left = (await readdir(directory)).filter(
    name => name.startsWith(`${basename(file)}.`) && name.endsWith(temporarySuffix),
  );
  await Promise.all(left.map(name => rm(join(directory, name), { force: true })));
}

/** Makes renames and new files in a directory survive power loss. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Creates a file beside `file` that only its owner can read. */
export async function createTemporary(
  file: string,
): Promise<{ readonly temporary: string; readonly handle: FileHandle }> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}${temporarySuffix}`;
  return { temporary, handle: await open(temporary, 'wx+', 0o600) };
}

async function writeTemporary(file: string, data: string | Uint8Array, mode: number): Promise<string> {
  const { temporary, handle } = await createTemporary(file);
  try {
    if (mode !== 0o600) await handle.chmod(mode);
    await handle.writeFile(data);
    await handle.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  return temporary;
}
