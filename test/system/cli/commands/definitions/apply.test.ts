import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeWorkspace, type Workspace } from '../../../../support/workspace.ts';

const secret = 'correct-horse_battery.staple~1';
const appliedFile = '.hookmill/applied/default.json';
const uid = expect.stringMatching(/^wh_[0-9a-z]{24}$/);

/** A workspace with the webhooks deploys (token), orders (url_token) and code (signature), not yet applied. */
async function threeWebhooks(): Promise<Workspace> {
  const workspace = makeWorkspace();
  workspace.write('webhooks/deploys.yaml', 'secretName: TOKEN\n');
  workspace.write('webhooks/orders.yaml', 'authMode: url_token\nsecretName: TOKEN\n');
  workspace.write('webhooks/code.yaml', 'authMode: signature\nsignatureScheme: github\nsecretName: TOKEN\n');
  await workspace.hookmill('secrets', 'set', 'TOKEN', { stdin: secret });
  return workspace;
}

async function oneApplied(): Promise<Workspace> {
  const workspace = makeWorkspace();
  workspace.write('webhooks/deploys.yaml', 'secretName: TOKEN\n');
  await workspace.hookmill('secrets', 'set', 'TOKEN', { stdin: secret });
  await workspace.hookmill('apply');
  return workspace;
}

function identityOf(file: string) {
  const { ino, mtimeNs, size } = statSync(file, { bigint: true });
  return { ino, mtimeNs, size };
}

test('plan shows what apply then does, in text and in JSON', async () => {
  const workspace = await threeWebhooks();
  const plan = await workspace.hookmill('plan');
  expect(plan.stdout).toBe(`\
+ webhook code
    + authMode: signature
    + signatureScheme: github
    + secretName: TOKEN
    + enabled: true
+ webhook deploys
    + authMode: token
    + secretName: TOKEN
    + enabled: true
+ webhook orders
    + authMode: url_token
    + secretName: TOKEN
    + enabled: true

Plan: 3 to add, 0 to change, 0 to destroy.
`);
  const planned = JSON.parse((await workspace.hookmill('plan', '-o', 'json')).stdout);
  const { base, ok, diagnostics, ...changes } = planned;
  expect({ base, ok }).toEqual({ base: null, ok: true });
  expect(diagnostics.map(({ code }: { code: string }) => code)).toEqual(
    Array.from({ length: 3 }, () => 'secret/shared-by-schemes'),
  );
  expect(changes).toEqual({
    factory: 'default',
    serial: 0,
    changes: ['code', 'deploys', 'orders'].map(name => ({
      action: 'create',
      kind: 'webhook',
      name,
      fields: expect.any(Array),
      confirmation: { reason: 'shared-secret', message: expect.stringContaining('also uses TOKEN') },
    })),
    summary: { add: 3, change: 0, destroy: 0 },
  });

  const applied = await workspace.hookmill('apply', '--yes', '-o', 'json', '--factory', 'default');
  const data = JSON.parse(applied.stdout);
  expect(data).toEqual({
    ...{ ...changes, base },
    serial: 1,
    changes: changes.changes.map((change: object) => ({ ...change, uid, url: expect.any(String) })),
  });
  expect(applied.exitCode).toBe(0);
  expect(applied.stderr.match(/warning: .*\[secret\/shared-by-schemes\]/g)).toHaveLength(3);
  const urls = data.changes.map(({ uid, url }: { uid: string; url: string }) => url.replace(uid, 'UID'));
  expect(urls).toEqual([
    'http://127.0.0.1:8080/webhooks/w/UID',
    'http://127.0.0.1:8080/webhooks/w/UID',
    'http://127.0.0.1:8080/webhooks/w/UID/{token}',
  ]);
});

