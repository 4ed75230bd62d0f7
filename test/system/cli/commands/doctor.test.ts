import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { createServer as createTcpServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Symptom } from '../../../../cli/doctor/symptom.ts';
import { hasEscapedKeyDefect } from '../../../../json/parse-json-text.ts';
import { startDaemonForTest } from '../../../support/daemon.ts';
import { findFreePort } from '../../../support/free-port.ts';
import { startHostileProvider } from '../../../support/hostile-provider.ts';
import { startLoopbackServer } from '../../../support/loopback-server.ts';
import { canBecomeOthers } from '../../../support/privilege.ts';
import { makeWorkspace, type Workspace } from '../../../support/workspace.ts';

async function examine(workspace: Workspace, env: Readonly<Record<string, string>> = {}) {
  const { stdout, exitCode } = await workspace.hookmill('doctor', '-o', 'json', { env });
  const { findings } = JSON.parse(stdout) as { readonly findings: readonly Symptom[] };
  const find = (subject: string) => findings.find(finding => finding.subject === subject);
  return { exitCode, find, findings };
}

test('without a daemon, says what could keep one from starting', async () => {
  const workspace = makeWorkspace();
  const { find } = await examine(workspace);
  expect(find('node')).toMatchObject({ state: 'ok', text: `Node.js ${process.versions.node}` });
  const defect = hasEscapedKeyDefect() ? expect.stringContaining('nodejs/node#63785') : undefined;
  expect(find('escaped keys')?.text).toEqual(defect);
  expect(find('disk')?.text).toMatch(/^\d+\.\d GiB free for /);
  expect(find('store')?.state).toBe('ok');
  expect(find('daemon')).toMatchObject({ state: 'warning', remedy: 'start it with `hookmill serve`' });
  // Another process may have it already, which is as good.
  const taken = createTcpServer().listen(8080, '127.0.0.1');
  onTestFinished(() => void taken.close());
  await Promise.race([once(taken, 'listening'), once(taken, 'error')]);
  const { find: findTaken, exitCode } = await examine(workspace);
  expect(findTaken('ports')).toMatchObject({ state: 'problem', text: 'another process has port 8080' });
  expect(exitCode).toBe(1);
});

test('looks for the program of runs as the daemon starts it', async () => {
  const workspace = makeWorkspace();
  const runner = { kind: 'command', argv: ['no-such-agent'] };
  workspace.write('daemon.yaml', JSON.stringify({ runs: { runner } }));
  const { exitCode, find } = await examine(workspace, { HOOKMILL_CONFIG: 'daemon.yaml', PATH: '/usr/bin' });
  expect(exitCode).toBe(1);
  expect(find('runs')).toMatchObject({
    state: 'problem',
    text: 'there is no program no-such-agent in the PATH /usr/bin, so no run can start',
  });
  const { stderr } = await startDaemonForTest({ settings: { runs: { runner } } });
  expect(stderr()).toMatch(
    /there is no program no-such-agent in the PATH .*the command of runs cannot be started/,
  );
});

test('asks the daemon, and the ingress at its base URL, which needs a proxy that the daemon trusts if it has https', async () => {
  const { workspace, ingressUrl, managementUrl } = await startDaemonForTest();
  const own = await examine(workspace);
  expect(own.exitCode).toBe(0);
  expect(own.find('daemon')).toMatchObject({
    state: 'ok',
    text: `answers at ${managementUrl}, and is ready`,
  });
  expect(own.find('base URL')).toMatchObject({
    state: 'warning',
    text: `the ingress answers at ${ingressUrl}, which only this machine reaches`,
  });
  const otherUrl = await startLoopbackServer((_, response) => response.end('hello'));
  // The author of a checkout does not choose where the machine asks.
  workspace.write('hookmill.yaml', `baseUrl: ${otherUrl}\n`);
  expect((await examine(workspace)).find('base URL')).toEqual(own.find('base URL'));
  const wrong = await examine(workspace, { HOOKMILL_BASE_URL: otherUrl });
  expect(wrong.exitCode).toBe(1);
  expect(wrong.find('base URL')?.text).toBe(
    `something else than the ingress answers at ${otherUrl}/webhooks/w/doctor (200)`,
  );
  const url = `https://127.0.0.1:${await findFreePort()}`;
  const { exitCode, find } = await examine(workspace, { HOOKMILL_BASE_URL: url });
  expect(exitCode).toBe(1);
  expect(find('base URL')?.text).toBe(`${url}/webhooks/w/doctor cannot be reached from here (ECONNREFUSED)`);
  expect(find('proxy')).toMatchObject({
    state: 'problem',
    remedy: "add its address to `trustProxies` in the daemon's configuration file",
  });
});

