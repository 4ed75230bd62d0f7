import { mkdirSync } from 'node:fs';
import { execa } from 'execa';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeWorkspace, type Workspace } from '../../../../support/workspace.ts';

const wrong = 'secretName: 12\n';
const right = 'secretName: DEPLOYS_TOKEN\n';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});

async function git(...args: string[]): Promise<string> {
  const identity = ['-c', 'user.name=A', '-c', 'user.email=a@example.com', '-c', 'init.defaultBranch=main'];
  const { stdout } = await execa('git', [...identity, ...args], { cwd: workspace.directory });
  return stdout;
}

async function commit(message: string): Promise<void> {
  await git('add', '--all');
  await git('commit', '--quiet', '--message', message);
}

describe('the format', () => {
  const github = { GITHUB_ACTIONS: 'true' };
  const gitlab = { GITLAB_CI: 'true' };

  test.for([
    ['workflow commands in GitHub Actions', [], github, /^::error file=webhooks\/a\.yaml,line=1,/],
    ['a Code Quality report in GitLab CI', [], gitlab, /^\[\s+\{\s+"description"/],
    ['text elsewhere', [], {}, /^webhooks\/a\.yaml:1:13: error: /],
    ['what --format says, wherever', ['--format', 'junit'], github, /^<\?xml /],
    ['text in GitHub Actions if it is asked for', ['--format', 'text'], github, /^webhooks\/a\.yaml:1:13/],
    ['JSON with -o json, wherever', ['-o', 'json'], gitlab, /^\{\s+"valid": false/],
    ['text with -o text, wherever', ['-o', 'text'], gitlab, /^webhooks\/a\.yaml:1:13/],
  ] as const)('is %s', async ([_, args, env, expected]) => {
    workspace.write('webhooks/a.yaml', wrong);
    const { stdout, exitCode } = await workspace.hookmill('validate', ...args, { env });
    expect(stdout).toMatch(expected);
    expect(exitCode).toBe(1);
  });

  test.for(['sarif', 'gitlab', 'junit'])('%s goes with text on standard error, for the log', async format => {
    workspace.write('webhooks/a.yaml', wrong);
    const { stderr } = await workspace.hookmill('validate', '--format', format);
    expect(stderr).toContain('webhooks/a.yaml:1:13: error: secretName must be a string');
    expect(stderr).toContain('1 definition: 1 error, 0 warnings.');
  });

  test('is refused if it does not exist', async () => {
    const { stderr, exitCode } = await workspace.hookmill('validate', '--format', 'xml');
    expect(stderr).toContain("'xml' is invalid. Use text, json, github, sarif, gitlab or junit.");
    expect(exitCode).toBe(2);
  });
});

describe('files in reports', () => {
  const sarifFile = (stdout: string) =>
    JSON.parse(stdout).runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri;

  test('are named from the root of the repository, from wherever it is run', async () => {
    await git('init', '--quiet');
    workspace.write('teams/pay/webhooks/a.yaml', wrong);
    const fromTeam = await workspace.hookmill('-C', 'teams/pay', 'validate', '--format', 'sarif');
    expect(sarifFile(fromTeam.stdout)).toBe('teams/pay/webhooks/a.yaml');
    const given = await workspace.hookmill(
      '-C',
      'teams',
      'validate',
      'pay/webhooks/a.yaml',
      '--format',
      'github',
    );
    expect(given.stdout).toContain('file=teams/pay/webhooks/a.yaml,');
  });

  test.for([
    ['GITHUB_WORKSPACE', 'github'],
    ['CI_PROJECT_DIR', 'gitlab'],
  ] as const)('are named from %s where the checkout has no .git', async ([variable, format]) => {
    workspace.write('pay/webhooks/a.yaml', wrong);
    const env = { [variable]: workspace.directory };
    const { stdout } = await workspace.hookmill('-C', 'pay', 'validate', '--format', format, { env });
    expect(stdout).toMatch(/pay\/webhooks\/a\.yaml/);
  });
});

describe('--changed-since', () => {
  const files = async (...args: string[]) => {
    const { stdout, exitCode } = await workspace.hookmill(
      'validate',
      '-o',
      'json',
      '--changed-since',
      ...args,
    );
    return [exitCode, ...JSON.parse(stdout).diagnostics.map(({ file }: { file: string }) => file)];
  };

  test('reports files that were committed, changed or added since, and no other', async () => {
    await git('init', '--quiet');
    workspace.write('webhooks/untouched.yaml', wrong);
    workspace.write('webhooks/changed.yaml', right);
    await commit('base');
    await git('switch', '--quiet', '--create', 'topic');
    workspace.write('webhooks/ünsere deploys.yaml', wrong);
    workspace.write('webhooks/committed.yaml', wrong);
    await commit('topic');
    workspace.write('webhooks/changed.yaml', wrong);
    workspace.write('webhooks/new.yaml', wrong);
    expect(await files('main')).toEqual([
      1,
      'webhooks/changed.yaml',
      'webhooks/committed.yaml',
      'webhooks/new.yaml',
      'webhooks/ünsere deploys.yaml',
    ]);
    expect(await files('HEAD')).toEqual([1, 'webhooks/changed.yaml', 'webhooks/new.yaml']);
    expect((await workspace.hookmill('validate')).stdout).toContain('webhooks/untouched.yaml');
  });

  test('leaves out what others did on the branch meanwhile', async () => {
    await git('init', '--quiet');
    workspace.write('webhooks/theirs.yaml', wrong);
    await commit('base');
    await git('switch', '--quiet', '--create', 'topic');
    await git('switch', '--quiet', 'main');
    workspace.write('webhooks/theirs.yaml', right);
    await commit('main moves on');
    await git('switch', '--quiet', 'topic');
    expect(await files('main')).toEqual([0]);
  });

  test('finds the files of a definitions directory below the root', async () => {
    workspace.write('teams/pay/webhooks/a.yaml', wrong);
    await git('init', '--quiet');
    await commit('base');
    const validate = () => workspace.hookmill('-C', 'teams/pay', 'validate', '--changed-since', 'HEAD');
    // All mistakes were there before.
    expect(await validate()).toMatchObject({ exitCode: 0, stdout: '' });
    workspace.write('teams/pay/webhooks/a.yaml', `${wrong}enabled: true\n`);
    expect((await validate()).stdout).toContain('webhooks/a.yaml:1:13: error');
  });

  test('reports the one of two directories of one factory that changed', async () => {
    workspace.write('pay/webhooks/a.yaml', right);
    await git('init', '--quiet');
    await commit('base');
    workspace.write('ship/webhooks/b.yaml', right);
    expect(await files('HEAD', 'pay', 'ship')).toEqual([1, 'ship/hookmill.yaml']);
  });

  test('reports a fixture that its changed automation fails', async () => {
    const automation = (action: string) =>
      `prompt: x\ntriggers: [{ provider: webhook, event: received, filter: { webhook_ids: [wh_0123456789abcdefghijklmn], payload: { action: [${action}] } } }]\n`;
    workspace.write('automations/a.yaml', automation('failed'));
    workspace.write(
      'automations/a.fixtures/f.json',
      '{"expect": "trigger", "payload": {"action": "failed"}}',
    );
    await git('init', '--quiet');
    await commit('base');
    workspace.write('automations/a.yaml', automation('error'));
    expect(await files('HEAD')).toEqual([1, 'automations/a.fixtures/f.json']);
  });

  test('reports the webhook too many, whichever of them was added', async () => {
    for (let n = 10; n < 30; n++) workspace.write(`webhooks/w${n}.yaml`, right);
    await git('init', '--quiet');
    await commit('base');
    workspace.write('webhooks/a.yaml', right);
    expect(await files('HEAD')).toEqual([1, 'webhooks/w29.yaml']);
  });

  test('refuses what is no revision, and gives git no option', async () => {
    await git('init', '--quiet');
    workspace.write('webhooks/a.yaml', right);
    await commit('base');
    for (const revision of ['nowhere', 'webhooks/a.yaml', '--output=stolen', '', 'HEAD..HEAD']) {
      const { stderr, exitCode } = await workspace.hookmill('validate', `--changed-since=${revision}`);
      expect(stderr).toContain(`git does not know the revision "${revision}"`);
      expect(exitCode).toBe(2);
    }
    expect(await git('status', '--porcelain')).toBe('');
  });

  test('is wrong usage outside a repository', async () => {
    workspace.write('webhooks/a.yaml', right);
    const { stderr, exitCode } = await workspace.hookmill('validate', '--changed-since', 'HEAD');
    expect(stderr).toMatch(/^hookmill: --changed-since: .*not a git repository/);
    expect(exitCode).toBe(2);
  });

  test('works with the variables of a CI, a git hook and an editor', async () => {
    await git('init', '--quiet');
    workspace.write('webhooks/a.yaml', wrong);
    await commit('base');
    const settings = {
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'url.https://x/.insteadOf',
      GIT_CONFIG_VALUE_0: 'x:',
    };
    const hook = {
      GIT_INDEX_FILE: '.git/index',
      GIT_EDITOR: 'vi',
      GIT_PREFIX: '',
      PAGER: 'less',
      SSH_ASKPASS: 'ask',
    };
    const env = { ...settings, ...hook };
    const { stderr, exitCode } = await workspace.hookmill('validate', '--changed-since', 'HEAD', { env });
    expect([stderr, exitCode]).toEqual(['1 definition, all valid.\n', 0]);
  });

  test('says what is missing where there is no git', async () => {
    workspace.write('webhooks/a.yaml', right);
    const env = { PATH: workspace.directory };
    const { stderr } = await workspace.hookmill('validate', '--changed-since', 'HEAD', { env });
    expect(stderr).toContain('git cannot be executed; install git');
  });

  test('works where the history ends between the two, as in a shallow clone', async () => {
    await git('init', '--quiet');
    workspace.write('webhooks/a.yaml', right);
    await commit('base');
    await git('switch', '--quiet', '--orphan', 'topic');
    mkdirSync(workspace.path('webhooks'), { recursive: true });
    workspace.write('webhooks/b.yaml', wrong);
    await commit('topic');
    expect(await files('main')).toEqual([1, 'webhooks/b.yaml']);
  });
});

describe('--secrets-from', () => {
  beforeEach(() => {
    workspace.write('webhooks/deploys.yaml', right);
  });
  const validate = () => workspace.hookmill('validate', '--secrets-from', 'names.txt');

  test('takes names one a line, with comments and blank lines', async () => {
    workspace.write('names.txt', '# ours\r\n\r\nDEPLOYS_TOKEN\r\n  OTHER  \n');
    expect(await validate()).toMatchObject({ exitCode: 0, stderr: '1 definition, all valid.\n' });
  });

  test('reports a secretName that is not among them, with the nearest that is', async () => {
    workspace.write('names.txt', 'DEPLOY_TOKEN\n');
    const { stdout, exitCode } = await validate();
    expect(stdout).toContain(
      'webhooks/deploys.yaml:1:13: error: there is no team secret DEPLOYS_TOKEN [secret/missing]',
    );
    expect(stdout).toContain('hint: did you mean DEPLOY_TOKEN?');
    expect(exitCode).toBe(1);
  });

  test('never prints a line that is no name: it may be a value', async () => {
    workspace.write('names.txt', 'DEPLOYS_TOKEN\nDEPLOYS_TOKEN=correct-horse\n');
    const { stdout, stderr, exitCode } = await validate();
    expect(stdout + stderr).not.toContain('correct-horse');
    expect(stderr).toContain('names.txt:2: not the name of a team secret');
    expect(exitCode).toBe(2);
  });

  test('is wrong usage if the file is not there', async () => {
    const { stderr, exitCode } = await validate();
    expect(stderr).toBe('hookmill: names.txt cannot be read (ENOENT)\n');
    expect(exitCode).toBe(2);
  });
});

test('a trigger that has a file instead of a UID gets a hint how to name its webhook', async () => {
  workspace.write('webhooks/deploys.yaml', right);
  workspace.write(
    'automations/a.yaml',
    'prompt: x\ntriggers: [{ provider: webhook, event: received, filter: { webhook_ids: [webhooks/deploys.yaml] } }]\n',
  );
  const { stdout } = await workspace.hookmill('validate');
  expect(stdout).toContain('hint: write webhook: deploys to select a webhook by its name');
});
