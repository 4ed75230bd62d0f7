import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { takeSockets } from '../../cli/take-sockets.ts';
import { settingsShape } from '../../daemon/settings.ts';
import { startDaemonForTest } from '../support/daemon.ts';
import { parseHookmill } from '../support/hookmill-command-line.ts';
import { makeWorkspace } from '../support/workspace.ts';

const units = join(import.meta.dirname, '../../deploy/systemd');
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

/** The values of a unit file, by their keys. */
function readUnit(name: string): Readonly<Record<string, string>> {
  const text = readFileSync(join(units, name), 'utf8');
  return Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, key, value]) => [key, value]));
}

test('hookmill takes the socket of the unit for its ingress', () => {
  const names = readUnit('hookmill.socket').FileDescriptorName;
  const environment = { LISTEN_FDS: '1', LISTEN_PID: '7', LISTEN_FDNAMES: names };
  expect(takeSockets(environment, 7)).toEqual({ ingress: 3 });
  expect(names).toBe('ingress');
});

test('the service starts hookmill itself, and gives it the time that it may take to stop', () => {
  const { ExecStart = '', TimeoutStopSec } = readUnit('hookmill.service');
  const [program, ...words] = ExecStart.split(' ');
  expect(program).toMatch(/^\/.*\/hookmill$/);
  expect(parseHookmill(words)).toBeUndefined();
  // No stop delay that can be set leaves less than the 10 s in which the daemon ends.
  const stopDelaySeconds = Number(TimeoutStopSec) - 10;
  expect(settingsShape.safeParse({ stopDelaySeconds }).success).toBe(false);
});

test('no other user among the processes of the service reaches the socket on which systemd hears them', () => {
  const { RuntimeDirectory, BindPaths, ...unit } = readUnit('hookmill.service');
  const text = readFileSync(join(units, 'hookmill.service'), 'utf8');
  const own = `/run/${RuntimeDirectory}/notify`;
  expect(unit).toMatchObject({ RuntimeDirectoryMode: '0700', InaccessiblePaths: '/run/systemd/notify' });
  expect(BindPaths).toBe(`/run/systemd/notify:${own}`);
  expect(text).toContain(`\nEnvironment=NOTIFY_SOCKET=${own}\n`);
});

test.runIf(hasSystemd)('systemd finds no mistake in the units, and little that the service may do', () => {
  const directory = mkdtempSync(join(tmpdir(), 'units-'));
  const service = join(directory, 'hookmill.service');
  copyFileSync(join(units, 'hookmill.socket'), join(directory, 'hookmill.socket'));
  const text = readFileSync(join(units, 'hookmill.service'), 'utf8');
  writeFileSync(service, text.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
  const analyze = (...args: string[]) => {
    const { status, stderr } = spawnSync('systemd-analyze', args, {
      encoding: 'utf8',
      env: { ...process.env, SYSTEMD_UNIT_PATH: `${directory}:` },
    });
    return { status, stderr };
  };
  expect(analyze('verify', '--man=no', service)).toEqual({ status: 0, stderr: '' });
  // An exposure of 2.0, in tenths.
  expect(analyze('security', '--offline=true', '--threshold=20', service).status).toBe(0);
});

test('the daemon tells systemd that it is ready, alive and stopping', async () => {
  const workspace = makeWorkspace();
  // Stands for the program of systemd.
  workspace.write(
    'bin/systemd-notify',
    '#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> "$(dirname "$0")/../notified"\n',
  );
  chmodSync(workspace.path('bin/systemd-notify'), 0o755);
  const daemon = await startDaemonForTest({
    workspace,
    env: {
      PATH: `${workspace.path('bin')}:${process.env.PATH}`,
      NOTIFY_SOCKET: '/run/notify',
      WATCHDOG_USEC: '200000',
    },
  });
  const notified = () => (existsSync(workspace.path('notified')) ? workspace.read('notified') : '');
  const ready = `/run/notify READY=1 MAINPID=${daemon.process.pid}\n/run/notify WATCHDOG=1\n`;
  await expect.poll(notified).toMatch(new RegExp(`^${ready}`));
  await daemon.stop();
  await expect.poll(notified).toMatch(/^\/run\/notify STOPPING=1$/m);
});
