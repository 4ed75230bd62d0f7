import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { endOrphans } from './orphans.ts';
import { pristineVariable } from './postgres.ts';

/** Builds what is stale of dist/, and puts all temporary directories into one that is removed at the end. */
export default async function setup(): Promise<() => Promise<void>> {
  await execa(process.execPath, ['build/build.ts'], { stdio: 'inherit' });
  process.env.NODE_COMPILE_CACHE = join(tmpdir(), 'node-compile-cache');
  const directory = mkdtempSync(join(tmpdir(), 'hookmill-tests-'));
  process.env.TMPDIR = directory;
  process.env[pristineVariable] = join(directory, 'pristine-postgres');
  // Processes that were just killed may still write: what they leave is not worth a failure. Not in this process, which
  // must end the workers meanwhile.
  return async () => {
    const left = endOrphans(directory);
    await execa('rm', ['-rf', '--', directory], { reject: false });
    if (left.length > 0) throw new Error(`tests left processes running:\n${left.join('\n')}`);
  };
}
