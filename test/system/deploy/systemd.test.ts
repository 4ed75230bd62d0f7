import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { takeSockets } from '../../../cli/service-manager.ts';
import { settingsShape } from '../../../daemon/settings.ts';
import { startDaemonForTest } from '../../support/daemon.ts';
import { parseHookmill } from '../../support/hookmill-command-line.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const units = join(import.meta.dirname, '../../../deploy/systemd');
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

test('systemd hears no other process of the service than the daemon', () => {
  const unit = readUnit('hookmill.service');
  expect(unit).toMatchObject({
    Type: 'notify',
    NotifyAccess: 'main',
    OpenFile: '/run/systemd/notify:notify',
  });
  const environment = { LISTEN_FDS: '1', LISTEN_PID: '7', LISTEN_FDNAMES: unit.OpenFile?.split(':').at(-1) };
  expect(takeSockets(environment, 7)).toEqual({ notify: 3 });
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
  const { status, stderr } = analyze('verify', '--man=no', service);
  // Before systemd 253.
  const mistakes = stderr.replace(/^.*Unknown key (name )?'OpenFile'.*\n/m, '');
  expect({ status, mistakes }).toEqual({ status: 0, mistakes: '' });
  // An exposure of 2.0, in tenths.
  expect(analyze('security', '--offline=true', '--threshold=20', service).status).toBe(0);
});

test('the daemon tells systemd that it is ready, alive and stopping', async () => {
  const workspace = makeWorkspace();
  // Stands for the socket that systemd connects.
  const notified = () => workspace.read('notified');
  const daemon = await startDaemonForTest({
    workspace,
    env: { NOTIFY_SOCKET: '/run/systemd/notify', WATCHDOG_USEC: '200000' },
    through: ['sh', '-c', 'LISTEN_FDS=1 LISTEN_PID=$$ LISTEN_FDNAMES=notify exec "$@" 3>>notified', 'sh'],
  });
  await expect.poll(notified).toMatch(/^READY=1\nWATCHDOG=1\nWATCHDOG=1\n/);
  await daemon.stop();
  expect(notified()).toMatch(/\nSTOPPING=1\n(WATCHDOG=1\n)*$/);
});

test('a unit without a descriptor for messages is told what to add, and the daemon serves', async () => {
  const daemon = await startDaemonForTest({ env: { NOTIFY_SOCKET: '/run/systemd/notify' } });
  await daemon.stop();
  expect(daemon.stderr()).toContain('add OpenFile=/run/systemd/notify:notify to the unit');
});
