import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { execa, execaSync } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { bearerOf } from '../../support/daemon.ts';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { type Answer, send } from '../../support/http.ts';
import { query, usePostgres } from '../../support/postgres.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const directory = join(import.meta.dirname, '../../../deploy/compose');
const read = (file: string) => readFileSync(join(directory, file), 'utf8');
const isProxyMissing = execaSync('haproxy', ['-v'], { reject: false }).exitCode !== 0;
const server = usePostgres();

// Needs the program haproxy.
test.skipIf(isProxyMissing)(
  'behind HAProxy, daemons restart in turn and no sender sees a failure',
  async () => {
    const url = await server.createDatabase();
    const env = { HOOKMILL_STORE: url, HOOKMILL_KEY: randomBytes(32).toString('base64') };
    const [one, two] = [await makeReplica(env), await makeReplica(env)];
    const { target, secret } = await applyWebhook(one.workspace, env);
    await Promise.all([one.start(), two.start()]);
    const proxyUrl = await startProxy(one, two);
    const load = startLoad(proxyUrl + target, secret);
    for (const replica of [one, two]) {
      await load.sendMore();
      expect(await replica.stop()).toBe(0);
      await load.sendMore();
      await replica.start();
    }
    const answers = await load.end();
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    const { rows } = await query(url, 'SELECT id FROM hookmill.deliveries');
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(answers.map(({ deliveryId }) => deliveryId)));
  },
);

interface Replica {
  readonly workspace: Workspace;
  readonly port: number;
  readonly managementPort: number;
  /** Starts the daemon, and waits until it is ready. */
  start(): Promise<void>;
  stop(): Promise<number | undefined>;
}

/** A daemon with the settings of the example, and limits that the test does not reach. */
async function makeReplica(env: Readonly<Record<string, string>>): Promise<Replica> {
  const workspace = makeWorkspace();
  const [port, managementPort] = [await findFreePort(), await findFreePort()];
  const limits = { deliveriesPerMinute: 1_000_000 };
  workspace.write('daemon.yaml', JSON.stringify({ ...parse(read('daemon.yaml')), limits }));
  const words = ['serve', '--config', 'daemon.yaml', '--port', `${port}`];
  const spawn = () => workspace.start([...words, '--management-port', `${managementPort}`], { env });
  let child: ReturnType<typeof spawn> | undefined;
  onTestFinished(() => {
    child?.kill('SIGKILL');
  });
  const isReady = () =>
    fetch(`http://127.0.0.1:${managementPort}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  return {
    workspace,
    port,
    managementPort,
    start: async () => {
      child = spawn();
      await eventually(isReady);
    },
    stop: async () => {
      child?.kill('SIGTERM');
      return (await child)?.exitCode;
    },
  };
}

async function applyWebhook(workspace: Workspace, env: Readonly<Record<string, string>>) {
  workspace.write('webhooks/deploys.yaml', 'secretName: DEPLOYS\n');
  const secret = (await workspace.hookmill('secrets', 'generate', 'DEPLOYS', { env })).stdout.trim();
  await workspace.hookmill('apply', { env });
  const { stdout } = await workspace.hookmill('webhooks', 'list', '-o', 'json', { env });
  return { target: new URL(JSON.parse(stdout)[0].url).pathname, secret };
}

/** Starts the proxy of the example, but without the retries that would hide what a daemon refuses. */
async function startProxy(one: Replica, two: Replica): Promise<string> {
  const config = makeWorkspace();
  const strict = read('haproxy.cfg').replace(/^ *(option redispatch|retries|retry-on) .*$/gm, '');
  config.write('haproxy.cfg', strict.replace('defaults\n', 'defaults\n  retries 0\n'));
  const [port, managementPort] = [await findFreePort(), await findFreePort()];
  const env = {
    INGRESS_ADDRESS: `127.0.0.1:${port}`,
    MANAGEMENT_ADDRESS: `127.0.0.1:${managementPort}`,
    ONE_PORT: `${one.port}`,
    ONE_MANAGEMENT_PORT: `${one.managementPort}`,
    TWO_PORT: `${two.port}`,
    TWO_MANAGEMENT_PORT: `${two.managementPort}`,
  };
  await execa('haproxy', ['-c', '-f', join(directory, 'haproxy.cfg')], { env });
  const proxy = execa('haproxy', ['-db', '-f', config.path('haproxy.cfg')], { env, reject: false });
  onTestFinished(async () => {
    proxy.kill('SIGKILL');
    await proxy;
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => {
    if (proxy.nodeChildProcess.exitCode !== null)
      throw new Error(`the proxy did not start: ${(await proxy).stderr}`);
    const answer = await fetch(url).catch(() => undefined);
    return answer?.status === 405;
  });
  return url;
}

/** Sends deliveries one after the other on each of several connections, and each on its own connection. */
function startLoad(url: string, secret: string) {
  const agent = new Agent({ keepAlive: true });
  const answers: Answer[] = [];
  let isOver = false;
  const sendUntilOver = async (connection: { agent?: Agent }) => {
    while (!isOver) {
      const body = JSON.stringify({ number: Math.random() });
      answers.push(await send(url, { headers: bearerOf(secret), body, ...connection }));
    }
  };
  const senders = Promise.all([{}, {}, { agent }, { agent }].map(sendUntilOver));
  const sendMore = async () => {
    const before = answers.length;
    await eventually(() => answers.length > before + 100);
  };
  const end = async () => {
    isOver = true;
    await senders;
    agent.destroy();
    return answers;
  };
  return { sendMore, end };
}
