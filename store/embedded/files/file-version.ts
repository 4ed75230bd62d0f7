import { type BigIntStats, closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { fileFailure } from '../../ports/store-error.ts';

/** Identifies a file's content without reading it; undefined if there is no file. Files are replaced, never overwritten. */
export async function readFileVersion(file: string): Promise<string | undefined> {
  return stat(file, { bigint: true }).then(toVersion, versionOfUnreadable);
}

export interface VersionedText {
  /** See `readFileVersion`. */
  readonly version: string | undefined;
  /** Undefined if there is no file. Fails with `unreadable`. */
  readonly text: () => string | undefined;
}

/** Reads a text file with its version, and holds up its thread meanwhile: a tenth of the time of reading both without. */
export function readVersionedText(file: string): VersionedText {
  try {
    // A FIFO would wait for a writer.
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const version = toVersion(fstatSync(descriptor, { bigint: true }));
      // Bytes are not in V8's heap, which grows for texts that are kept for a while.
      const bytes = readFileSync(descriptor);
      return { version, text: () => bytes.toString() };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const text = () => (isMissing ? undefined : fileFailure('unreadable', file)(error));
    return { version: versionOfUnreadable(error), text };
  }
}

function toVersion({ ino, size, ctimeNs, mtimeNs }: BigIntStats): string {
  return `${ino} ${size} ${ctimeNs} ${mtimeNs}`;
}

function versionOfUnreadable(error: unknown): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : String(code);
}
