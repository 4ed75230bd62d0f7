import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { makeWorkspace } from '../../../../support/workspace.ts';

const ciFiles = ['.github/workflows/hookmill.yml', '.gitlab-ci.yml', '.pre-commit-config.yaml'];

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
      readFileSync(join(import.meta.dirname, `../../../../../schema/json/${kind}.schema.json`), 'utf8'),
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
  expect(workflow.jobs.hookmill.strategy.matrix.directory).toEqual(['infra/web hooks']);
  const jobs = parse(workspace.read('.gitlab-ci.yml'));
  expect(jobs['.hookmill'].parallel.matrix).toEqual([{ HOOKMILL_DIRECTORY: ['infra/web hooks'] }]);
  const [{ hooks }] = parse(workspace.read('.pre-commit-config.yaml')).repos;
  expect(hooks[0]).toMatchObject({ entry: 'hookmill validate', args: ['infra/web hooks'] });
  const files = new RegExp(hooks[0].files);
  expect(files.test('infra/web hooks/webhooks/a.yaml')).toBe(true);
  expect(files.test('infra/web hooks/hookmill.yaml')).toBe(true);
  expect(files.test('src/webhooks.ts')).toBe(false);
});

test('init in a second folder adds it to what CI and pre-commit cover, and a third time changes nothing', async () => {
  const workspace = makeWorkspace();
  mkdirSync(workspace.path('.git'));
  await workspace.hookmill('init', 'teams/pay');
  const own = '# by hand\nextra: true\n';
  for (const file of ciFiles)
    workspace.write(file, workspace.read(file).concat(file.startsWith('.pre') ? '' : own));
  const before = ciFiles.map(file => workspace.read(file));
  const { stdout } = await workspace.hookmill('init', 'teams/it: ops', '--factory', 'ops');
  for (const [index, file] of ciFiles.entries()) {
    expect(stdout).toContain(`changed  ${file}\n`);
    const text = workspace.read(file);
    const added = text.split('\n').filter(line => line.includes('it: ops'));
    expect(added).toEqual([expect.stringMatching(/^ +- "teams\/it: ops"$/)]);
    expect(text.replace(`${added[0]}\n`, '')).toBe(before[index]);
  }
  const workflow = parse(workspace.read('.github/workflows/hookmill.yml'));
  expect(workflow.jobs.hookmill.strategy.matrix.directory).toEqual(['teams/pay', 'teams/it: ops']);
  const after = ciFiles.map(file => workspace.read(file));
  const again = JSON.parse((await workspace.hookmill('init', 'teams/it: ops', '-o', 'json')).stdout);
  expect(again).toMatchObject({ created: [], changed: [] });
  expect(ciFiles.map(file => workspace.read(file))).toEqual(after);
});

describe('a second directory takes its own name as the factory', () => {
  test.for<[string, string, Record<string, string>]>([
    ['after an init, committed or not', 'teams/it: Ops', { 'teams/pay/hookmill.yaml': 'factory: default\n' }],
    [
      'beside definitions without hookmill.yaml',
      'teams/it: Ops',
      { 'pay/webhooks/a.yaml': 'secretName: S\n' },
    ],
    [
      'with its path if another directory has the name',
      'teams/it-ops',
      { 'other/it-ops/hookmill.yaml': 'factory: it-ops\n' },
    ],
  ])('%s', async ([_, directory, files]) => {
    const workspace = makeWorkspace();
    execFileSync('git', ['init', '--quiet'], { cwd: workspace.directory });
    for (const [file, content] of Object.entries(files)) workspace.write(file, content);
    const [other = ''] = Object.keys(files);
    const taken = dirname(other).replace(/\/webhooks$/, '');
    const name = directory === 'teams/it-ops' ? 'teams-it-ops' : 'it-ops';
    const { stdout } = await workspace.hookmill('init', directory);
    expect(stdout).toContain(`The factory of this directory is ${name}, because ${taken} is another`);
    expect(workspace.read(`${directory}/hookmill.yaml`)).toContain(`\nfactory: ${name}\n`);
    expect(JSON.parse((await workspace.hookmill('init', directory, '-o', 'json')).stdout).factory).toBe(name);
  });

  test('if the home has a factory default of another directory, unless --factory names one', async () => {
    const workspace = makeWorkspace();
    workspace.write('pay/webhooks/a.yaml', 'secretName: S\n');
    const home = ['--home', workspace.path('home')];
    await workspace.hookmill('-C', 'pay', ...home, 'secrets', 'generate', 'S');
    await workspace.hookmill('-C', 'pay', ...home, 'apply');
    const { stdout } = await workspace.hookmill(...home, 'init', 'ship');
    expect(stdout).toContain(`because the home has the factory default of ${workspace.path('pay')}`);
    expect(workspace.read('ship/hookmill.yaml')).toContain('\nfactory: ship\n');
    await workspace.hookmill(...home, 'init', 'ops', '--factory', 'default');
    expect(workspace.read('ops/hookmill.yaml')).toContain('\nfactory: default\n');
    await workspace.hookmill('init', 'alone');
    expect(workspace.read('alone/hookmill.yaml')).toContain('\nfactory: default\n');
  });

  test('and asks for one if the directory cannot name it', async () => {
    const workspace = makeWorkspace();
    execFileSync('git', ['init', '--quiet'], { cwd: workspace.directory });
    workspace.write('pay/hookmill.yaml', '');
    expect(await workspace.hookmill('init', '決済')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('name it with --factory: pay is another definitions directory'),
    });
  });
});

test('says what CI does not cover, if its file is not from init', async () => {
  const workspace = makeWorkspace();
  mkdirSync(workspace.path('.git'));
  for (const file of ciFiles) workspace.write(file, 'jobs: {}\n');
  const { stdout } = await workspace.hookmill('init', 'teams/pay');
  for (const file of ciFiles) {
    expect(stdout).toContain(`kept     ${file}\n`);
    const step = `${file} is not from init, so it does not cover this directory: let it run hookmill -C teams/pay validate`;
    expect(stdout).toContain(step);
    expect(workspace.read(file)).toBe('jobs: {}\n');
  }
});

test.for([
  [
    'the remote is at GitHub',
    '.git/config',
    remote('git@github.com:acme/hooks.git'),
    ['.github/workflows/hookmill.yml'],
  ],
  ['the remote is at GitLab', '.git/config', remote('https://gitlab.example.com/a.git'), ['.gitlab-ci.yml']],
  ['there are workflows', '.github/workflows/test.yml', 'on: push\n', ['.github/workflows/hookmill.yml']],
  ['nothing says', 'README.md', 'x\n', ['.github/workflows/hookmill.yml', '.gitlab-ci.yml']],
] as const)('writes jobs for the host of the repository: %s', async ([, file, content, expected]) => {
  const workspace = makeWorkspace();
  mkdirSync(workspace.path('.git'));
  workspace.write(file, content);
  const { created } = JSON.parse((await workspace.hookmill('init', '-o', 'json')).stdout);
  expect(created.filter((name: string) => ciFiles.slice(0, 2).includes(name))).toEqual(expected);
});

function remote(url: string): string {
  return `[core]\n\tbare = false\n[remote "origin"]\n\turl = ${url}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`;
}

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
