import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { testLimitMs } from '../../support/test-limit.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const script = join(import.meta.dirname, '../../../examples/start.ts');

/** Starts what `npm start` starts once everything is built, and collects what it prints. */
function start({ directory, path }: Workspace, env: Record<string, string>) {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const started = execa(process.execPath, [script, path('demo')], {
    cwd: directory,
    extendEnv: false,
    env: { PATH, NODE_COMPILE_CACHE, HOME: directory, ...env },
    reject: false,
    all: true,
  });
  let printed = '';
  started.all.on('data', data => {
    printed += data;
  });
  onTestFinished(async () => {
    started.kill('SIGTERM');
    await started;
  });
  return { started, printed: () => printed };
}

test('prints the URLs that are served; a second start says that the first one serves, and where', {
  timeout: 2 * testLimitMs,
}, async () => {
  const workspace = makeWorkspace();
  const [port, managementPort] = [await findFreePort(), await findFreePort()];
  const env = { HOOKMILL_PORT: String(port), HOOKMILL_MANAGEMENT_PORT: String(managementPort) };
  const first = start(workspace, env);
  await eventually(() => first.printed().includes('Ctrl-C'));
  expect(first.printed()).toContain(`http://127.0.0.1:${port}/webhooks/w/`);
  expect(first.printed()).not.toMatch(/:808\d/);
  expect(first.printed()).toContain('./hookmill -C demo send deploys --payload demo/payloads/deploy.json\n');
  // Even if its variables name other ports, or none.
  const second = await start(workspace, {}).started;
  expect(second.exitCode).toBe(0);
  expect(second.all).toContain(
    `hookmill already serves demo/: its dashboard is at http://127.0.0.1:${managementPort}.`,
  );
});

test('a busy port names the variable that changes it; what cannot be written names the way out', {
  timeout: 2 * testLimitMs,
}, async () => {
  const workspace = makeWorkspace();
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address ? String(address.port) : '';
  const busy = await start(workspace, { HOOKMILL_PORT: port, HOOKMILL_MANAGEMENT_PORT: '0' }).started;
  expect(busy.exitCode).toBe(1);
  expect(busy.all).toContain(`port ${port} is already in use`);
  expect(busy.all).toContain('HOOKMILL_PORT');

  const blocked = makeWorkspace();
  blocked.write('demo', 'a file');
  const { exitCode, all } = await start(blocked, {}).started;
  expect(exitCode).toBe(1);
  expect(all).toContain('npm start -- DIRECTORY');
  expect(all).not.toMatch(/^ +at /m);
});
