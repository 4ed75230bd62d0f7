import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { SqliteDatabase } from '../../../../store/home/sqlite.ts';
import { runCommand } from '../../../support/command-runner.ts';
import { startDaemon, type TestDaemon } from '../../../support/daemon.ts';
import { makeWorkspace, type Workspace } from '../../../support/workspace.ts';

const freePorts = ['serve', '--port', '0', '--management-port', '0'];
const settings = { host: '127.0.0.2', baseUrl: 'https://a.example' };

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startDaemon({ settings });
});
afterAll(() => daemon.stop());

/** Runs `serve` where it ends before it starts anything, in the process that runs commands. */
async function refuse({ directory }: Workspace, ...args: string[]) {
  const env = { HOME: directory, NO_COLOR: '1' };
  return runCommand({ args: [...freePorts, ...args], cwd: directory, env, stdin: '' });
}

test('refuses a second daemon of the same home and names the first', async () => {
  const { workspace, process } = daemon;
  const { exitCode, stdout, stderr } = await workspace.hookmill(...freePorts);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toMatch(
    /^hookmill: \S+deliveries\.db is locked by hookmill serve .*\(pid \d+, since \S+\); try again later\n$/,
  );
  expect(stderr).toContain(`(pid ${process.pid},`);
});

test.each([
  ['--port', 'HOOKMILL_PORT'],
  ['--management-port', 'HOOKMILL_MANAGEMENT_PORT'],
])('says which port is in use and what changes it, %s, and ends', async (flag, variable) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address ? String(address.port) : '';
  expect(await makeWorkspace().hookmill(...freePorts, flag, port)).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining(
      `\nhookmill: port ${port} is already in use by another process; choose another one with ${flag} or ${variable}\n`,
    ),
  });
});

test('says that the delivery log is of a newer version, and ends', async () => {
  const workspace = makeWorkspace();
  workspace.write('.hookmill/deliveries.db', '');
  const database = new SqliteDatabase(workspace.path('.hookmill/deliveries.db'));
  database.pragma('user_version = 999');
  database.close();
  expect(await workspace.hookmill(...freePorts)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(
      /^hookmill: \S+deliveries\.db: the delivery log has format 999, .*use the newer hookmill/,
    ),
  });
});

describe('the configuration file', () => {
  test('is reported with each mistake at its position', async () => {
    const workspace = makeWorkspace();
    workspace.write(
      'daemon.yaml',
      'prot: 80\nlimits:\n  bodyBytes: "many"\ntrustProxies: [10.0.0.0/8, nonsense]\n',
    );
    const refused = await refuse(workspace, '--config', 'daemon.yaml');
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused?.stderr).toMatch(/^daemon\.yaml:1:1: .*prot/m);
    expect(refused?.stderr).toMatch(/^daemon\.yaml:3:14: /m);
    expect(refused?.stderr).toMatch(/^daemon\.yaml:4:28: /m);
    expect(refused?.stderr).toMatch(/the daemon was not started\n$/);
  });

  test('is wrong usage when it is not there', async () => {
    expect(await refuse(makeWorkspace(), '--config', 'none.yaml')).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: 'hookmill: none.yaml cannot be read (ENOENT)\n',
    });
  });

  test('gives way to the environment, and that to flags; hosts where it cannot listen are named', async () => {
    const workspace = makeWorkspace();
    workspace.write('daemon.yaml', JSON.stringify({ host: '203.0.113.1' }));
    const serve = async (...more: string[]) => {
      const env = { HOOKMILL_HOST: '203.0.113.2' };
      const words = [...freePorts, '--config', 'daemon.yaml', ...more];
      const { exitCode, stderr } = await workspace.hookmill(...words, { env });
      expect(exitCode).toBe(1);
      return stderr;
    };
    expect(await serve()).toMatch(/^hookmill: cannot listen on 203\.0\.113\.2 \(EADDRNOTAVAIL\)\n$/m);
    expect(await serve('--host', 'no.such.host.invalid')).toMatch(
      /^hookmill: unknown host no\.such\.host\.invalid \(\w+\)\n$/m,
    );
    expect(daemon.ingressUrl).toMatch(/^http:\/\/127\.0\.0\.2:/);
    // Management stays on loopback, whatever the ingress listens on.
    expect(daemon.ingressUrl).toMatch(/^http:\/\/127\.0\.0\.2:/);
    expect(daemon.managementUrl).toMatch(/^http:\/\/127\.0\.0\.1:/);
  });
});

test.each([
  ['--port', '65536'],
  ['--port', '80x'],
  ['--base-url', 'ftp://example.com'],
  ['--log-level', 'loud'],
])('finds %s %j wrong usage', async (flag, value) => {
  const refused = await refuse(makeWorkspace(), `${flag}=${value}`);
  expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
  expect(refused?.stderr).toContain('the daemon was not started');
});
