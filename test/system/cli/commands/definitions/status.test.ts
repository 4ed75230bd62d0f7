import { readFileSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../../support/eventually.ts';
import { makeUpstream, webhook } from '../../../../support/git-samples.ts';
import { startLoopbackServer } from '../../../../support/loopback-server.ts';
import { openWebhookDaemon, startWebhookDaemon, switchWebhook } from '../../../../support/webhook-daemon.ts';
import { makeWorkspace, type Workspace } from '../../../../support/workspace.ts';

async function applied(): Promise<Workspace> {
  const workspace = makeWorkspace();
  workspace.write('webhooks/a.yaml', 'secretName: TOKEN\n');
  await workspace.hookmill('secrets', 'generate', 'TOKEN');
  await workspace.hookmill('apply');
  return workspace;
}

async function status(workspace: Workspace, ...words: string[]) {
  const { stdout, exitCode } = await workspace.hookmill('status', ...words);
  return { exitCode, daemon: /^daemon +(.*)$/m.exec(stdout)?.[1] };
}

test('shows where the daemon answers and which serial it serves, which apply waits for; none is no error', async () => {
  const workspace = await applied();
  const none = { exitCode: 0, daemon: 'none has run with this home; start one with `hookmill serve`' };
  expect(await status(workspace)).toEqual(none);
  const daemon = await openWebhookDaemon({ workspace });
  const url = daemon.managementUrl;
  expect(await status(workspace)).toEqual({ exitCode: 0, daemon: `ready at ${url}, and serves serial 1` });
  workspace.write('webhooks/b.yaml', 'secretName: TOKEN\n');
  const { stderr } = await workspace.hookmill('apply');
  expect((await daemon.readyz()).factories[0]).toMatchObject({ serial: 2 });
  expect(stderr).toContain(`The daemon at ${url} serves this now.`);
  expect(await status(workspace)).toEqual({ exitCode: 0, daemon: `ready at ${url}, and serves serial 2` });
  const { stdout } = await workspace.hookmill('status', '-o', 'json');
  expect(JSON.parse(stdout).daemon).toEqual({ state: 'ready', url, reason: null, serial: 2 });
  const other = await status(workspace, '--factory', 'other');
  expect(other.daemon).toBe(`ready at ${url}, serves nothing of this factory`);

  const file = `${workspace.home}/applied/default.json`;
  const right = readFileSync(file, 'utf8');
  writeFileSync(file, right.replace('"serial": 2', '"serial": 3'));
  await expect.poll(async () => (await daemon.readyz()).factories[0]?.problem).toBeDefined();
  expect(await status(workspace)).toEqual({
    exitCode: 1,
    daemon: expect.stringContaining(
      'but only serves serial 2: the applied state was changed outside hookmill',
    ),
  });
  writeFileSync(file, right);

  await daemon.stop();
  expect(await status(workspace)).toEqual({
    exitCode: 0,
    daemon: `no answer from ${url}; start it with \`hookmill serve\``,
  });
  workspace.write('webhooks/c.yaml', 'secretName: TOKEN\n');
  expect(await workspace.hookmill('apply')).toMatchObject({ stderr: '', exitCode: 0 });
});

/** Another program at the port where the home's daemon with the id `mine` was. */
async function answerInPlaceOfDaemon(workspace: Workspace, readiness: object): Promise<string> {
  const managementUrl = await startLoopbackServer((_, response) => response.end(JSON.stringify(readiness)));
  workspace.write(
    '.hookmill/daemon.json',
    JSON.stringify({ ingressUrl: 'http://x', managementUrl, id: 'mine', trustsProxies: false }),
  );
  return managementUrl;
}

test('takes no other program at the port for the daemon of the home', async () => {
  const workspace = await applied();
  const readiness = { status: 'ready', daemon: 'of another home', factories: [] };
  const url = await answerInPlaceOfDaemon(workspace, readiness);
  expect((await status(workspace)).daemon).toContain(`no answer from ${url}`);
});

test('apply says that the daemon does not serve it yet', async () => {
  const workspace = await applied();
  const readiness = { status: 'not ready', reason: 'the disk is full', daemon: 'mine', factories: [] };
  const url = await answerInPlaceOfDaemon(workspace, readiness);
  workspace.write('webhooks/d.yaml', 'secretName: TOKEN\n');
  const { stderr: warned, exitCode } = await workspace.hookmill('apply');
  expect({ warned, exitCode }).toEqual({
    warned: `\nThe daemon at ${url} does not serve this yet (the disk is full); run \`hookmill status\` to see when it does.\n`,
    exitCode: 0,
  });
});

test('exits with 1 while reconciling fails, and with 0 once it succeeds', async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/push.yaml': webhook() }, 'Add push');
  const workspace = makeWorkspace();
  await workspace.hookmill('reconcile', '--once', '--repository', upstream.bare);
  expect((await status(workspace)).exitCode).toBe(1);
  await workspace.hookmill('secrets', 'generate', 'S');
  await workspace.hookmill('reconcile', '--once');
  expect((await status(workspace)).exitCode).toBe(0);
  expect((await status(workspace, '--detailed-exitcode')).exitCode).toBe(0);
});

