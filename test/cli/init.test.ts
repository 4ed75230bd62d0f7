import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { makeWorkspace } from '../support/workspace.ts';

test('scaffolds a repository that validates and applies as it is', async () => {
  const workspace = makeWorkspace();
  const { exitCode, stdout } = await workspace.hookmill('init');
  expect(exitCode).toBe(0);
  expect(stdout).toContain('created  hookmill.yaml\n');
  expect(stdout).not.toContain('kept');
  expect(workspace.read('.gitignore')).toContain('.hookmill/\n');
  expect((await workspace.hookmill('validate')).exitCode).toBe(0);
  expect((await workspace.hookmill('apply')).exitCode).toBe(0);
});

test('keeps every file that exists, and lists it', async () => {
  const workspace = makeWorkspace();
  const own = [
    'hookmill.yaml',
    '.gitlab-ci.yml',
    '.pre-commit-config.yaml',
    '.github/workflows/hookmill.yml',
  ];
  for (const file of own) workspace.write(file, `# mine: ${file}\n`);
  const { stdout } = await workspace.hookmill('init', '-o', 'json');
  const { created, kept } = JSON.parse(stdout);
  expect(kept.sort()).toEqual([...own].sort());
  expect(created).toContain('webhooks/.gitkeep');
  for (const file of own) expect(workspace.read(file)).toBe(`# mine: ${file}\n`);
  const again = JSON.parse((await workspace.hookmill('init', '-o', 'json')).stdout);
  expect(again.created).toEqual([]);
});

test('each schema that a file points the editor at is there, as it is shipped', async () => {
  const workspace = makeWorkspace();
  await workspace.hookmill('init');
  await workspace.hookmill('add', 'github');
  for (const [file, kind] of [
    ['hookmill.yaml', 'workspace'],
    ['webhooks/github.yaml', 'webhook'],
  ] as const) {
    const [, path = ''] = /\$schema=(\S+)/.exec(workspace.read(file)) ?? [];
    const schema = workspace.read(join(dirname(file), path));
    expect(schema).toBe(
      readFileSync(join(import.meta.dirname, `../../schema/json/${kind}.schema.json`), 'utf8'),
    );
  }
  expect(readdirSync(workspace.path('.hookmill-schemas'))).toHaveLength(3);
});

test('warns where a .gitignore of one’s own would let the key into git', async () => {
  const workspace = makeWorkspace();
  workspace.write('.gitignore', 'node_modules/\n');
  expect((await workspace.hookmill('init')).stdout).toContain('1. Add .hookmill/ and *.plan to .gitignore');
  workspace.write('.gitignore', 'node_modules/\n/.hookmill\n*.plan\n');
  expect((await workspace.hookmill('init')).stdout).not.toContain('to .gitignore');
});

test('in a folder of a repository, CI and pre-commit are set up at its root, for that folder', async () => {
  const workspace = makeWorkspace();
  mkdirSync(workspace.path('.git'));
  await workspace.hookmill('init', 'infra/web hooks', '--factory', 'payments');
  expect(workspace.read('infra/web hooks/hookmill.yaml')).toContain('factory: payments\n');
  const workflow = parse(workspace.read('.github/workflows/hookmill.yml'));
  expect(workflow.jobs.validate.steps.at(-1).run).toContain("-C 'infra/web hooks' validate");
  const [{ hooks }] = parse(workspace.read('.pre-commit-config.yaml')).repos;
  expect(hooks[0].entry).toBe("hookmill -C 'infra/web hooks' validate");
  const files = new RegExp(hooks[0].files);
  expect(files.test('infra/web hooks/webhooks/a.yaml')).toBe(true);
  expect(files.test('infra/web hooks/hookmill.yaml')).toBe(true);
  expect(files.test('webhooks/a.yaml')).toBe(false);
});

test('--ci chooses whose workflow is written', async () => {
  const workspace = makeWorkspace();
  await workspace.hookmill('init', 'a', '--ci', 'gitlab');
  await workspace.hookmill('init', 'b', '--ci', 'none');
  expect(readdirSync(workspace.path('a'))).toContain('.gitlab-ci.yml');
  expect(readdirSync(workspace.path('a'))).not.toContain('.github');
  expect(readdirSync(workspace.path('b'))).not.toContain('.gitlab-ci.yml');
});

test('the next steps are commands that work from where the user is', async () => {
  const workspace = makeWorkspace();
  const { stdout } = await workspace.hookmill('init', 'hooks');
  const commands = [...stdout.matchAll(/^ {7}hookmill (.*)$/gm)].map(([, words = '']) => words);
  expect(commands).not.toEqual([]);
  for (const command of commands) {
    expect((await workspace.hookmill(...command.split(' '))).exitCode).toBe(0);
  }
});

test('names the file that is in the way of a folder, and does not change it', async () => {
  const workspace = makeWorkspace();
  workspace.write('webhooks', 'a file');
  const { exitCode, stderr } = await workspace.hookmill('init');
  expect(exitCode).toBe(1);
  expect(stderr).toContain('webhooks/.gitkeep cannot be written');
  expect(workspace.read('webhooks')).toBe('a file');
});
