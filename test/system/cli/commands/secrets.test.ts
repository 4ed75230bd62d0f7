import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeUpstream, webhook } from '../../../support/git-samples.ts';
import { makeWorkspace, type Workspace } from '../../../support/workspace.ts';

interface StoredSecret {
  readonly name: string;
  readonly updatedAt: string;
  readonly value?: { readonly version: string; readonly jwe: string };
}

function stored(workspace: Workspace): StoredSecret[] {
  return JSON.parse(workspace.read('.hookmill/secrets.json')).secrets;
}

/** Reads the applied digest of a token webhook, which shows which value was applied. */
async function digestInForce(workspace: Workspace, name: string): Promise<string> {
  const { webhooks } = JSON.parse(workspace.read('.hookmill/applied/default.json'));
  return webhooks.find((webhook: { name: string }) => webhook.name === name).credential.sha256;
}

async function sha256(text: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(text))).toString('hex');
}

describe('set', () => {
  test.for([
    ['a-plain-value-of-a-token', 'a-plain-value-of-a-token'],
    ['with-a-line-end-at-its-end\n', 'with-a-line-end-at-its-end'],
    ['with-the-line-end-of-windows\r\n', 'with-the-line-end-of-windows'],
  ])('takes %j from standard input as %j', async ([stdin, value]) => {
    const workspace = makeWorkspace();
    workspace.write('webhooks/a.yaml', 'secretName: TOKEN\n');
    const { stdout, stderr, exitCode } = await workspace.hookmill('secrets', 'set', 'TOKEN', { stdin });
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 0 });
    expect(stderr).toContain('Set TOKEN. Run `hookmill apply` for webhooks to use the new value.\n');
    await workspace.hookmill('apply');
    expect(await digestInForce(workspace, 'a')).toBe(await sha256(value ?? ''));
  });

  test('removes at most one line end, so that apply finds any other', async () => {
    const workspace = makeWorkspace();
    workspace.write('webhooks/a.yaml', 'secretName: TOKEN\n');
    await workspace.hookmill('secrets', 'set', 'TOKEN', { stdin: 'two-line-ends\n\n' });
    const { stderr, exitCode } = await workspace.hookmill('apply');
    expect(stderr).toContain('[secret/not-header-safe]');
    expect(stderr).not.toContain('two-line-ends');
    expect(exitCode).toBe(1);
  });

  test('of the value it has is no change; of another one it is', async () => {
    const workspace = makeWorkspace();
    const set = (stdin: string) => workspace.hookmill('secrets', 'set', 'TOKEN', { stdin });
    await set('one');
    const [first] = stored(workspace);
    await set('one\n');
    expect(stored(workspace)).toEqual([first]);
    await set('two');
    expect(stored(workspace)[0]?.value?.version).not.toBe(first?.value?.version);
  });

  test.for([
    ['nothing', '', 'a team secret cannot be empty'],
    ['a line end alone', '\n', 'a team secret cannot be empty'],
    ['blanks alone', '  \t\n', 'a team secret cannot be empty'],
    ['more than 8 KiB', 'x'.repeat(8_193), 'a team secret cannot be longer than 8192 bytes'],
  ] as const)('refuses %s, and keeps what there was', async ([_, stdin, message]) => {
    const workspace = makeWorkspace();
    await workspace.hookmill('secrets', 'set', 'TOKEN', { stdin: 'before' });
    const before = stored(workspace);
    const { stderr, exitCode } = await workspace.hookmill('secrets', 'set', 'TOKEN', { stdin });
    expect({ stderr, exitCode }).toEqual({ stderr: `hookmill: ${message}\n`, exitCode: 1 });
    expect(stored(workspace)).toEqual(before);
  });

  test.each([
    ['token', '123456789012345', true],
    ['token', '1234567890123456', false],
    ['github', 'fifteen-bytes-5', true],
    ['standard-webhooks', `whsec_${Buffer.alloc(15, 7).toString('base64')}`, true],
    ['standard-webhooks', `whsec_${Buffer.alloc(16, 7).toString('base64')}`, false],
    ['discord', '7'.repeat(64), false],
  ])('of a short value is a warning, and so is applying it for %s: %s', async (scheme, stdin, isShort) => {
    const workspace = makeWorkspace();
    const mode = scheme === 'token' ? '' : `authMode: signature\nsignatureScheme: ${scheme}\n`;
    workspace.write('webhooks/a.yaml', `${mode}secretName: TOKEN\n`);
    const set = await workspace.hookmill('secrets', 'set', 'TOKEN', { stdin });
    const applied = await workspace.hookmill('apply');
    expect([set.exitCode, applied.exitCode]).toEqual([0, 0]);
    const told = 'he value has only 15 bytes, so somebody could guess it';
    if (stdin.length < 16) expect(set.stderr).toContain(`${told}. Run \`hookmill secrets generate TOKEN\``);
    expect(applied.stderr.includes(`warning: the value of TOKEN ${told.slice(9)}`)).toBe(isShort);
    expect(/longer one .*`hookmill secrets generate TOKEN/.test(applied.stderr)).toBe(isShort);
    expect(set.stderr + applied.stderr).not.toContain(stdin);
  });

  test('refuses a byte order mark instead of dropping it', async () => {
    const workspace = makeWorkspace();
    const { stderr, exitCode } = await workspace.hookmill('secrets', 'set', 'TOKEN', {
      stdin: '\ufeffa-value',
    });
    expect(stderr).toContain('a team secret cannot start with a byte order mark');
    expect(exitCode).toBe(1);
  });

  test('refuses bytes that are not text', async () => {
    const workspace = makeWorkspace();
    const input = Buffer.from([0xff, 0xfe, 0x41]);
    const { stderr, exitCode } = await workspace.start(['secrets', 'set', 'TOKEN'], { input });
    expect(stderr).toContain('hookmill: the secret on standard input is not UTF-8 text');
    expect(exitCode).toBe(1);
  });

  test.for(['a b', '', '-x', '../x', 'é', 'x'.repeat(129)])('refuses the name %j', async name => {
    const workspace = makeWorkspace();
    const { stderr, exitCode } = await workspace.hookmill('secrets', 'set', '--', name, { stdin: 'value' });
    expect(stderr).toContain('is not a valid name for a team secret');
    expect(exitCode).toBe(1);
    expect(readdirSync(workspace.directory)).toEqual([]);
  });

  test('refuses a credential as a name, and does not repeat it', async () => {
    const name = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
    const { stdout, stderr, exitCode } = await makeWorkspace().hookmill('secrets', 'set', name, {
      stdin: 'x',
    });
    expect(stderr).toContain('this looks like a credential, not like the name of a team secret');
    expect(stdout + stderr).not.toContain('ghp_');
    expect(exitCode).toBe(1);
  });

  test('does not take a value as an argument', async () => {
    const workspace = makeWorkspace();
    const { stderr, exitCode } = await workspace.hookmill('secrets', 'set', 'TOKEN', 'value');
    expect(stderr).toContain('too many arguments');
    expect(exitCode).toBe(2);
  });
});

test('generate prints a value once that can be part of a URL, and keeps it', async () => {
  const workspace = makeWorkspace();
  workspace.write('webhooks/a.yaml', 'secretName: TOKEN\n');
  const { stdout } = await workspace.hookmill('secrets', 'generate', 'TOKEN');
  expect(stdout).toMatch(/^[A-Za-z0-9_-]{43}\n$/);
  await workspace.hookmill('apply');
  expect(await digestInForce(workspace, 'a')).toBe(await sha256(stdout.trim()));
  const json = await workspace.hookmill('secrets', 'generate', 'OTHER', '-o', 'json');
  expect(JSON.parse(json.stdout)).toEqual({ name: 'OTHER', value: expect.stringMatching(/^[\w-]{43}$/) });
});

test('generate --format whsec makes the secret of a Standard Webhooks sender', async () => {
  const { stdout } = await makeWorkspace().hookmill('secrets', 'generate', 'TOKEN', '--format', 'whsec');
  expect(stdout).toMatch(/^whsec_[A-Za-z0-9+/]{43}=\n$/);
});

test('a declared secret applies without a credential, which it gets once it is set and applied again', async () => {
  const workspace = makeWorkspace();
  workspace.write('webhooks/a.yaml', 'authMode: url_token\nsecretName: LATER\n');
  expect((await workspace.hookmill('secrets', 'declare', 'LATER')).exitCode).toBe(0);
  await workspace.hookmill('apply');
  const shown = async () => (await workspace.hookmill('webhooks', 'show', 'a')).stdout;
  expect(await shown()).toMatch(/^credential +not set: answers 401/m);
  await workspace.hookmill('secrets', 'set', 'LATER', { stdin: 'value-with-16-chars' });
  expect((await workspace.hookmill('plan')).stdout).toContain('secret: current value → new value');
  expect(await shown()).toMatch(/^credential +not set/m);
  await workspace.hookmill('apply');
  expect(await shown()).toMatch(/^credential +active/m);
  const again = await workspace.hookmill('secrets', 'declare', 'LATER');
  expect(again).toMatchObject({ stderr: 'hookmill: the team secret LATER already exists\n', exitCode: 1 });
});

test('remove is refused while a webhook of any factory names the secret', async () => {
  const workspace = makeWorkspace();
  workspace.write('defs/webhooks/a.yaml', 'secretName: TOKEN\n');
  await workspace.hookmill('secrets', 'set', 'TOKEN', '--factory', 'payments', { stdin: 'a-value' });
  const here = ['--home', workspace.home, '-C', 'defs', '--factory', 'payments'];
  await workspace.hookmill('apply', ...here);
  const refused = await workspace.hookmill('secrets', 'remove', 'TOKEN');
  expect(refused.stderr).toContain('the webhook a of the factory payments uses');
  expect(refused.exitCode).toBe(1);

  workspace.write('defs/webhooks/a.yaml', 'secretName: OTHER\n');
  await workspace.hookmill('secrets', 'set', 'OTHER', '--factory', 'payments', { stdin: 'another-value' });
  await workspace.hookmill('apply', ...here);
  expect((await workspace.hookmill('secrets', 'remove', 'TOKEN')).exitCode).toBe(0);
  expect(stored(workspace).map(({ name }) => name)).toEqual(['OTHER']);
  const unknown = await workspace.hookmill('secrets', 'remove', 'TOKEN');
  expect(unknown).toMatchObject({ stderr: 'hookmill: there is no team secret TOKEN\n', exitCode: 1 });
});

test('share says which factories may use a secret; a definition of any other names the way out', async () => {
  const workspace = makeWorkspace();
  workspace.write('webhooks/a.yaml', 'secretName: TOKEN\n');
  await workspace.hookmill('secrets', 'generate', 'TOKEN');
  const inShop = (...words: string[]) => workspace.hookmill(...words, '--factory', 'shop');
  const share = (...words: string[]) => workspace.hookmill('secrets', 'share', 'TOKEN', ...words);
  const refused = await inShop('apply');
  expect(refused.stderr).toContain('the factory shop may not use the team secret TOKEN');
  expect(refused.stderr).toContain('hint: `hookmill --factory shop secrets share TOKEN shop` allows it');
  expect(refused.exitCode).toBe(1);

  expect((await share('shop')).stderr).toBe('shop may now use TOKEN.\n');
  expect((await inShop('apply')).exitCode).toBe(0);
  expect((await workspace.hookmill('apply')).exitCode).toBe(0);
  const withdrawn = await share('shop', '--only');
  expect(withdrawn.stderr).toContain('the webhook a of the factory default uses the team secret TOKEN');
  expect(withdrawn.exitCode).toBe(1);
  expect((await share('--all-factories')).exitCode).toBe(0);
  expect((await workspace.hookmill('secrets', 'list')).stdout).toMatch(/ {2}all {8}default\/a, shop\/a$/m);
  for (const words of [[], ['shop', '--all-factories'], ['Shop']])
    expect((await share(...words)).exitCode).toBe(2);
});

test('list shows names, states and users, and no value', async () => {
  const workspace = makeWorkspace();
  workspace.write('webhooks/a.yaml', 'secretName: B_SECRET\n');
  expect((await workspace.hookmill('secrets', 'list')).stdout).toContain('No team secrets.');
  await workspace.hookmill('secrets', 'set', 'B_SECRET', { stdin: 'the-value-itself' });
  await workspace.hookmill('secrets', 'declare', 'A_SECRET');
  await workspace.hookmill('apply');
  const [text, json] = await Promise.all([
    workspace.hookmill('secrets', 'list'),
    workspace.hookmill('secrets', 'list', '-o', 'json'),
  ]);
  expect(JSON.parse(json.stdout)).toEqual([
    {
      name: 'A_SECRET',
      state: 'declared',
      updatedAt: expect.any(String),
      factories: ['default'],
      usedBy: [],
    },
    {
      name: 'B_SECRET',
      state: 'set',
      updatedAt: expect.any(String),
      factories: ['default'],
      usedBy: [{ factory: 'default', webhook: 'a', authMode: 'token' }],
    },
  ]);
  expect(text.stdout).toMatch(/^B_SECRET {2}set {7}\S+ {2}default {4}default\/a$/m);
  expect(`${text.stdout}${json.stdout}`).not.toContain('the-value-itself');
});

test('the key of another home opens nothing, and says what to do', async () => {
  const workspace = makeWorkspace();
  workspace.write('webhooks/a.yaml', 'secretName: TOKEN\n');
  const env = { HOOKMILL_KEY: Buffer.alloc(32, 1).toString('base64') };
  await workspace.hookmill('secrets', 'set', 'TOKEN', { stdin: 'the-value-itself', env });
  expect(readdirSync(workspace.home)).not.toContain('key');
  const { stderr, exitCode } = await workspace.hookmill('plan');
  expect(stderr).toMatch(/^hookmill: the sealed value of TOKEN does not open with this key; restore the key/);
  expect(exitCode).toBe(1);
  expect((await workspace.hookmill('plan', { env })).exitCode).toBe(0);
  expect(readFileSync(join(workspace.home, 'secrets.json'), 'utf8')).not.toContain('the-value-itself');
});

test('the key can be in a file that the environment names', async () => {
  const workspace = makeWorkspace();
  workspace.write('webhooks/a.yaml', 'secretName: TOKEN\n');
  const key = Buffer.alloc(32, 1).toString('base64');
  const env = { HOOKMILL_KEY_FILE: workspace.path('the-key') };
  const missing = await workspace.hookmill('plan', { env });
  expect(missing).toMatchObject({
    exitCode: 1,
    stderr: `hookmill: cannot read ${env.HOOKMILL_KEY_FILE}, which HOOKMILL_KEY_FILE names (ENOENT)\n`,
  });
  workspace.write('the-key', `${key}\n`);
  await workspace.hookmill('secrets', 'set', 'TOKEN', { stdin: 'the-value-itself', env });
  expect(readdirSync(workspace.home)).not.toContain('key');
  expect((await workspace.hookmill('plan', { env: { HOOKMILL_KEY: key } })).exitCode).toBe(0);
  const both = await workspace.hookmill('plan', { env: { ...env, HOOKMILL_KEY: key } });
  expect(both).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('are both set; leave one') });
});

test('says what makes webhooks use a new value: an apply, a commit of the followed branch, or the dashboard', async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/push.yaml': webhook() }, 'Add push');
  const { hookmill } = makeWorkspace();
  const set = async (stdin: string) => (await hookmill('secrets', 'set', 'S', { stdin })).stderr;
  await hookmill('reconcile', '--once', '--repository', upstream.bare);
  // The first reconcile failed, so the next one tries the same commit again.
  expect(await set('the first value of S')).toContain('run `hookmill reconcile --once`');
  expect((await hookmill('reconcile', '--once')).stderr).toContain('applied as serial 1');

  expect(await set('the second value of S')).toContain(
    'Webhooks use the new value when the next commit on main is applied; an empty commit is enough.\n',
  );
  const version = async () => JSON.parse((await hookmill('apply', '-o', 'json')).stdout).serial;
  expect(await version()).toBe(1);
  upstream.commit({ 'README.md': 'x' }, 'Another commit');
  expect(await version()).toBe(2);
});