test('exits with 2 for changes that are not applied yet, only with --detailed-exitcode', async () => {
  const workspace = await applied();
  const exits = async () => [
    (await status(workspace)).exitCode,
    (await status(workspace, '--detailed-exitcode')).exitCode,
  ];
  expect(await exits()).toEqual([0, 0]);
  workspace.write('webhooks/a.yaml', 'secretName: TOKEN\nenabled: false\n');
  expect(await exits()).toEqual([0, 2]);
  workspace.write('webhooks/a.yaml', 'secretName: 1\n');
  expect(await exits()).toEqual([1, 1]);
  workspace.remove('webhooks');
  expect(await exits()).toEqual([0, 1]);
});

test('shows what was switched in the dashboard since the last apply, and by whom, until that is undone', async () => {
  const workspace = await applied();
  const daemon = await startWebhookDaemon({ workspace });
  const { stdout: manager } = await workspace.hookmill('tokens', 'create', 'alice', '--permission', 'manage');
  const { stdout: reader } = await workspace.hookmill('tokens', 'create', 'bob', '--permission', 'read');
  const [{ uid }] = JSON.parse((await workspace.hookmill('webhooks', 'list', '-o', 'json')).stdout);
  const drift = async (env: Record<string, string> = {}) => {
    const { stdout } = await workspace.hookmill('status', { env });
    return stdout.split('\n').filter(line => line.startsWith('drift'));
  };
  expect(await drift()).toEqual([]);
  await switchWebhook(daemon, manager.trim(), uid, false);
  expect(await drift()).toEqual([
    expect.stringMatching(
      /^drift +a was disabled by the API token alice from 127\.0\.0\.1, and is enabled in its file \(since 2\S+Z\)\. The next apply undoes that\.$/,
    ),
  ]);
  const { changedByHand } = JSON.parse((await workspace.hookmill('status', '-o', 'json')).stdout);
  expect(changedByHand).toMatchObject([
    {
      webhook: { name: 'a', uid },
      enabled: false,
      enabledInFile: true,
      who: { kind: 'token', name: 'alice' },
    },
  ]);
  const server = { HOOKMILL_SERVER: daemon.managementUrl, HOOKMILL_TOKEN: reader.trim() };
  expect(await drift(server)).toEqual([
    expect.stringMatching(/a was disabled, and is enabled in its file \(since 2/),
  ]);
  await switchWebhook(daemon, manager.trim(), uid, true);
  expect(await drift()).toEqual([]);
  await switchWebhook(daemon, manager.trim(), uid, false);
  await workspace.hookmill('apply');
  expect(await drift()).toEqual([]);
  // The file may also come to say what was done by hand.
  await switchWebhook(daemon, manager.trim(), uid, false);
  workspace.write('webhooks/a.yaml', 'secretName: TOKEN\nenabled: false\n');
  await workspace.hookmill('apply');
  expect(await drift()).toEqual([]);
});

test('what git says of a failed fetch keeps its lines', async () => {
  const workspace = makeWorkspace();
  await workspace.hookmill('secrets', 'set', 'S', { stdin: 'a secret of 16 bytes' });
  const nowhere = workspace.path('nowhere.git');
  const { stderr } = await workspace.hookmill('reconcile', '--once', '--repository', nowhere);
  const { stdout } = await workspace.hookmill('status');
  for (const text of [stderr, stdout]) {
    expect(text).toMatch(/^✗ .*nowhere\.git.*\n {2}\S.*Could not read/m);
    expect(text).not.toContain('\\x0a');
  }
});

test('--watch prints the status again when it has changed, until Ctrl-C', async () => {
  const workspace = await applied();
  const watching = workspace.start(['status', '--watch', '-o', 'json']);
  onTestFinished(async () => {
    watching.kill('SIGKILL');
    await watching;
  });
  let printed = '';
  watching.stdout?.on('data', data => {
    printed += data;
  });
  const lines = () =>
    printed
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line));
  await eventually(async () => lines().length === 1);
  workspace.write('webhooks/b.yaml', 'secretName: TOKEN\n');
  await workspace.hookmill('apply');
  await eventually(async () => lines().at(-1).serial === 2);
  expect(lines()[0]).toMatchObject({ serial: 1, upToDate: true });
  watching.kill('SIGINT');
  expect((await watching).exitCode).toBe(0);
  const { stderr } = await workspace.hookmill('status', '--watch', '--detailed-exitcode');
  expect(stderr).toContain('--watch cannot be combined with --detailed-exitcode');
});
