import {
  close,
  constants,
  createWriteStream,
  fstat,
  open,
  type Stats,
  type WriteStream,
  write,
  writev,
} from 'node:fs';
import { type FileHandle, open as openHandle, readFile } from 'node:fs/promises';
import { fileFailure } from '../ports/store-error.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/**
 * Opens a regular file to read it, and returns its size. Undefined if there is none: a symbolic link is not followed, a
 * FIFO does not block, and a hard link to another file is not read. Neither is a file of another user than `owner` (a
 * uid), if that is given: a file can lose its other names while a hard link to it remains.
 */
export async function openRegularFile(
  path: string,
  owner?: number,
): Promise<{ readonly handle: FileHandle; readonly size: number } | undefined> {
  const handle = await openHandle(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  const stats = await handle?.stat();
  if (handle && stats && isOrdinary(stats) && (owner ?? stats.uid) === stats.uid)
    return { handle, size: stats.size };
  await handle?.close();
  return undefined;
}

/**
 * Appends to a file that only its owner can read, and creates it if there is none. The stream fails, like a stream of
 * `createWriteStream`, for everything that `openRegularFile` does not open. It asks to wait when so many bytes are pending.
 */
export function createAppendStream(path: string, pendingBytesMax: number): WriteStream {
  const flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
  // Node passes numeric flags on, but its types know only names such as 'a'.
  const options = { flags: flags as unknown as string, mode: 0o600, highWaterMark: pendingBytesMax };
  return createWriteStream(path, { ...options, fs: { open: openOrdinary, write, writev, close } });
}

function openOrdinary(
  path: string,
  flags: number,
  mode: number,
  callback: (error: NodeJS.ErrnoException | null, descriptor?: number) => void,
): void {
  open(path, flags, mode, (error, descriptor) => {
    if (error) return callback(error);
    fstat(descriptor, (error, stats) => {
      if (!error && isOrdinary(stats)) return callback(null, descriptor);
      const refused = Object.assign(new Error(`${path} is not a regular file`), { code: 'EFTYPE' });
      close(descriptor, () => callback(error ?? refused));
    });
  });
}

/** Whether it is a regular file with only one name. */
function isOrdinary(stats: Stats): boolean {
  return stats.isFile() && stats.nlink === 1;
}

/** Reads a text file; undefined if it does not exist. Fails with `unreadable`. */
export async function readText(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    return fileFailure('unreadable', file)(error);
  });
}
