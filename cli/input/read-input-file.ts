import { resolve } from 'node:path';
import { UsageError } from '../exit-status.ts';

/** Reads a file that the command line names. `label` says what it is, for the error. */
export async function readInputFile(path: string, label?: string): Promise<Buffer> {
  const { readFile } = await import('node:fs/promises');
  return readFile(resolve(path)).catch((cause: NodeJS.ErrnoException) => {
    const name = label === undefined ? path : `${label} ${path}`;
    throw new UsageError(`${name} cannot be read (${cause.code})`, { cause });
  });
}
