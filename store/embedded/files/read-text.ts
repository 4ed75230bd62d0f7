import { readFile } from 'node:fs/promises';
import { fileFailure } from '../../store-error.ts';

/** Reads a text file; undefined if it does not exist. Fails with `unreadable`. */
export async function readText(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    return fileFailure('unreadable', file)(error);
  });
}