test('apply prints the ingress URL of each webhook, under the public base URL', async () => {
  const workspace = await threeWebhooks();
  workspace.write('hookmill.yaml', 'factory: prod\nbaseUrl: https://hooks.example.com/in/\n');
  await workspace.hookmill('secrets', 'share', 'TOKEN', 'prod');
  const { stdout } = await workspace.hookmill('apply', '--yes');
  expect(stdout).toContain('\nApplied as serial 1.\n\n');
  expect(stdout).toMatch(/^code {5}https:\/\/hooks\.example\.com\/in\/webhooks\/w\/wh_[0-9a-z]{24}$/m);
  expect(stdout).toMatch(
    /^orders {3}https:\/\/hooks\.example\.com\/in\/webhooks\/w\/wh_[0-9a-z]{24}\/\{token\}$/m,
  );
  const other = await workspace.hookmill('webhooks', 'list', '-o', 'json', {
    env: { HOOKMILL_BASE_URL: 'https://other.example.com' },
  });
  expect(JSON.parse(other.stdout)[0].url).toMatch(/^https:\/\/other\.example\.com\/webhooks/);
});

test('an unchanged tree is no change, and its file is not touched', async () => {
  const workspace = await oneApplied();
  const before = identityOf(workspace.path(appliedFile));
  const again = await workspace.hookmill('apply');
  expect(again.stdout).toBe('No changes. The applied state matches the definitions.\n');
  expect(again.exitCode).toBe(0);
  expect(identityOf(workspace.path(appliedFile))).toEqual(before);
});

test('a new value of a team secret is a change that the plan shows without the value', async () => {
  const workspace = await oneApplied();
  await workspace.hookmill('secrets', 'set', 'TOKEN', { stdin: 'another-value-entirely' });
  const plan = await workspace.hookmill('plan');
  expect(plan.stdout).toBe(`\
~ webhook deploys
    ~ secret: current value → new value
    ! the old credential stops working at once: give the sender the new one
    ! no accepted delivery in the log

Plan: 0 to add, 1 to change, 0 to destroy.
`);
  const before = workspace.read(appliedFile);
  const applied = await workspace.hookmill('apply', '-o', 'json');
  expect(JSON.parse(applied.stdout)).toMatchObject({
    serial: 2,
    changes: [{ action: 'update', fields: [{ field: 'secret' }] }],
  });
  expect(`${plan.stdout}${applied.stdout}${workspace.read(appliedFile)}`).not.toContain('another-value');
  expect(workspace.read(appliedFile)).not.toBe(before);
});

test('destroying needs --yes where nobody can be asked, and says what it does', async () => {
  const workspace = await oneApplied();
  rmSync(workspace.path('webhooks/deploys.yaml'));
  const before = workspace.read(appliedFile);
  const declined = await workspace.hookmill('apply');
  expect(declined.stderr).toMatch(
    /- webhook deploys {2}\(wh_.*\)\n {4}! its URL stops answering; restoring the definition within 30 days brings it back\n/,
  );
  expect(declined.stderr).toContain(
    "To confirm:\n  1 destroyed: a destroyed webhook's URL stops answering; restoring the definition within 30 days brings it back\n",
  );
  expect(declined.stderr).toContain(
    'hookmill: nothing was applied: confirm these changes at the prompt or use --yes',
  );
  expect(declined).toMatchObject({ stdout: '', exitCode: 1 });
  expect(workspace.read(appliedFile)).toBe(before);

  const done = await workspace.hookmill('apply', '--yes', '-o', 'json');
  expect(JSON.parse(done.stdout)).toMatchObject({
    changes: [{ action: 'delete', kind: 'webhook', name: 'deploys', uid }],
    summary: { add: 0, change: 0, destroy: 1 },
  });
  expect(JSON.parse(workspace.read(appliedFile)).webhooks).toEqual([]);
});

