import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execaSync } from 'execa';

/** Before a run: builds what `cli/bin.js` loads, and puts every temporary directory below one that goes at the end. */
export default function setup(): () => void {
  // Without checking types: that is for `npm run check` to do.
  execaSync('tsc', ['--project', 'tsconfig.build.json', '--noCheck'], {
    preferLocal: true,
    stdio: 'inherit',
  });
  const directory = mkdtempSync(join(tmpdir(), 'hookmill-tests-'));
  process.env.TMPDIR = directory;
  return () => rmSync(directory, { recursive: true, force: true });
}
