import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { endOrphans } from './orphans.ts';
import { pristineVariable, sharedVariable, stopSharedPostgres } from './postgres.ts';

/**
 * Builds what is stale of dist/, and puts all temporary directories into one that is removed at the end: for the first
 * project that needs it, and so for all.
 */
export default async function setup(): Promise<undefined | (() => Promise<void>)> {
  if (process.env[sharedVariable] !== undefined) return undefined;
  await execa(process.execPath, ['build/build.ts'], { stdio: 'inherit' });
  process.env.NODE_COMPILE_CACHE = join(tmpdir(), 'node-compile-cache');
  const directory = mkdtempSync(join(tmpdir(), 'hookmill-tests-'));
  process.env.TMPDIR = directory;
  process.env[pristineVariable] = join(directory, 'pristine-postgres');
  const sharedPostgres = join(directory, 'shared-postgres');
  process.env[sharedVariable] = sharedPostgres;
  // Processes that were just killed may still write: what they leave is not worth a failure. Not in this process, which
  // must end the workers meanwhile.
  return async () => {
    await stopSharedPostgres(sharedPostgres);
    const left = endOrphans(directory);
    await execa('rm', ['-rf', '--', directory], { reject: false });
    if (left.length > 0) throw new Error(`tests left processes running:\n${left.join('\n')}`);
  };
}