test('a definition that comes back has its former URL, as the plan says, unless it is to have a new one', async () => {
  const workspace = await oneApplied();
  const [text, before] = [workspace.read('webhooks/deploys.yaml'), JSON.parse(workspace.read(appliedFile))];
  const destroy = async () => {
    rmSync(workspace.path('webhooks/deploys.yaml'));
    await workspace.hookmill('apply', '--yes');
    workspace.write('webhooks/deploys.yaml', text);
  };
  await destroy();
  const [former] = before.webhooks;
  const planned = await workspace.hookmill('plan', '--out', 'reviewed.plan');
  expect(planned.stdout).toMatch(/^\+ webhook deploys \(restored: its URL is the former one\)\n/);
  expect(planned.stdout).toContain('    ! its URL answers again\n');
  const restored = { action: 'create', name: 'deploys', uid: former.uid, restored: true };
  expect(JSON.parse((await workspace.hookmill('plan', '-o', 'json')).stdout).changes).toMatchObject([
    { ...restored, url: `http://127.0.0.1:8080/webhooks/w/${former.uid}` },
  ]);
  const markdown = await workspace.hookmill('plan', '-o', 'markdown');
  expect(markdown.stdout).toContain('| is restored with its former URL<br>');
  expect(JSON.parse(workspace.read('reviewed.plan')).changes).toMatchObject([restored]);
  expect(await workspace.hookmill('apply', 'reviewed.plan', '--new-uid', 'deploys')).toMatchObject({
    exitCode: 2,
  });
  await workspace.hookmill('apply', 'reviewed.plan');
  expect(JSON.parse(workspace.read(appliedFile)).webhooks).toEqual([former]);

  await destroy();
  const unknown = await workspace.hookmill('apply', '--new-uid', 'deploys', '--new-uid', 'deploy');
  expect(unknown.stderr).toBe(
    'hookmill: Invalid request: the webhook deploy would not be restored by this apply, so it needs no new UID\n',
  );
  const applied = await workspace.hookmill('apply', '--new-uid', 'deploys');
  expect(applied.stdout).toContain('    ! its URL is new, as requested\n');
  expect(applied.stdout).not.toContain(former.uid);
});

test('another use of a team secret needs --yes once, where nobody can be asked', async () => {
  const workspace = await oneApplied();
  workspace.write('webhooks/code.yaml', 'authMode: signature\nsignatureScheme: github\nsecretName: TOKEN\n');
  const before = workspace.read(appliedFile);
  const declined = await workspace.hookmill('apply');
  const use = 'the webhook deploys also uses TOKEN, with authMode token instead of the scheme github';
  expect(declined.stderr).toContain(`To confirm:\n  webhook code: ${use}\n`);
  expect(declined).toMatchObject({ stdout: '', exitCode: 1 });
  expect(workspace.read(appliedFile)).toBe(before);

  expect((await workspace.hookmill('apply', '--yes')).exitCode).toBe(0);
  expect(await workspace.hookmill('apply')).toMatchObject({ exitCode: 0 });
  workspace.write('webhooks/more.yaml', 'secretName: OTHER\n');
  await workspace.hookmill('secrets', 'generate', 'OTHER');
  expect(await workspace.hookmill('apply')).toMatchObject({ exitCode: 0 });
});

test('--dry-run shows the plan and writes nothing', async () => {
  const workspace = await oneApplied();
  workspace.write('webhooks/more.yaml', 'secretName: TOKEN\n');
  const before = snapshot(workspace.home);
  const { stdout, exitCode } = await workspace.hookmill('apply', '--dry-run');
  expect(stdout).toContain('Plan: 1 to add, 0 to change, 0 to destroy.');
  expect(stdout).not.toContain('Applied');
  expect(exitCode).toBe(0);
  expect(snapshot(workspace.home)).toEqual(before);
});

test('plan writes nothing, not even a home', async () => {
  const workspace = makeWorkspace();
  workspace.write('webhooks/a.yaml', 'secretName: NONE\n');
  await workspace.hookmill('plan');
  await workspace.hookmill('status');
  await workspace.hookmill('validate');
  expect(readdirSync(workspace.directory)).toEqual(['webhooks']);
});

