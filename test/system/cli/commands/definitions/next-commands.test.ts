import { expect, test } from 'vitest';
import { startManagedDaemon } from '../../../../support/management.ts';
import { makeWorkspace } from '../../../../support/workspace.ts';

test('the commands that a message names have the directory, home and factory that this one was given', async () => {
  const { hookmill, write } = makeWorkspace();
  write('a b/webhooks/a.yaml', 'secretName: TOKEN\n');
  const place = ['-C', 'a b', '--home=h', '--factory', 'shop'];
  const given = "hookmill -C 'a b' --home h --factory shop";
  expect((await hookmill(...place, 'plan')).stderr).toContain(
    `create it with \`${given} secrets generate TOKEN\``,
  );
  const set = await hookmill('secrets', 'generate', 'TOKEN', ...place);
  expect(set.stderr).toContain(`Run \`${given} apply\``);
  const { stdout } = await hookmill(...place, 'add', 'github');
  expect(stdout).toContain(`\n       ${given} apply\n`);
  expect((await hookmill('-Ca b', 'status')).stdout).toContain("`hookmill -C 'a b' serve`");
  expect((await hookmill('status')).stdout).toContain('`hookmill serve`');
});

test('with --server, commands have the server, except those that need its home', async () => {
  const daemon = await startManagedDaemon();
  const { token } = await daemon.client();
  const { hookmill, write } = makeWorkspace();
  write('webhooks/a.yaml', 'secretName: TOKEN\n');
  const place = ['--server', daemon.managementUrl, '--factory', 'default'];
  const env = { HOOKMILL_TOKEN: token };
  const { stdout } = await hookmill(...place, 'status', { env });
  expect(stdout).toContain(`run \`hookmill ${place.join(' ')} plan\``);
  expect((await hookmill(...place, 'plan', { env })).stderr).toContain('`hookmill secrets generate TOKEN`');
});

test('a home is announced by the command that makes it, and by no other', async () => {
  const { hookmill, home } = makeWorkspace();
  expect((await hookmill('secrets', 'list')).stderr).toBe('');
  const announced = `Created the home ${home}, `;
  const first = await hookmill('secrets', 'declare', 'A');
  expect(first.stderr.split('\n')).toContainEqual(expect.stringContaining(announced));
  expect((await hookmill('secrets', 'declare', 'B')).stderr).not.toContain(announced);
});

test.for<[string[], string]>([
  [['add', 'gitlab'], 'did you mean gitlab-signing-token or gitlab-token?'],
  [['add', 'azure'], 'did you mean azure-devops?'],
  [
    ['deliveries', 'list', '--outcome', 'reject'],
    'did you mean Rejected (auth), Rejected (invalid JSON) or Rejected',
  ],
  [['runs', 'list', '--state', 'fail'], '(did you mean failed?)'],
  [['validate', '--format', 'jsn'], 'Did you mean json? Use text, json, github, sarif, gitlab or junit.'],
  [['schema', 'autom'], 'Did you mean automation?'],
  [['-o', 'jso', 'status'], 'Did you mean json or json-schema?'],
  [['init', '--ci', 'git'], 'Did you mean github or gitlab?'],
  [['secrets', 'generate', 'X', '--format', 'jwt'], 'Use token or whsec.'],
])('%j names the values that may be meant', async ([words, message]) => {
  expect(await makeWorkspace().hookmill(...words)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(message),
  });
});

test('a missing team secret is no secret of another provider or scheme, and is generated unless the provider issues it', async () => {
  const { hookmill, write } = makeWorkspace();
  const hint = async (scheme: string, secretName: string) => {
    write('webhooks/a.yaml', `authMode: signature\nsignatureScheme: ${scheme}\nsecretName: ${secretName}\n`);
    return / hint: (.*)/.exec((await hookmill('plan')).stderr)?.[1];
  };
  await hookmill('secrets', 'generate', 'GITHUB_WEBHOOK');
  await hookmill('secrets', 'generate', 'PAYMENTS');
  expect(await hint('gitlab-token', 'GITLAB_WEBHOOK')).toBe(
    'create it with `hookmill secrets generate GITLAB_WEBHOOK`',
  );
  expect(await hint('github', 'GITHBU_WEBHOOK')).toBe('did you mean GITHUB_WEBHOOK?');
  expect(await hint('stripe', 'PAYMENT')).toBe('did you mean PAYMENTS?');
  write('webhooks/b.yaml', 'authMode: signature\nsignatureScheme: paddle\nsecretName: PAYMENTS\n');
  expect(await hint('stripe', 'PAYMENT')).toBe('create it with `hookmill secrets set PAYMENT`');
});

test('a secret of the wrong kind for Standard Webhooks names the command that makes the right one', async () => {
  const { hookmill, write } = makeWorkspace();
  write('webhooks/a.yaml', 'authMode: signature\nsignatureScheme: standard-webhooks\nsecretName: BILLING\n');
  await hookmill('secrets', 'set', 'BILLING', { stdin: 'no base64 at all' });
  const [, command = ''] = /run `hookmill (.*--format.*)`/.exec((await hookmill('plan')).stderr) ?? [];
  expect(command).toBe('secrets generate BILLING --format whsec');
  await hookmill(...command.split(' '));
  expect((await hookmill('apply')).exitCode).toBe(0);
});
