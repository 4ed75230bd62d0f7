import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Returns a function that makes something in a directory and, whenever it is called again, returns the same with the
 * directory as it was then: to copy files takes a tenth of the time that git takes.
 */
export function madeOnce<T>(directory: string, make: () => Promise<T>): () => Promise<T> {
  const kept = mkdtempSync(join(tmpdir(), 'kept-'));
  let made: Promise<T> | undefined;
  const makeFirst = async () => {
    const result = await make();
    cpSync(directory, kept, { recursive: true });
    return result;
  };
  return () => {
    if (made) {
      rmSync(directory, { recursive: true, maxRetries: 5 });
      cpSync(kept, directory, { recursive: true });
    }
    made ??= makeFirst();
    return made;
  };
}
