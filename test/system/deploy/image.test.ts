import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, globSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { bearerOf } from '../../support/daemon.ts';
import { eventually } from '../../support/eventually.ts';
import { findFreePort } from '../../support/free-port.ts';
import { send } from '../../support/http.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';
import { packProject } from './package-tarball.ts';

const root = join(import.meta.dirname, '../../..');
const containerfile = join(root, 'deploy/Containerfile');
// Podman needs version 2 of cgroups, and leaves mounts behind: so each command has mounts of its own.
const mountCgroups = 'mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec "$@"';
const inNamespace = ['unshare', '--mount', 'sh', '-c', mountCgroups, 'sh'];
const hasContainers = ['podman', 'tini'].every(
  program => spawnSync(inNamespace[0] ?? '', [...inNamespace.slice(1), program, '--version']).status === 0,
);

test('the base of the image is a release of Node.js that its digest pins', () => {
  const bases = readFileSync(containerfile, 'utf8').match(/^(ARG BASE=|FROM ).*/gm);
  expect(bases).toEqual([
    expect.stringMatching(/^ARG BASE=docker\.io\/library\/node:\d+\.\d+\.\d+-\w+-slim@sha256:[0-9a-f]{64}$/),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: of the Containerfile.
    'FROM ${BASE} AS package',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: of the Containerfile.
    'FROM ${BASE}',
  ]);
});

test('a digest pins each image of others that the templates of CI, Compose and Kubernetes run', () => {
  const templates = globSync('deploy/{ci,compose,kubernetes}/**/*.{yml,yaml}', { cwd: root });
  const images = templates.flatMap(file =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\bimage: *(\S+)/g)].map(([, image = '']) => image),
  );
  const others = images.filter(image => !image.startsWith('hookmill:'));
  expect(others.length).toBeGreaterThan(5);
  expect(others.filter(image => !/^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/.test(image))).toEqual([]);
});

