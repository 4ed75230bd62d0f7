import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Removes a file or directory that a command may still change; nothing if there is none. Unlike Node's own function, `rm`
 * enters directories without following a link that takes the place of one, and however deeply they are nested. Fails with
 * the code ENOTEMPTY if something cannot be removed.
 */
export async function removeTree(path: string): Promise<void> {
  const remove = () => run('rm', ['-rf', '--', path]);
  await remove()
    .catch(error => {
      // Root needs no permission, and must not change the mode of what a link may have replaced.
      if (process.getuid?.() === 0) throw error;
      // Some tools protect what they download from changes.
      const permit = run('chmod', ['-R', 'u+rwX', '--', path]).catch(() => undefined);
      return permit.then(remove);
    })
    .catch(cause => {
      throw Object.assign(new Error(`cannot remove all of ${path}`, { cause }), { code: 'ENOTEMPTY' });
    });
}

const run = promisify(execFile);