test('a home that others can change is a finding, with its remedy', async () => {
  const workspace = makeWorkspace();
  await workspace.hookmill('secrets', 'set', 'TOKEN', { stdin: 'a-value-of-some-length' });
  chmodSync(workspace.home, 0o777);
  const { exitCode, find } = await examine(workspace);
  expect(exitCode).toBe(1);
  expect(find('store')).toMatchObject({ state: 'problem', text: expect.stringContaining('chmod') });
  const { stdout } = await workspace.hookmill('doctor');
  expect(stdout).toMatch(/^problem {2}store: .*\n {11}correct that, and try again$/m);
});

describe("with the daemon's configuration file", () => {
  const examineWith = async (settings: object, workspace = makeWorkspace()) => {
    workspace.write('daemon.yaml', JSON.stringify(settings));
    return examine(workspace, { HOOKMILL_CONFIG: 'daemon.yaml' });
  };

  test('says what is wrong in it, and where', async () => {
    const { find, exitCode } = await examineWith({ port: 'x' });
    expect(find('settings')).toMatchObject({
      state: 'problem',
      text: expect.stringMatching(/^daemon\.yaml:1: /),
    });
    expect(exitCode).toBe(1);
  });

  test.runIf(canBecomeOthers)('tries whether commands can run as the user of runs', async () => {
    const directory = '/tmp/made-when-the-daemon-starts';
    const examineUser = async (user: string) =>
      (await examineWith({ runs: { directory, runner: { kind: 'command', argv: ['true'], user } } })).find(
        'runs',
      );
    expect(await examineUser('nobody')).toEqual({
      subject: 'runs',
      state: 'ok',
      text: 'commands can run as nobody',
    });
    expect(await examineUser('no-such-user')).toMatchObject({
      state: 'problem',
      text: 'runs.runner.user: there is no user "no-such-user"; create it: useradd --system --create-home no-such-user',
    });
  });

  test('begins a sign-in at the provider', async () => {
    const provider = await startHostileProvider('secret');
    const { issuer } = provider;
    const workspace = makeWorkspace();
    const examineSignIn = async (change: object = {}, managementUrl = 'https://hooks.example.com') => {
      const grants = [{ group: 'platform', permission: 'manage' }];
      const signIn = { issuer, clientId: 'hookmill', grants, ...change };
      return examineWith({ managementUrl, signIn }, workspace);
    };
    const { find } = await examineSignIn();
    expect(find('sign-in')).toMatchObject({
      state: 'ok',
      text: `${issuer} answers; it must have the redirect URI https://hooks.example.com/sign-in`,
    });
    const insecure = await examineSignIn({}, 'http://hooks.example.com');
    expect(insecure.find('settings')).toMatchObject({ state: 'problem' });
    const texts = [
      await examineSignIn({ issuer: issuer.replace('127.0.0.1', 'localhost') }),
      await examineSignIn({ issuer: `http://127.0.0.1:${await findFreePort()}` }),
      await examineSignIn({ clientSecret: 'OIDC' }),
    ].map(({ find }) => find('sign-in')?.text);
    expect(texts).toEqual([
      expect.stringMatching(/: discovered metadata issuer does not match/),
      expect.stringMatching(/: connect ECONNREFUSED/),
      expect.stringMatching(/: signIn.clientSecret: the team secret OIDC has no value/),
    ]);
  });
});
