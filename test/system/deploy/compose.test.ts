import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa, execaSync } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { startDaemonForTest } from '../../support/daemon.ts';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { send } from '../../support/http.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const directory = join(import.meta.dirname, '../../../deploy/compose');
const read = (file: string) => readFileSync(join(directory, file), 'utf8');
const compose = parse(read('compose.yaml'), { merge: true });
const { services } = compose;
const isProxyMissing = execaSync('haproxy', ['-v'], { reject: false }).exitCode !== 0;
const isPromtoolMissing = execaSync('promtool', ['--version'], { reject: false }).exitCode !== 0;

interface Service {
  readonly volumes?: readonly string[];
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly network_mode?: string;
}

const all = Object.values<Service>(services);

test('the example has no value of a secret, and a name for each variable', () => {
  const names = [...read('.env.example').matchAll(/^(\w+)=(.*)$/gm)];
  expect(names.map(([, , value]) => value)).toEqual(names.map(() => ''));
  const used = [...read('compose.yaml').matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
  expect(new Set(used)).toEqual(new Set(names.map(([, name]) => name)));
});

test('the daemons of the example get the key as a file that git ignores, not as a variable', () => {
  const [name = ''] = Object.keys(compose.secrets);
  const { file } = compose.secrets[name];
  for (const { environment, secrets } of [services.one, services.two]) {
    expect(environment).not.toHaveProperty('HOOKMILL_KEY');
    expect(secrets).toEqual([name]);
    expect(environment.HOOKMILL_KEY_FILE).toBe(`/run/secrets/${name}`);
  }
  const ignored = execaSync('git', ['check-ignore', file], { cwd: directory, reject: false });
  expect(ignored.exitCode).toBe(0);
});

test('the example names files, volumes, configs and services that exist', () => {
  const sources = all.flatMap(({ volumes = [] }) => volumes.map(volume => volume.split(':')[0] ?? ''));
  const [files, volumes] = [true, false].map(isFile =>
    sources.filter(name => name.startsWith('.') === isFile),
  );
  expect(files).not.toEqual([]);
  for (const file of files ?? []) expect(existsSync(join(directory, file)), file).toBe(true);
  expect(new Set(volumes)).toEqual(new Set(Object.keys(compose.volumes)));
  const configs = all.flatMap(({ configs = [] }) => configs.map(({ source }) => source));
  expect(configs).toEqual(Object.keys(compose.configs));
  const { build } = services.one;
  expect(existsSync(join(directory, build.context, build.dockerfile))).toBe(true);
  const others = all.flatMap(({ depends_on = {}, network_mode = 'service:proxy' }) => [
    ...Object.keys(depends_on),
    network_mode.replace('service:', ''),
  ]);
  for (const name of others) expect(Object.keys(services)).toContain(name);
});

test('the daemons of the example have the ports that the proxy and Prometheus know', () => {
  const environments = [services.one, services.two].map(({ environment }) => environment);
  const ports = environments.map(({ HOOKMILL_PORT }) => HOOKMILL_PORT);
  const managementPorts = environments.map(({ HOOKMILL_MANAGEMENT_PORT }) => HOOKMILL_MANAGEMENT_PORT);
  const known = [...read('haproxy.cfg').matchAll(/_PORT-(\d+)/g)].map(([, port]) => Number(port));
  expect(new Set(known)).toEqual(new Set([...ports, ...managementPorts]));
  const { scrape_configs: jobs } = parse(compose.configs.prometheus.content);
  expect(jobs[0].static_configs[0].targets).toEqual(managementPorts.map(port => `localhost:${port}`));
  const { datasources } = parse(compose.configs.datasource.content);
  const [, port] = datasources[0].url.split('http://proxy:');
  expect(services.proxy.ports).toContain(`127.0.0.1:${port}:${port}`);
});

test('Grafana finds the board where the example mounts it', () => {
  const { providers } = parse(compose.configs.boards.content);
  const { volumes, environment } = services.grafana;
  expect(volumes).toEqual([`../grafana:${providers[0].options.path}:ro`]);
  const home = environment.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH.replace(
    providers[0].options.path,
    '../grafana',
  );
  expect(existsSync(join(directory, home))).toBe(true);
});

// Needs the program haproxy.
test.skipIf(isProxyMissing)(
  'behind the proxy of the example, strangers get no metrics and a short answer on readiness; a token shows all',
  async () => {
    const workspace = makeWorkspace();
    const daemon = await startDaemonForTest({ workspace });
    const ports = [await findFreePort(), await findFreePort()];
    const env = {
      INGRESS_ADDRESS: `127.0.0.1:${ports[0]}`,
      MANAGEMENT_ADDRESS: `127.0.0.1:${ports[1]}`,
      ONE_MANAGEMENT_PORT: new URL(daemon.managementUrl).port,
    };
    const proxy = execa('haproxy', ['-db', '-f', join(directory, 'haproxy.cfg')], { env, reject: false });
    onTestFinished(async () => {
      proxy.kill('SIGKILL');
      await proxy;
    });
    const url = `http://127.0.0.1:${ports[1]}`;
    const ask = (path: string) => fetch(url + path).catch(() => undefined);
    await eventually(async () => (await ask('/'))?.ok);
    expect(await (await ask('/readyz'))?.json()).toEqual({ status: 'ready' });
    // The proxy compares paths as they are; the daemon knows what they mean.
    const { body } = await send(url, { method: 'GET', target: '/%2e/metrics' });
    expect([(await ask('/metrics'))?.status, JSON.parse(body).code]).toEqual([403, 'metrics-refused']);
    expect(await daemon.metrics()).toContain('hookmill_');

    workspace.write('webhooks/a.yaml', 'secretName: TOKEN\n');
    await workspace.hookmill('secrets', 'generate', 'TOKEN');
    await workspace.hookmill('apply');
    const { stdout } = await workspace.hookmill('tokens', 'create', 'reader', '--permission', 'read');
    const server = { env: { HOOKMILL_SERVER: url, HOOKMILL_TOKEN: stdout.trim() } };
    const status = JSON.parse((await workspace.hookmill('status', '-o', 'json', server)).stdout);
    expect(status.daemon).toEqual({ state: 'ready', url, reason: null, serial: 1 });
  },
);

// Needs the program promtool, of the Debian package prometheus.
test.skipIf(isPromtoolMissing)('Prometheus takes the configuration of the example, with the alerts', () => {
  const workspace = makeWorkspace();
  for (const volume of services.prometheus.volumes.filter((name: string) => name.startsWith('.'))) {
    const [file, target] = volume.split(':');
    copyFileSync(join(directory, file), workspace.path(target.replace('/etc/prometheus/', '')));
  }
  workspace.write('prometheus.yml', compose.configs.prometheus.content);
  const { stdout } = execaSync('promtool', ['check', 'config', workspace.path('prometheus.yml')]);
  expect(stdout).toContain('SUCCESS: 1 rule files found');
});
