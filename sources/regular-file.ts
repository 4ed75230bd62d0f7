import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/**
 * Reads at most `bytesMax` + 1 bytes of a file; the extra byte shows that it is too large. Undefined if it is not a
 * regular file: links are not followed, and FIFOs do not block. Fails with the file system's error.
 */
export function readRegularFile(path: string, bytesMax: number): Uint8Array | undefined {
  const descriptor = openNoFollow(path);
  if (descriptor === undefined) return undefined;
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return undefined;
    const buffer = Buffer.allocUnsafe(Math.min(stats.size, bytesMax + 1));
    let length = 0;
    while (length < buffer.length) {
      const read = readSync(descriptor, buffer, length, buffer.length - length, null);
      if (read === 0) break;
      length += read;
    }
    return buffer.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}

function openNoFollow(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ELOOP: a symbolic link. ENXIO: a socket, or a device without a driver.
    if (code === 'ELOOP' || code === 'ENXIO' || code === 'EMLINK') return undefined;
    throw error;
  }
}