// A minute of packing and building. Needs root, and the programs podman and tini.
describe.skipIf(!inject('isLong') || !hasContainers)(
  'the image, on a base of programs of this machine',
  () => {
    const workspace = makeWorkspace();

    beforeAll(() => buildImage(workspace));

    afterAll(async () => {
      await podman(workspace, 'rm', '--all', '--force', '--time=0');
      // Many thousand files, which would block the end of all tests.
      await rm(workspace.directory, { recursive: true, force: true });
    });

    test('accepts a delivery without rights, collects orphans of its run, and stops in order', async () => {
      const { port, container } = await startContainer(workspace);
      const inContainer = (...words: string[]) =>
        podman(workspace, 'exec', '--workdir=/definitions', container, ...words);
      const secret = await inContainer('hookmill', 'secrets', 'generate', 'BUILDS');
      await inContainer('hookmill', 'apply');
      const [{ url, uid }] = JSON.parse(await inContainer('hookmill', 'webhooks', 'list', '--output=json'));
      const trigger = `{ provider: webhook, event: received, filter: { webhook_ids: [${uid}] } }`;
      workspace.write('definitions/automations/fix.yaml', `prompt: Fix it.\ntriggers:\n  - ${trigger}\n`);
      await inContainer('hookmill', 'apply');
      const ingress = `http://127.0.0.1:${port}${new URL(url).pathname}`;
      await eventually(() => succeeds(inContainer('hookmill', 'status')));
      const answer = await send(ingress, { headers: bearerOf(secret), body: '{}' });
      expect(answer.status).toBe(202);

      const run = await eventually(async () => {
        const [first] = JSON.parse(await inContainer('hookmill', 'runs', 'list', '--output=json'));
        return first?.state === 'succeeded' && first;
      });
      const output = await inContainer('hookmill', 'runs', 'logs', run.id);
      expect(output).toContain('user 1000');
      expect(output).toContain("touch: cannot touch '/opt/hookmill/new': Read-only file system");
      expect(output).toContain('cat: /proc/1/environ: Permission denied');
      expect(output).not.toContain('HOOKMILL_KEY=');

      const first = await podman(workspace, 'inspect', '--format={{.State.Pid}}', container);
      const left = () => readFileSync(`/proc/${first}/task/${first}/children`, 'utf8').trim().split(' ');
      await expect
        .poll(() => left().map(commandLineOf))
        .toEqual(['node /usr/local/bin/hookmill serve --config=/definitions/daemon.yaml ']);

      await podman(workspace, 'stop', container);
      expect(await podman(workspace, 'inspect', '--format={{.State.ExitCode}}', container)).toBe('0');
    });

    test('has a list of all that it contains, and the licences', async () => {
      const run = (program: string, ...words: string[]) =>
        podman(workspace, 'run', '--rm', '--no-healthcheck', `--entrypoint=${program}`, 'hookmill', ...words);
      const { components } = JSON.parse(await run('cat', '/opt/hookmill/dist/sbom.cdx.json'));
      const listed: string[] = components.map(({ name }: { name: string }) => name);
      expect(listed).toEqual(expect.arrayContaining(['pino', 'preact', '@opentelemetry/core']));
      expect(await run('find', '/opt/hookmill', '-name', 'node_modules')).toBe('');
      const licences = await run('cat', '/opt/hookmill/dist/licences.txt');
      expect(licences.match(/^# \S+ \S+: \S+/gm)).toHaveLength(listed.length);
    });
  },
);

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

function commandLineOf(pid: string): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
}

/** Runs podman with images and containers of its own, and returns its output. Fails if its exit status is not 0. */
async function podman({ path }: Workspace, ...args: readonly string[]): Promise<string> {
  const env = { CONTAINERS_CONF: path('containers.conf'), CONTAINERS_STORAGE_CONF: path('storage.conf') };
  const [program = '', ...words] = [...inNamespace, 'podman', `--tmpdir=${path('tmp')}`, ...args];
  return (await execa(program, words, { env })).stdout;
}

/** Builds the image `hookmill` from the packed project. The base has what the Containerfile and the run's command need. */
async function buildImage(workspace: Workspace): Promise<void> {
  const { path, write } = workspace;
  write(
    'storage.conf',
    `[storage]\ndriver = "overlay"\ngraphroot = "${path('images')}"\nrunroot = "${path('run')}"\n`,
  );
  const limits = 'default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]';
  const engine = '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "none"\n';
  write('containers.conf', `[containers]\ncgroups = "disabled"\n${limits}\n${engine}`);

  const names = ['sh', 'env', 'tini', 'git', 'chmod', 'find', 'install', 'ln', 'cat', 'id', 'touch'];
  const programs = names.map(name => execFileSync('which', [name], { encoding: 'utf8' }).trim());
  const linked = execFileSync('ldd', [...programs, process.execPath], { encoding: 'utf8' });
  const libraries = new Set(linked.match(/\/\S+\.so\S*/g));
  const copy = (file: string, target = file) => {
    mkdirSync(dirname(path(`base${target}`)), { recursive: true });
    copyFileSync(file, path(`base${target}`));
  };
  for (const file of [...programs, ...libraries]) copy(file);
  symlinkSync('usr/bin', path('base/bin'));
  copy(process.execPath, '/usr/local/bin/node');
  write('base/Containerfile', 'FROM scratch\nCOPY . /\n');
  const build = ['build', '--isolation=chroot', '--format=docker'];
  await podman(workspace, ...build, '--tag=base', path('base'));

  execFileSync(process.execPath, ['build/sbom.ts'], { cwd: root });
  mkdirSync(path('context'));
  copyFileSync(packProject().file, path('context/hookmill-0.0.0.tgz'));
  const options = ['--build-arg=BASE=localhost/base', '--tag=hookmill', `--file=${containerfile}`];
  await podman(workspace, ...build, ...options, path('context'));
}

/** Starts a container whose root file system is read-only, and waits for its health check. */
async function startContainer(
  workspace: Workspace,
): Promise<{ readonly container: string; readonly port: number }> {
  const { path, write } = workspace;
  const [port, managementPort] = [await findFreePort(), await findFreePort()];
  // Its own process ends at once, and leaves an orphan.
  const command =
    '(sh -c : &); echo "user $(id -u)"; touch /opt/hookmill/new; cat /proc/1/environ /proc/$PPID/environ; exit 0';
  const runner = { kind: 'command', argv: ['sh', '-c', command] };
  write('definitions/daemon.yaml', JSON.stringify({ runs: { runner } }));
  write('env', `HOOKMILL_KEY=${randomBytes(32).toString('base64')}\n`);
  write('definitions/webhooks/builds.yaml', 'secretName: BUILDS\n');
  const confined = [
    '--read-only',
    '--read-only-tmpfs=false',
    '--cap-drop=all',
    '--security-opt=no-new-privileges',
  ];
  const container = await podman(
    workspace,
    'run',
    '--detach',
    '--network=host',
    '--health-interval=disable',
    ...confined,
    `--env=HOOKMILL_PORT=${port}`,
    `--env=HOOKMILL_MANAGEMENT_PORT=${managementPort}`,
    `--env-file=${path('env')}`,
    `--volume=${path('definitions')}:/definitions:ro`,
    'hookmill',
    'serve',
    '--config=/definitions/daemon.yaml',
  );
  await eventually(() => succeeds(podman(workspace, 'healthcheck', 'run', container)));
  return { container, port };
}
