// Prints the podman commands that start the services of a Compose file, but for those that the last arguments name, with
// what Compose itself does: for try-stack.sh. Fails at a key that it does not know, so that nothing of the file is left out
// in silence.
//   node deploy/compose/podman-commands.ts deploy/compose/compose.yaml DIRECTORY grafana
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';

type Values = readonly string[];
/** The options of podman for a key of a service. */
type ToOptions = (value: never) => Values;

const [file = '', directory = '', ...without] = process.argv.slice(2);
const text = readFileSync(file, 'utf8').replaceAll(
  /\$\{(\w+):\?[^}]*\}/g,
  (_, name) => process.env[name] ?? '',
);
const { services, configs, secrets } = parse(text, { merge: true });

const each = (option: string) => (values: Values) => values.map(value => `--${option}=${value}`);
const nothing: ToOptions = () => [];

const options: Readonly<Record<string, ToOptions>> = {
  environment: (variables: object) =>
    Object.entries(variables).map(([name, value]) => `--env=${name}=${value}`),
  volumes: (volumes: Values) =>
    volumes.map(volume => {
      const [source = '', ...rest] = volume.split(':');
      return `--volume=${[source.startsWith('.') ? resolve(dirname(file), source) : source, ...rest].join(':')}`;
    }),
  configs: (mounted: readonly { readonly source: string; readonly target: string }[]) =>
    mounted.map(({ source, target }) => {
      const path = join(directory, `config-${source}`);
      writeFileSync(path, configs[source].content);
      return `--volume=${path}:${target}:ro`;
    }),
  // The caller has made the files of secrets in the directory.
  secrets: (names: Values) =>
    names.map(name => `--volume=${join(directory, basename(secrets[name].file))}:/run/secrets/${name}:ro`),
  ports: each('publish'),
  tmpfs: each('tmpfs'),
  cap_drop: each('cap-drop'),
  security_opt: (values: Values) => values.map(value => `--security-opt=${value.replace(/:true$/, '')}`),
  network_mode: (mode: string) => [`--network=${mode.replace('service:', 'container:')}`],
  read_only: (isReadOnly: boolean) => [`--read-only=${isReadOnly}`],
  stop_grace_period: (period: string) => [`--stop-timeout=${period.replace('s', '')}`],
  // The caller builds images, waits, and restarts nothing. Health checks need systemd.
  ...{
    image: nothing,
    command: nothing,
    build: nothing,
    depends_on: nothing,
    healthcheck: nothing,
    restart: nothing,
  },
};

for (const [name, service] of Object.entries<Record<string, unknown>>(services)) {
  if (without.includes(name)) continue;
  const given = Object.entries(service).flatMap(([key, value]) => {
    const toOptions = options[key];
    if (!toOptions) throw new Error(`${name} has the key ${key}, which this program does not know`);
    return toOptions(value as never);
  });
  const network = 'network_mode' in service ? [] : ['--network=hookmill'];
  const words = [
    'podman',
    'run',
    '--detach',
    '--no-healthcheck',
    `--name=${name}`,
    ...network,
    ...given,
    // What the caller builds in its place has another digest.
    String(service.image).replace(/@.*/, ''),
  ];
  const { command = [] } = service as { readonly command?: Values };
  console.log([...words, ...command].map(word => `'${String(word).replaceAll("'", "'\\''")}'`).join(' '));
}
