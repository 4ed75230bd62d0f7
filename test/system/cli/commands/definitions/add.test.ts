import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeWorkspace } from '../../../../support/workspace.ts';

test('writes a definition that validates, and says where to put the secret at the provider', async () => {
  const workspace = makeWorkspace();
  const { exitCode, stdout, stderr } = await workspace.hookmill('add', 'stripe');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: 'Wrote webhooks/stripe.yaml.\n' });
  expect(stdout).toContain('hookmill secrets declare STRIPE_WEBHOOK');
  expect(stdout).toContain('the endpoint\'s page in Workbench, under "Signing secret"');
  expect(stdout).toContain('https://docs.stripe.com/webhooks/signature');
  expect(workspace.read('webhooks/stripe.yaml')).toBe(
    'authMode: signature\nsignatureScheme: stripe\nsecretName: STRIPE_WEBHOOK\n',
  );
  expect((await workspace.hookmill('validate')).exitCode).toBe(0);
});

test('its steps, done as they are printed, lead to an applied webhook', async () => {
  const workspace = makeWorkspace();
  const { stdout } = await workspace.hookmill('add', 'token', '--name', 'deploys', '-o', 'json');
  const { steps }: { steps: { run?: string }[] } = JSON.parse(stdout);
  for (const { run } of steps) if (run) await workspace.hookmill(...run.split(' '));
  const webhooks = JSON.parse((await workspace.hookmill('webhooks', 'list', '-o', 'json')).stdout);
  expect(webhooks).toMatchObject([{ name: 'deploys', authMode: 'token', secretName: 'DEPLOYS_TOKEN' }]);
});

test('takes names of one’s own', async () => {
  const workspace = makeWorkspace();
  await workspace.hookmill('add', 'github', '--name', 'releases', '--secret-name', 'GH_RELEASES');
  expect(workspace.read('webhooks/releases.yaml')).toContain('secretName: GH_RELEASES\n');
});

test('prints commands that work from where the user is', async () => {
  const workspace = makeWorkspace();
  mkdirSync(workspace.path("it's hooks"));
  const { stdout } = await workspace.hookmill('-C', "it's hooks", 'add', 'github');
  expect(stdout).toContain(String.raw`hookmill -C 'it'\''s hooks' apply`);
});

test('a dry run shows the definition and writes nothing', async () => {
  const workspace = makeWorkspace();
  const { stdout, stderr } = await workspace.hookmill('add', 'github', '--dry-run');
  expect(stdout).toMatch(/^authMode: signature\nsignatureScheme: github\n/);
  expect(stderr).toBe('Would write webhooks/github.yaml.\n');
  expect(existsSync(workspace.path('webhooks'))).toBe(false);
});

test('points the editor at the schema where init has put it', async () => {
  const workspace = makeWorkspace();
  workspace.write('.hookmill-schemas/webhook.schema.json', '{}');
  await workspace.hookmill('add', 'github');
  expect(workspace.read('webhooks/github.yaml')).toMatch(
    /^# yaml-language-server: \$schema=\.\.\/\.hookmill-schemas\/webhook\.schema\.json\nauthMode/,
  );
});

test('overwrites neither a definition nor the target of a link', async () => {
  const workspace = makeWorkspace();
  workspace.write('webhooks/github.yaml', 'secretName: MINE\n');
  workspace.write('precious', 'precious');
  symlinkSync('../precious', workspace.path('webhooks/stripe.yaml'));
  symlinkSync('../nowhere', workspace.path('webhooks/slack.yaml'));
  for (const name of ['github', 'stripe', 'slack']) {
    const { exitCode, stderr } = await workspace.hookmill('add', name);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`webhooks/${name}.yaml already exists`);
  }
  expect(workspace.read('webhooks/github.yaml')).toBe('secretName: MINE\n');
  expect(workspace.read('precious')).toBe('precious');
  expect(existsSync(workspace.path('nowhere'))).toBe(false);
});

test.each([
  ['a misspelt scheme', ['strip'], 'did you mean stripe?'],
  ['a misspelt mode', ['url-token'], 'did you mean url_token?'],
  ['a mode without a name', ['token'], '--name is required with token'],
  ['a name that no file may have', ['github', '--name', '../x'], '"../x" cannot name a webhook'],
  [
    'a name that no secret may have',
    ['github', '--secret-name', 'a b'],
    '--secret-name: this is not a valid name for a team secret',
  ],
])('refuses %s as wrong usage', async (_, args, message) => {
  const workspace = makeWorkspace();
  const { exitCode, stderr } = await workspace.hookmill('add', ...args);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(message);
  expect(existsSync(workspace.path('webhooks'))).toBe(false);
});
