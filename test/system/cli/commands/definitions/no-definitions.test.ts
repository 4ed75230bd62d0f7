import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { makeWorkspace, type Workspace } from '../../../../support/workspace.ts';

const webhook = 'secretName: TOKEN\n';

async function run(workspace: Workspace, ...words: string[]) {
  const { stdout, stderr, exitCode } = await workspace.hookmill(...words);
  return { exitCode, printed: stdout + stderr };
}

describe('a directory without definitions', () => {
  test('is an error that names where hookmill looked, for validate, plan and apply', async () => {
    const workspace = makeWorkspace();
    for (const command of ['validate', 'plan', 'apply']) {
      const { exitCode, printed } = await run(workspace, command);
      expect(printed).toContain(
        `webhooks: error: no definitions found in webhooks/ and automations/ of ${workspace.directory} [factory/no-definitions]`,
      );
      expect(printed).toContain(
        'hint: write webhooks/<name>.yaml, or name the definitions directory with -C',
      );
      expect({ command, exitCode }).toEqual({ command, exitCode: 1 });
    }
    const named = await run(workspace, 'validate', '.');
    expect(named).toMatchObject({ exitCode: 1, printed: expect.stringContaining('factory/no-definitions') });
  });

  test.for(['webhook', 'Webhooks', 'webhoks', 'automation'])(
    'that has the folder %s is told how to name it',
    async folder => {
      const workspace = makeWorkspace();
      workspace.write(`${folder}/a.yaml`, webhook);
      const { exitCode, printed } = await run(workspace, 'validate');
      const meant = folder === 'automation' ? 'automations' : 'webhooks';
      expect(printed).toContain(`hint: rename ${folder}/ to ${meant}/`);
      expect(exitCode).toBe(1);
    },
  );

  test('has only a warning if its folders exist, so that the last webhook can be destroyed', async () => {
    const workspace = makeWorkspace();
    await workspace.hookmill('init', '--ci', 'none');
    expect(await run(workspace, 'validate')).toMatchObject({
      exitCode: 0,
      printed: expect.stringContaining('webhooks: warning: no definitions found'),
    });
    workspace.write('webhooks/a.yaml', webhook);
    await workspace.hookmill('secrets', 'generate', 'TOKEN');
    await workspace.hookmill('apply');
    workspace.remove('webhooks/a.yaml');
    const destroyed = await run(workspace, 'apply', '--yes');
    expect(destroyed).toMatchObject({ exitCode: 0, printed: expect.stringContaining('1 to destroy') });
  });
});

test('warns about a folder of definitions whose name is nearly right, beside others', async () => {
  const workspace = makeWorkspace();
  workspace.write('webhooks/a.yaml', webhook);
  workspace.write('automation/b.yaml', 'prompt: x\n');
  workspace.write('hooks/c.yaml', 'x: 1\n');
  workspace.write('webhook/README.md', 'no definition\n');
  const { exitCode, printed } = await run(workspace, 'validate');
  expect(printed).toContain('automation: warning: the definitions in automation/ are ignored');
  expect(printed).toContain('1 definition: 0 errors, 1 warning.');
  expect(exitCode).toBe(0);
});

describe('a home', () => {
  test('is ignored by git, whatever its name and whichever command made it', async () => {
    const workspace = makeWorkspace();
    workspace.write('automations/a.yaml', 'prompt: x\ntriggers: []\n');
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: workspace.directory, encoding: 'utf8' });
    git('init', '-q');
    const commands = [
      ['secrets', 'generate', 'TOKEN'],
      ['tokens', 'create', 'me'],
      ['apply'],
      ['reconcile', '--once', '--repository', 'https://127.0.0.1:1/hooks.git'],
    ];
    for (const [index, words] of commands.entries()) {
      await workspace.hookmill(...words, '--home', `ops/state-${index}`);
      expect(workspace.read(`ops/state-${index}/.gitignore`)).toMatch(/^\*$/m);
    }
    expect(git('status', '--porcelain', '--untracked-files=all')).toBe('?? automations/a.yaml\n');
  });

  test('that was made by hand is ignored too', async () => {
    const workspace = makeWorkspace();
    workspace.write('.hookmill/key', `${Buffer.alloc(32).toString('base64')}\n`);
    chmodSync(workspace.path('.hookmill'), 0o700);
    chmodSync(workspace.path('.hookmill/key'), 0o600);
    await workspace.hookmill('secrets', 'generate', 'TOKEN');
    expect(workspace.read('.hookmill/.gitignore')).toMatch(/^\*$/m);
    workspace.remove('.hookmill/.gitignore');
    await workspace.hookmill('secrets', 'generate', 'OTHER');
    expect(workspace.read('.hookmill/.gitignore')).toMatch(/^\*$/m);
  });

  test('that is a directory with other files gets no .gitignore', async () => {
    const workspace = makeWorkspace();
    workspace.write('webhooks/a.yaml', webhook);
    await workspace.hookmill('secrets', 'generate', 'TOKEN', '--home', '.');
    expect(() => workspace.read('.gitignore')).toThrow('ENOENT');
  });

  test('that git tracks makes validate warn, whichever of its files that is', async () => {
    const workspace = makeWorkspace();
    workspace.write('defs/webhooks/a.yaml', webhook);
    const git = (...args: string[]) => execFileSync('git', args, { cwd: workspace.directory });
    git('init', '-q');
    git('add', 'defs');
    const tracked = {
      '.hookmill': ['-A', '-f', '.hookmill'],
      'ops/state': ['-f', 'ops/state/key'],
      state: ['-f', 'state/secrets.json'],
      x: ['-f', 'x/applied/default.json'],
    };
    for (const [home, added] of Object.entries(tracked)) {
      await workspace.hookmill('secrets', 'generate', 'TOKEN', '--home', home);
      await workspace.hookmill('-C', 'defs', 'apply', '--home', home);
      const remedy = `git rm -r --cached ${home}\``;
      expect((await run(workspace, '-C', 'defs', 'validate')).printed).not.toContain(remedy);
      git('add', ...added);
      const { exitCode, printed } = await run(workspace, '-C', 'defs', 'validate');
      expect(printed).toMatch(/^\.\.\/\S+: warning: git tracks .*\[home\/tracked\]$/m);
      expect(printed).toContain(remedy);
      expect(exitCode).toBe(0);
      const annotated = await run(workspace, '-C', 'defs', 'validate', '--format', 'github');
      expect(annotated.printed).toContain(`::warning file=${home}/`);
    }
  });

  test('is not suspected where a file only has such a name', async () => {
    const workspace = makeWorkspace();
    workspace.write('webhooks/a.yaml', webhook);
    workspace.write('app/key', 'ssh-rsa AAAA\n');
    workspace.write('app/secrets.json', '{"names": []}\n');
    execFileSync('git', ['init', '-q'], { cwd: workspace.directory });
    execFileSync('git', ['add', '-A'], { cwd: workspace.directory });
    expect((await run(workspace, 'validate')).printed).not.toContain('home/tracked');
  });
});
