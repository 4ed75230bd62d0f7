import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { testLimitMs } from '../support/test-limit.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

test("the README's five minutes go as it shows, from `npm start` on", {
  timeout: 2 * testLimitMs,
}, async () => {
  const workspace = makeWorkspace();
  await start(workspace);
  const ids = new Map<string, string>();
  for (const [, language, block = ''] of readme.matchAll(/^```(yaml|console)\n(.*?)^```/gms)) {
    if (language === 'yaml') workspace.write(/^# (\S+)/.exec(block)?.[1] ?? '', withIds(block, ids));
    else for (const step of block.split(/^\$ /m).slice(1)) await follow(workspace, step, ids);
  }
  expect(ids.size).toBeGreaterThan(1);
});

const id = /\b(?:wh|dlv|run)_[0-9a-z]+/g;

/** Does what `npm start` does once everything is installed and built. */
async function start({ directory, path }: Workspace): Promise<void> {
  const daemon = execa(process.execPath, [join(root, 'examples/start.ts'), path('demo')], {
    cwd: directory,
    extendEnv: false,
    env: { PATH: process.env.PATH, HOME: directory, HOOKMILL_PORT: '0', HOOKMILL_MANAGEMENT_PORT: '0' },
    reject: false,
  });
  onTestFinished(async () => {
    daemon.kill('SIGTERM');
    await daemon;
  });
  let printed = '';
  while (!printed.includes('Ctrl-C')) printed += String(await once(daemon.stdout, 'data'));
}

/** Runs a command line, and expects each line that the README shows below it, except those shortened with `…`. */
async function follow(workspace: Workspace, step: string, ids: Map<string, string>): Promise<void> {
  const [command = '', ...lines] = step.trimEnd().split('\n');
  const words = withIds(command, ids).replace('npx --no-install hookmill ', '').split(' ');
  const { stdout, stderr, exitCode } = await workspace.hookmill(...words);
  expect({ command, stderr, exitCode }).toMatchObject({ exitCode: 0 });
  const printed = `${stdout}${stderr}`.split('\n');
  for (const line of lines.filter(line => !line.includes('…'))) {
    const same = printed.find(candidate => withoutIds(candidate) === withoutIds(line));
    expect(printed.map(withoutIds)).toContain(withoutIds(line));
    const found = same?.match(id) ?? [];
    for (const [index, shown] of (line.match(id) ?? []).entries()) ids.set(shown, found[index] ?? shown);
  }
  if (words.includes('send')) await eventually(() => allRunsSucceeded(workspace));
}

async function allRunsSucceeded(workspace: Workspace): Promise<boolean> {
  const { stdout } = await workspace.hookmill('-C', 'demo', 'runs', 'list', '-o', 'json');
  return (JSON.parse(stdout) as { state: string }[]).every(({ state }) => state === 'succeeded');
}

/** With the ids of this test in place of those that the README shows. */
function withIds(text: string, ids: ReadonlyMap<string, string>): string {
  return text.replaceAll(id, shown => ids.get(shown) ?? shown);
}

function withoutIds(line: string): string {
  return line.replaceAll(id, 'ID').replaceAll(/127\.0\.0\.1:\d+/g, 'HOST');
}
