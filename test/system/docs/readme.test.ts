import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { followPage } from '../../support/followed-page.ts';
import { testLimitMs } from '../../support/test-limit.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const root = join(import.meta.dirname, '../../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

test("the README's five minutes go as it shows, from `npm start` on", {
  timeout: 2 * testLimitMs,
}, async () => {
  const workspace = makeWorkspace();
  await start(workspace);
  const run = (command: string) => workspace.hookmill(...command.replace('./hookmill ', '').split(' '));
  expect(await followPage(readme, { ...workspace, run })).toBeGreaterThan(5);
});

/** Does what `npm start` does once everything is installed and built. */
async function start({ directory, path }: Workspace): Promise<void> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const ports = { HOOKMILL_PORT: '0', HOOKMILL_MANAGEMENT_PORT: '0' };
  const daemon = execa(process.execPath, [join(root, 'examples/start.ts'), path('demo')], {
    cwd: directory,
    extendEnv: false,
    env: { PATH, HOME: directory, NODE_COMPILE_CACHE, ...ports },
    reject: false,
  });
  onTestFinished(async () => {
    daemon.kill('SIGTERM');
    await daemon;
  });
  let printed = '';
  while (!printed.includes('Ctrl-C')) printed += String(await once(daemon.stdout, 'data'));
}
