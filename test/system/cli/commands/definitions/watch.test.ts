import { execFileSync } from 'node:child_process';
import { renameSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../../support/eventually.ts';
import { makeWorkspace, type Workspace } from '../../../../support/workspace.ts';

const good = 'secretName: TOKEN\n';
const bad = 'secretNam: TOKEN\n';

/** Starts a command with `--watch`. `printed` waits for what it prints next. */
function startWatching(workspace: Workspace, ...words: string[]) {
  const child = workspace.start([...words, '--watch'], { all: true });
  let [output, seen] = ['', 0];
  child.all?.on('data', data => {
    output += data;
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await child;
  });
  const printed = (text: string) =>
    eventually(() => {
      const at = output.indexOf(text, seen);
      if (at < 0) return false;
      seen = at + text.length;
      return true;
    });
  return { child, printed };
}

test('validate --watch looks again after each change of a definition, however it is made, until Ctrl-C', async () => {
  const workspace = makeWorkspace();
  workspace.write('webhooks/a.yaml', good);
  workspace.write('webhooks/b.yaml', good);
  const { child, printed } = startWatching(workspace, 'validate');
  await printed('2 definitions, all valid.');

  workspace.write('webhooks/a.yaml', bad);
  await printed('webhooks/a.yaml:1:1');
  await printed('2 definitions: ');
  // Editors write another file and rename it.
  workspace.write('webhooks/.a.yaml.swp', good);
  renameSync(workspace.path('webhooks/.a.yaml.swp'), workspace.path('webhooks/a.yaml'));
  await printed('2 definitions, all valid.');
  workspace.remove('webhooks');
  await printed('0 definitions');
  workspace.write('webhooks/c.yaml', good);
  await printed('1 definition, all valid.');
  const trigger = '{ provider: webhook, event: received, filter: { webhook: c } }';
  workspace.write('automations/d.yaml', `promptFile: prompts/d.md\ntriggers: [${trigger}]\n`);
  await printed('there is no file prompts/d.md');
  workspace.write('prompts/d.md', 'Do it.');
  await printed('2 definitions, all valid.');
  workspace.remove('automations');
  await printed('1 definition, all valid.');

  child.kill('SIGINT');
  expect((await child).exitCode).toBe(0);
});

test('validate --watch looks again after a switch of the branch', async () => {
  const workspace = makeWorkspace();
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], {
      cwd: workspace.directory,
    });
  const commit = (message: string) => {
    git('add', '.');
    git('commit', '-qm', message);
  };
  git('init', '-qb', 'main');
  workspace.write('webhooks/a.yaml', good);
  commit('one');
  git('switch', '-qc', 'other');
  git('rm', '-q', 'webhooks/a.yaml');
  for (const name of ['b', 'c', 'd'])
    workspace.write(`automations/${name}.yaml`, 'prompt: Do it.\ntriggers: []\n');
  commit('other');
  git('switch', '-q', 'main');
  const { printed } = startWatching(workspace, 'validate');
  await printed('1 definition, all valid.');
  git('switch', '-q', 'other');
  await printed('3 definitions');
  git('switch', '-q', 'main');
  await printed('1 definition, all valid.');
});

test('plan --watch plans again after each change of a definition, until Ctrl-C', async () => {
  const workspace = makeWorkspace();
  workspace.write('webhooks/a.yaml', good);
  await workspace.hookmill('secrets', 'generate', 'TOKEN');
  const { child, printed } = startWatching(workspace, 'plan');
  await printed('Plan: 1 to add');
  workspace.write('webhooks/b.yaml', good);
  await printed('Plan: 2 to add');
  workspace.write('webhooks/b.yaml', bad);
  await printed('webhooks/b.yaml:1:1');
  workspace.remove('webhooks/b.yaml');
  await printed('Plan: 1 to add');
  child.kill('SIGINT');
  expect((await child).exitCode).toBe(0);
});

test.for([
  ['validate', '--format', 'json'],
  ['validate', '-o', 'json'],
  ['plan', '-o', 'json'],
  ['plan', '--out', 'plan.json'],
  ['plan', '--detailed-exitcode'],
  ['validate', 'missing'],
])('%s %s %s is wrong usage with --watch', async words => {
  const workspace = makeWorkspace();
  workspace.write('webhooks/a.yaml', good);
  const { exitCode, stderr } = await workspace.hookmill(...words, '--watch');
  expect(stderr).toMatch(/--watch cannot be combined with -|missing: no such file or directory/);
  expect(exitCode).toBe(words.includes('--detailed-exitcode') ? 1 : 2);
});
