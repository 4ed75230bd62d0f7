import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileFailure } from '../ports/store-error.ts';
import { documentFile, type Home } from './home.ts';

/**
 * Moves the documents of factories, which homes of development versions have in `factories/<factory>/<kind>.json`, to the
 * directories of their kinds. A process that was killed in between leaves the others for the next. Files that are
 * not hookmill's stay. Fails with `unwritable`.
 */
export function moveFactories(home: Home): void {
  const former = join(home.directory, 'factories');
  try {
    for (const path of readdirSync(former, { recursive: true, encoding: 'utf8' })) {
      const [, factory, kind, lock] =
        /^([^/]+)\/(applied|reconcile|senders)\.json(\.lock)?$/.exec(path) ?? [];
      if (factory === undefined) continue;
      if (lock === undefined) {
        mkdirSync(join(home.directory, `${kind}`), { recursive: true, mode: 0o700 });
        renameSync(join(former, path), documentFile(home, { kind: kind as 'applied', factory }));
      } else rmSync(join(former, path), { force: true });
      removeEmpty(dirname(join(former, path)));
    }
    removeEmpty(former);
  } catch (error) {
    // There are none, or another process moves them too.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') fileFailure('unwritable', former)(error);
  }
}

function removeEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // Something else is in it.
  }
}
