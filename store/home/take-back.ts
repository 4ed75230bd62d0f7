import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/**
 * Makes a directory belong to the daemon's user again, for that user only. Afterwards no other process can replace what
 * is in the directory itself, whatever it did or opened before; what is in directories below, it still can. The parent
 * must be the daemon's own. The owner comes first, because an owner can change the mode again.
 */
export async function takeBack(directory: string): Promise<void> {
  const handle = await open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    const [uid, gid] = [process.getuid?.(), process.getgid?.()];
    if (uid !== undefined && gid !== undefined && (await handle.stat()).uid !== uid)
      await handle.chown(uid, gid);
    await handle.chmod(0o700);
  } finally {
    await handle.close();
  }
}
