import { execFile } from 'node:child_process';
import { lstat } from 'node:fs/promises';
import { promisify } from 'node:util';

/**
 * Removes files or directories that a command may still change; nothing where there is none. Unlike Node's own function, `rm`
 * enters directories without following a link that takes the place of one, and however deeply they are nested. Fails with
 * the code ENOTEMPTY if something cannot be removed.
 */
export async function removeTree(...paths: readonly string[]): Promise<void> {
  const found = await Promise.all(paths.map(findPath));
  const there = found.filter(path => path !== undefined);
  // To start a process holds up a daemon for some ms, and there is often nothing to remove.
  if (there.length === 0) return;
  const remove = () => run('rm', ['-rf', '--', ...there]);
  await remove()
    .catch(error => {
      // Root needs no permission, and must not change the mode of what a link may have replaced.
      if (process.getuid?.() === 0) throw error;
      // Some tools protect what they download from changes.
      const permit = run('chmod', ['-R', 'u+rwX', '--', ...there]).catch(() => undefined);
      return permit.then(remove);
    })
    .catch(cause => {
      throw Object.assign(new Error(`cannot remove all of ${paths.join(' and ')}`, { cause }), {
        code: 'ENOTEMPTY',
      });
    });
}

const run = promisify(execFile);

/** Returns the path unless nothing is there. `rm` says what is wrong with a path that cannot be looked at. */
function findPath(path: string): Promise<string | undefined> {
  return lstat(path).then(
    () => path,
    ({ code }: NodeJS.ErrnoException) => (code === 'ENOENT' ? undefined : path),
  );
}
