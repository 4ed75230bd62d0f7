import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Removes a file or directory that a command may still change; nothing if there is none. Unlike Node's own function, `rm`
 * enters directories without following a link that takes the place of one, and however deeply they are nested.
 */
export async function removeTree(path: string): Promise<void> {
  await promisify(execFile)('rm', ['-rf', '--', path]);
}
