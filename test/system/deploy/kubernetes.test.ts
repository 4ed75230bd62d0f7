import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { execa, execaSync } from 'execa';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { callbackPrefix } from '../../../daemon/runs/callbacks.ts';
import { settingsShape } from '../../../daemon/settings.ts';
import { startDaemonForTest } from '../../support/daemon.ts';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const root = join(import.meta.dirname, '../../..');
const directory = join(root, 'deploy/kubernetes');
const hasKubectl = spawnSync('kubectl', ['kustomize', join(directory, 'embedded')]).status === 0;
const isProxyMissing = spawnSync('haproxy', ['-v']).status !== 0;

interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  // biome-ignore lint/suspicious/noExplicitAny: each kind has its own.
  readonly spec: any;
}

// Needs the program kubectl.
describe.skipIf(!hasKubectl).each(['embedded', 'postgres'])('Kubernetes with the store %s', store => {
  const objects = render(store);
  const workload = objects.find(({ kind }) => /^(StatefulSet|Deployment)$/.test(kind))?.spec;
  const pod = workload?.template.spec;

  test('has objects that keep to the schemas of Kubernetes', async () => {
    for (const object of objects) {
      const { [object.kind]: kind } = await import(moduleOf(object));
      const model: { validate(): void } = new kind(object);
      expect(() => model.validate()).not.toThrow();
    }
  });

  test('has no key that Kubernetes does not know', () => {
    const workspace = makeWorkspace();
    symlinkSync(join(root, 'node_modules'), workspace.path('node_modules'));
    const lines = objects.map(
      (object, index) =>
        `export const object${index}: import('${moduleOf(object)}').I${object.kind} = ${JSON.stringify(object)};`,
    );
    workspace.write('objects.mts', lines.join('\n'));
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext'];
    const { stdout } = execaSync('tsc', [...options, 'objects.mts'], {
      cwd: workspace.directory,
      localDir: root,
      preferLocal: true,
      reject: false,
    });
    expect(stdout).toBe('');
  });

  test('names ports, services, volumes and settings that exist', () => {
    const containers = [...pod.containers, ...pod.initContainers];
    const ports = containers.flatMap(({ ports }) => ports.map(({ name }: { name: string }) => name));
    expect(ports).toEqual(['deliveries', 'watch', 'dashboard']);
    const named = [...JSON.stringify(objects).matchAll(/"(?:port|targetPort)":"?([a-z]\w*)/g)];
    expect(new Set(named.map(([, port]) => port))).toEqual(new Set(ports));
    const mounts = containers.flatMap(({ volumeMounts }) =>
      volumeMounts.map(({ name }: { name: string }) => name),
    );
    const claims = workload.volumeClaimTemplates ?? [];
    const volumes = [...pod.volumes, ...claims.map(({ metadata }: KubernetesObject) => metadata)];
    expect(new Set(mounts)).toEqual(new Set(volumes.map(({ name }) => name)));
    const settings = settingsShape.parse(parse(read('base/daemon.yaml')));
    const hosts = objects
      .filter(({ kind }) => kind === 'Ingress')
      .map(({ spec }) => `https://${spec.rules[0].host}`);
    expect(hosts).toEqual([settings.baseUrl, settings.managementUrl]);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(settings.stopDelaySeconds + 10);
  });

  test('lets senders deliver and receivers report through the Ingress, and nobody anything else', () => {
    const ingress = objects.find(({ kind }) => kind === 'Ingress');
    const paths = ingress?.spec.rules[0].http.paths.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(['/webhooks/w/', callbackPrefix]);
  });

  test('gives the daemon the key as a file, not as a variable', () => {
    const [{ env, volumeMounts }] = pod.containers;
    const variables = new Map(env.map(({ name, value }: { name: string; value?: string }) => [name, value]));
    expect([...variables.keys()]).not.toContain('HOOKMILL_KEY');
    const { name, mountPath } = volumeMounts.find(({ mountPath }: { mountPath: string }) =>
      variables.get('HOOKMILL_KEY_FILE')?.toString().startsWith(`${mountPath}/`),
    );
    const { secret } = pod.volumes.find((volume: { name: string }) => volume.name === name);
    const [item] = secret.items;
    expect([secret.secretName, item.key]).toEqual(['hookmill', 'key']);
    expect(variables.get('HOOKMILL_KEY_FILE')).toBe(`${mountPath}/${item.path}`);
    // No command of a run and no other container gets it.
    expect(pod.initContainers[0].volumeMounts.map(({ name }: { name: string }) => name)).not.toContain(name);
  });

  test('starts the daemon without rights, and without variables that a Service would set', () => {
    expect(pod.enableServiceLinks).toBe(false);
    expect(pod.securityContext.runAsNonRoot).toBe(true);
    for (const { securityContext } of [...pod.containers, ...pod.initContainers]) {
      expect(securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });
});

// Needs the program haproxy.
test.skipIf(isProxyMissing)(
  'who watches a pod gets health and metrics, but neither dashboard nor API, and the dashboard has no metrics',
  async () => {
    const workspace = makeWorkspace();
    const daemon = await startDaemonForTest({ workspace });
    const [watch, dashboard] = [await findFreePort(), await findFreePort()];
    const config = read('base/haproxy.cfg')
      .replace(':8082', `127.0.0.1:${watch}`)
      .replace(':8083', `127.0.0.1:${dashboard}`)
      .replace('127.0.0.1:8081', new URL(daemon.managementUrl).host);
    workspace.write('haproxy.cfg', config);
    const proxy = execa('haproxy', ['-db', '-f', workspace.path('haproxy.cfg')], { reject: false });
    onTestFinished(async () => {
      proxy.kill('SIGKILL');
      await proxy;
    });
    const ask = async (port: number, path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
    await eventually(() => ask(watch, '/readyz').catch(() => undefined));
    for (const path of ['/readyz', '/healthz', '/metrics']) expect(await ask(watch, path)).toBe(200);
    expect(await ask(watch, '/')).toBe(403);
    expect(await ask(watch, '/api/v1/factories')).toBe(403);
    expect(await ask(dashboard, '/')).toBe(200);
    expect(await ask(dashboard, '/metrics')).toBe(403);
    const short = await fetch(`http://127.0.0.1:${dashboard}/readyz`);
    expect(await short.json()).toEqual({ status: 'ready' });
    await daemon.stop();
  },
);

function read(file: string): string {
  return readFileSync(join(directory, file), 'utf8');
}

function render(store: string): KubernetesObject[] {
  if (!hasKubectl) return [];
  const { stdout } = execaSync('kubectl', ['kustomize', join(directory, store)]);
  return parseAllDocuments(stdout).map(document => document.toJS());
}

/** The module of the package that has the schema. */
function moduleOf({ apiVersion, kind }: KubernetesObject): string {
  const isOperators = apiVersion.startsWith('monitoring.coreos.com/');
  return `${isOperators ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models'}/${apiVersion}/${kind}`;
}
