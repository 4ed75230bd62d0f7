import { stat } from 'node:fs/promises';
import { StoreError } from '../../store-error.ts';
import type { Home } from './home.ts';

/**
 * Fails with `unsafe` if other users could change the home, or read its key, team secrets or API tokens: then whatever
 * it holds may be theirs. As ssh does, it refuses instead of correcting. A home that does not exist yet is safe.
 */
export async function requireSafeHome(home: Home): Promise<void> {
  const { directory, keyFile, oldKeyFile, secretsFile, tokensFile, sessionsFile } = home;
  await requireOwn(directory, 0o022, '700');
  const files = [keyFile, oldKeyFile, secretsFile, tokensFile, sessionsFile];
  for (const file of files) await requireOwn(file, 0o077, '600');
}

async function requireOwn(path: string, forbidden: number, right: '600' | '700'): Promise<void> {
  const user = process.getuid?.();
  // A file that is missing or cannot be read is reported when it is needed.
  const stats = await stat(path).catch(() => undefined);
  if (user === undefined || !stats || stats.isDirectory() !== (right === '700')) return;
  if (user !== 0 && stats.uid !== 0 && stats.uid !== user) {
    throw new StoreError('unsafe', `${path} belongs to another user; use a home of your own`);
  }
  if ((stats.mode & forbidden) === 0) return;
  const mode = (stats.mode & 0o777).toString(8);
  const access = `other users can access ${path} (mode ${mode})`;
  throw new StoreError('unsafe', `${access}; if you made this home, run: chmod ${right} ${path}`);
}