test('one bad definition stops everything, with its code frame and the team secret that may be meant', async () => {
  const workspace = await threeWebhooks();
  workspace.write('webhooks/bad.yaml', 'secretName: TOKN\n');
  for (const [command, printed] of [
    // What the other files would change.
    ['plan', /Plan of the definitions without errors: 3 to add, 0 to change, 0 to destroy\.\n$/],
    ['apply', /^$/],
  ] as const) {
    const { stdout, stderr, exitCode } = await workspace.hookmill(command);
    expect(stderr).toContain(`\
webhooks/bad.yaml:1:13: error: there is no team secret TOKN [secret/missing]
  1 | secretName: TOKN
    |             ^^^^
  hint: did you mean TOKEN?
`);
    expect(stdout).toMatch(printed);
    expect(exitCode).toBe(1);
  }
  expect(() => workspace.read(appliedFile)).toThrow('ENOENT');
});

test('applies none of 21 webhooks, and keeps the 20 that are applied', async () => {
  const workspace = makeWorkspace();
  await workspace.hookmill('secrets', 'set', 'TOKEN', { stdin: secret });
  for (let i = 10; i < 30; i++) workspace.write(`webhooks/w${i}.yaml`, 'secretName: TOKEN\n');
  expect((await workspace.hookmill('apply')).exitCode).toBe(0);
  workspace.write('webhooks/w30.yaml', 'secretName: TOKEN\n');
  const refused = await workspace.hookmill('apply');
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain('[webhook/too-many]');
  const webhooks = JSON.parse((await workspace.hookmill('webhooks', 'list', '-o', 'json')).stdout);
  expect(webhooks.map(({ name }: { name: string }) => name)).toEqual(
    Array.from({ length: 20 }, (_, i) => `w${i + 10}`),
  );
});

test('--detailed-exitcode distinguishes changes, no changes and errors', async () => {
  const workspace = await oneApplied();
  const status = async () => (await workspace.hookmill('plan', '--detailed-exitcode')).exitCode;
  expect(await status()).toBe(0);
  workspace.write('webhooks/more.yaml', 'secretName: TOKEN\n');
  expect(await status()).toBe(2);
  workspace.write('webhooks/more.yaml', 'secretName: MISSING\n');
  expect(await status()).toBe(1);
});

test('status shows what is applied and whether the definitions differ', async () => {
  const workspace = await oneApplied();
  const status = async () => JSON.parse((await workspace.hookmill('status', '-o', 'json')).stdout);
  expect(await status()).toMatchObject({
    factory: 'default',
    serial: 1,
    source: { kind: 'directory', directory: workspace.directory },
    revision: null,
    upToDate: true,
    lastReconcile: null,
  });
  workspace.write('webhooks/deploys.yaml', 'secretName: TOKEN\nenabled: false\n');
  expect(await status()).toMatchObject({ serial: 1, upToDate: false });
});

