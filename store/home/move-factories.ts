import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileFailure } from '../ports/store-error.ts';
import { documentFile, type Home } from './home.ts';

/**
 * Moves the documents of factories, which homes of development versions have in `factories/<factory>/<kind>.json`, to the
 * directories of their kinds. A process that was killed in between leaves the others for the next. Fails with `unwritable`.
 */
export function moveFactories(home: Home): void {
  const former = join(home.directory, 'factories');
  try {
    for (const path of readdirSync(former, { recursive: true, encoding: 'utf8' })) {
      const [, factory, kind] = /^([^/]+)\/(applied|reconcile|senders)\.json$/.exec(path) ?? [];
      if (factory === undefined) continue;
      mkdirSync(join(home.directory, `${kind}`), { recursive: true, mode: 0o700 });
      renameSync(join(former, path), documentFile(home, { kind: kind as 'applied', factory }));
    }
    rmSync(former, { recursive: true });
  } catch (error) {
    // There are none, or another process moves them too.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') fileFailure('unwritable', former)(error);
  }
}
