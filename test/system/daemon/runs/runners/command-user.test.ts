import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { canBecomeOthers } from '../../../../support/privilege.ts';
import { makeWorkspace } from '../../../../support/workspace.ts';
import { recordRun } from '../record-runs.ts';
import {
  enterable,
  openDefaultRunner,
  openRunBench,
  outputOf,
  runSettings,
  runThatIs,
  temporaryDirectory,
} from '../run-samples.ts';

const asRoot = test.runIf(canBecomeOthers);

function commandAs(user: string | number, argv: readonly string[], more: object = {}) {
  return { kind: 'command', argv, user, ...more };
}

asRoot.for([
  [
    { user: 'no-such-user' },
    'runs.runner.user: there is no user "no-such-user"; create it: useradd --system --create-home no-such-user',
  ],
  [
    { user: 'nobody', group: 'no-such-group' },
    'runs.runner.group: there is no group "no-such-group"; create it: groupadd --system no-such-group',
  ],
  [{ user: 0 }, 'runs.runner.user: 0 is root or the user of the daemon'],
] as const)('a daemon does not start with %j', async ([given, message]) => {
  const { store, deliveryLog } = await openRunBench();
  const directory = enterable();
  const settings = runSettings({ directory, runner: { kind: 'command', argv: ['true'], ...given } });
  await expect(
    openDefaultRunner(settings, { environment: process.env, store, deliveryLog, nowMs: Date.now }),
  ).rejects.toThrow(message);
});

asRoot('a daemon does not start if the user cannot enter the directory of runs', async () => {
  const { store, deliveryLog } = await openRunBench();
  const directory = join(enterable(), 'closed/runs');
  mkdirSync(directory, { recursive: true });
  chmodSync(dirname(directory), 0o700);
  const settings = runSettings({ directory, runner: commandAs('nobody', ['true']) });
  await expect(
    openDefaultRunner(settings, { environment: process.env, store, deliveryLog, nowMs: Date.now }),
  ).rejects.toThrow(`nobody cannot enter ${directory}`);
});

asRoot('a daemon that may not become another user says so and does not start', async () => {
  const workspace = makeWorkspace();
  const runs = { directory: enterable(), runner: commandAs('nobody', ['true']) };
  workspace.write('daemon.yaml', JSON.stringify({ port: 0, managementPort: 0, runs }));
  const through = ['setpriv', '--bounding-set', '-setuid,-setgid', '--'];
  const { exitCode, stderr } = await workspace.start(['serve', '--config', 'daemon.yaml'], { through });
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /runs\.runner\.user: cannot run a program as nobody: setpriv: .*; start the daemon as root/,
  );
});

test('settings with a user need a directory of runs', () => {
  expect(() => runSettings({ runner: commandAs('agent', ['true']) })).toThrow('user needs runs.directory');
  expect(() => runSettings({ runner: { kind: 'command', argv: ['true'], group: 'agent' } })).toThrow(
    'needs user',
  );
  expect(() => runSettings({ directory: 'runs', runner: commandAs('agent', ['true']) })).toThrow('absolute');
  expect(() => runSettings({ directory: '/srv', runner: commandAs('-u', ['true']) })).toThrow();
});

asRoot(
  'where it cannot have processes of its own, the command still runs as the user and ends with its group',
  async () => {
    const bench = await openRunBench();
    const programs = temporaryDirectory();
    writeFileSync(join(programs, 'unshare'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const script = 'echo $$ > pid; id -un; id -gn; sleep 600';
    const runner = commandAs('65534', ['sh', '-c', script], { group: 'daemon', timeLimitSeconds: 1 });
    const environment = { ...process.env, PATH: `${programs}:${process.env.PATH}` };
    const directory = enterable();
    await bench.start({ runner, directory, attempts: 1 }, { environment });
    const id = await recordRun(bench.deliveryLog);
    await runThatIs(bench, id, { state: 'failed', error: 'the command timed out after 1 s' });
    expect(await outputOf(bench, id)).toContain('\nnobody\ndaemon\n');
    const pid = readFileSync(join(directory, id, 'pid'), 'utf8').trim();
    expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH');
  },
);

asRoot('the command gets its signal to end, and the time to obey it', async () => {
  const bench = await openRunBench();
  const script = `trap 'echo obeyed; exit 3' TERM; sleep 600 & wait`;
  const runner = commandAs('nobody', ['sh', '-c', script], { timeLimitSeconds: 1 });
  await bench.start({ runner, directory: enterable(), attempts: 1 });
  const id = await recordRun(bench.deliveryLog);
  await runThatIs(bench, id, { state: 'failed', error: 'the command timed out after 1 s' });
  expect(await outputOf(bench, id)).toContain('obeyed');
});