test('webhooks list and show tell everything but the credential', async () => {
  const workspace = await threeWebhooks();
  await workspace.hookmill('apply', '--yes');
  const list = JSON.parse((await workspace.hookmill('webhooks', 'list', '-o', 'json')).stdout);
  expect(list).toEqual(
    [
      {
        name: 'code',
        authMode: 'signature',
        signatureScheme: 'github',
        provider: 'GitHub',
        own: ['X-GitHub-Event', 'X-GitHub-Delivery'],
      },
      { name: 'deploys', authMode: 'token', signatureScheme: null, provider: null, own: [] },
      { name: 'orders', authMode: 'url_token', signatureScheme: null, provider: null, own: [] },
    ].map(({ own, ...webhook }) => ({
      ...webhook,
      keepHeaders: [],
      sender: null,
      eventHeaders: ['Content-Type', 'User-Agent', ...own],
      uid,
      url: expect.any(String),
      secretName: 'TOKEN',
      ...{ issuer: null, audience: null, claims: null, bodyFormat: 'json', payloadField: null },
      ...{ tokenHeader: null, tokenPrefix: null, tokenScheme: null, tokenUser: null },
      ...{ deliveryIdHeader: null, deliveryIdField: null, identity: null, handshake: null },
      createdAt: expect.stringMatching(/Z$/),
      enabled: true,
      health: { state: 'never seen', reason: 'no delivery was ever accepted', since: null },
    })),
  );
  const byName = await workspace.hookmill('webhooks', 'show', 'orders');
  const byUid = await workspace.hookmill('webhooks', 'show', list[2].uid);
  expect(byName.stdout).toMatch(/^credential {5}active$/m);
  expect(byName.stdout).toMatch(/^health {9}never seen: no delivery was ever accepted$/m);
  expect(byUid).toEqual(byName);
  expect(byName.stdout).toContain(`\ncreated        ${list[2].createdAt}\n`);
  workspace.write('webhooks/orders.yaml', 'secretName: TOKEN\nauthMode: url_token\nenabled: false\n');
  await workspace.hookmill('apply', '--yes');
  const changed = await workspace.hookmill('webhooks', 'show', 'orders', '-o', 'json');
  expect(JSON.parse(changed.stdout)).toMatchObject({ enabled: false, createdAt: list[2].createdAt });
  const unknown = await workspace.hookmill('webhooks', 'show', 'order');
  expect(unknown.stderr).toContain('did you mean orders?');
  expect(unknown.exitCode).toBe(1);
});

test('--home, --factory and their variables say where the state is, flags first', async () => {
  const workspace = makeWorkspace();
  workspace.write('defs/webhooks/a.yaml', 'authMode: token\nsecretName: T\n');
  workspace.write('defs/hookmill.yaml', 'factory: from-file\n');
  const env = { HOOKMILL_HOME: workspace.path('home'), HOOKMILL_FACTORY: 'from-env' };
  await workspace.hookmill('secrets', 'set', 'T', { stdin: secret, env });
  await workspace.hookmill('secrets', 'share', 'T', 'from-file', 'from-flag', { env });
  const factoryOf = async (...args: Parameters<Workspace['hookmill']>) =>
    JSON.parse((await workspace.hookmill(...args)).stdout).factory;
  expect(await factoryOf('-C', 'defs', '--home', 'home', 'apply', '-o', 'json')).toBe('from-file');
  expect(await factoryOf('apply', '-C', 'defs', '-o', 'json', { env })).toBe('from-env');
  expect(await factoryOf('apply', '-C', 'defs', '-o', 'json', '--factory', 'from-flag', { env })).toBe(
    'from-flag',
  );
  const files = ['from-env', 'from-file', 'from-flag'].map(factory =>
    JSON.parse(workspace.read(`home/applied/${factory}.json`)),
  );
  expect(new Set(files.map(({ webhooks }) => webhooks[0].uid)).size).toBe(3);
});

test('only the owner can read the files of the home', async () => {
  const workspace = await threeWebhooks();
  await workspace.hookmill('apply');
  for (const entry of readdirSync(workspace.home, { recursive: true, withFileTypes: true })) {
    const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
    expect([entry.name, mode.toString(8)]).toEqual([entry.name, entry.isDirectory() ? '700' : '600']);
  }
  expect((statSync(workspace.home).mode & 0o777).toString(8)).toBe('700');
});

test('the value of a team secret is nowhere in the home', async () => {
  const workspace = await threeWebhooks();
  await workspace.hookmill('apply');
  const kept = Object.values(snapshot(workspace.home)).join('\n');
  expect(kept).toContain('"name": "TOKEN"');
  for (const form of ['utf8', 'base64', 'base64url', 'hex'] as const) {
    expect(kept).not.toContain(Buffer.from(secret).toString(form));
  }
});

/** The content of each file below a directory. */
function snapshot(directory: string): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter(entry =>
    entry.isFile(),
  );
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [
      join(parentPath, name),
      readFileSync(join(parentPath, name), 'latin1'),
    ]),
  );
}
