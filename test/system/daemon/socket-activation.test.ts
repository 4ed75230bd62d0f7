import { Agent } from 'node:http';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { makeWebhook, type Readiness } from '../../support/daemon.ts';
import { eventually } from '../../support/eventually.ts';
import { connectTo, head } from '../../support/http.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const holder = join(import.meta.dirname, '../../support/socket-holder.ts');
const serve = ['serve', '--config', 'daemon.yaml'];

test('serves on the passed sockets, whatever the settings say', async () => {
  const daemon = await activate('management:ingress', { port: 1, managementPort: 1 });
  const webhook = await makeWebhook(daemon);
  expect((await webhook.post('{}')).status).toBe(202);
});

test('restarts under load without refusing or breaking a connection', async () => {
  const daemon = await activate('ingress');
  const webhook = await makeWebhook(daemon);
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  let isOver = false;
  const statuses: number[] = [];
  const sendUntilOver = async (sent: { agent?: Agent }) => {
    while (!isOver) {
      const { status } = await webhook.post(JSON.stringify({ number: Math.random() }), sent);
      statuses.push(status);
    }
  };
  const senders = Promise.all([{}, {}, {}, { agent }].map(sendUntilOver));
  const sendMore = async () => {
    const before = statuses.length;
    await eventually(() => statuses.length > before + 50);
  };
  for (let restart = 0; restart < (inject('isLong') ? 3 : 1); restart++) {
    await sendMore();
    await daemon.stop();
    await daemon.start();
  }
  await sendMore();
  isOver = true;
  await senders;
  expect(new Set(statuses)).toEqual(new Set([202]));
});

test('answers what was sent while no daemon ran', async () => {
  const daemon = await activate('ingress');
  const webhook = await makeWebhook(daemon);
  await daemon.stop();
  const waiting = Array.from({ length: 600 }, (_, number) => webhook.post(JSON.stringify({ number })));
  const connection = await connectTo(webhook.url);
  connection.write(head(webhook.url, ['Content-Length: 2', `Authorization: Bearer ${webhook.secret}`]));
  await daemon.start();
  connection.write('{}');
  await connection.receives(/^HTTP\/1\.1 202 /);
  expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([202]));
});

test('refuses a descriptor that is not a listening TCP socket', async () => {
  const through = ['sh', '-c', 'LISTEN_FDS=1 LISTEN_PID=$$ exec "$@" 3</dev/null', 'sh'];
  const { exitCode, stderr } = await makeWorkspace().hookmill('serve', '--management-port', '0', { through });
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /^hookmill: descriptor 3 \(ingress\) is not a listening TCP socket; .*ListenStream/m,
  );
});

test('ignores sockets for another process, and says so', async () => {
  const env = { LISTEN_FDS: '1', LISTEN_PID: '1' };
  const where = ['--host', '192.0.2.1', '--management-port', '0'];
  const { exitCode, stderr } = await makeWorkspace().hookmill('serve', ...where, { env });
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/LISTEN_FDS is ignored, because its sockets are for process 1\./);
  expect(stderr).toMatch(/cannot listen on 192\.0\.2\.1/);
});

interface ActivatedDaemon {
  readonly workspace: Workspace;
  readonly ingressUrl: string;
  readyz(): Promise<Readiness>;
  /** Starts it again on the same sockets. */
  start(): Promise<void>;
  /** Sends SIGTERM, and waits until its process has ended. */
  stop(): Promise<void>;
}

/** Starts a daemon on sockets of another process that keeps them open. */
async function activate(names: string, settings: object = {}): Promise<ActivatedDaemon> {
  const workspace = makeWorkspace();
  const limits = { deliveriesPerMinute: 1_000_000 };
  workspace.write('daemon.yaml', JSON.stringify({ managementPort: 0, limits, ...settings }));
  const child = workspace.start(serve, { through: [process.execPath, holder, names], buffer: false });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', chunk => {
      output += chunk;
    });
  }
  const pid = () => Number(/.*pid (\d+)\n/s.exec(output)?.[1]);
  const isReady = () => /hookmill serves .* on (\S+) \(management on (\S+)\)\n/.exec(output);
  const hasEnded = () => output.includes('\nended with ');
  const start = async () => {
    output = '';
    child.stdin?.write('.');
    const [, ingressUrl = '', managementUrl = ''] = await eventually(() => {
      if (hasEnded()) throw new Error(`the daemon did not start: ${output}`);
      return isReady();
    });
    return { ingressUrl, managementUrl };
  };
  const stop = async () => {
    process.kill(pid());
    await eventually(hasEnded);
  };
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (!hasEnded()) process.kill(pid(), 'SIGKILL');
    await child;
  });
  let urls = await start();
  return {
    workspace,
    ingressUrl: urls.ingressUrl,
    readyz: async () => (await (await fetch(`${urls.managementUrl}/readyz`)).json()) as Readiness,
    start: async () => {
      urls = await start();
    },
    stop,
  };
}
