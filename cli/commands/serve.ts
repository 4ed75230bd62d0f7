import type { Daemon } from '../../daemon/daemon.ts';
import type { DaemonOptions } from '../../daemon/daemon-parts.ts';
import type { LogOpening } from '../../daemon/log-opening.ts';
import type { DaemonSettings } from '../../daemon/settings.ts';
import { defaultPorts } from '../../schema/ingress-url.ts';
import type { Claim, Store } from '../../store/ports/store.ts';
import { DeliveryLogError } from '../../store/ports/store-error.ts';
import { openContext } from '../context.ts';
import { CommandError, exitStatus, UsageError } from '../exit-status.ts';
import { addRepositoryOptions, createEnvOption, type RepositoryOptions } from '../input/options.ts';
import { readInputFile } from '../input/read-input.ts';
import { printFindings, printStatus, printText } from '../output.ts';
import { recordOwnChange } from '../record-own-change.ts';
import { renderDiagnostics } from '../render/render-diagnostics.ts';
import { openServiceManager, type ServiceManager, takeSockets } from '../service-manager.ts';
import { version } from '../version.ts';
import type { CliCommand } from './cli-command.ts';

/** @limit Time from the stop signal to a forced exit, in ms, besides `stopDelaySeconds`: service managers kill after 10 s. */
const stopMs = 9_500;

/** Declares `hookmill serve`. */
export function declareServe(command: CliCommand): void {
  command
    .explain(`run the daemon: receive deliveries for every factory of the home

Flags override the environment, which overrides the configuration file. Logs go to standard error as JSON lines. One
line on standard output says that the daemon is ready. SIGTERM, SIGINT and SIGHUP stop it gracefully.
A socket that systemd passes on (LISTEN_FDS) replaces --host and --port; one named management, --management-port.
The repository flags apply to the factory that --factory names. For several factories, use \`repositories\` in the file.

Examples:
  hookmill serve
  hookmill serve --host 0.0.0.0 --port 80 --base-url https://hooks.example.com --config hookmill-daemon.yaml
  hookmill serve --repository https://git.example.com/acme/hooks.git --branch production`)
    .addOption(createEnvOption('--host <address>', 'address of the ingress (default: 127.0.0.1)'))
    .addOption(
      createEnvOption(
        '--port <port>',
        `port of the ingress; 0: any free port (default: ${defaultPorts.ingress})`,
      ),
    )
    .addOption(
      createEnvOption(
        '--management-port <port>',
        `loopback port of the dashboard, the management API and metrics (default: ${defaultPorts.management})`,
      ),
    )
    .addOption(createEnvOption('--base-url <url>', 'public URL of the ingress'))
    .addOption(createEnvOption('--log-level <level>', 'minimum log level (default: info)'))
    .addOption(createEnvOption('--config <file>', 'YAML file with these and all other settings'));
  addRepositoryOptions(command).action(async (options: ServeOptions, command: CliCommand) =>
    serve(options, command),
  );
}

interface ServeOptions extends RepositoryOptions {
  readonly config?: string;
  readonly host?: string;
  readonly port?: string;
  readonly managementPort?: string;
  readonly baseUrl?: string;
  readonly logLevel?: string;
}

async function serve(options: ServeOptions, command: CliCommand): Promise<void> {
  if (process.platform === 'win32')
    throw new UsageError(
      'serve does not run on Windows: run it on Linux or macOS; other commands reach it with --server',
    );
  // Before anything is opened, so that no signal ends the process in the middle of a start.
  let delaySeconds = 0;
  const stop = createStop(() => stopMs + delaySeconds * 1_000);
  const { notify, ...sockets } = takeSockets(process.env, process.pid);
  const manager = openServiceManager(process.env, notify);
  const { store, factory } = await openContext(command);
  const file = options.config ? await readSettingsFile(options.config) : undefined;
  const settings = await mergeSettings(file?.settings, options, factory);
  delaySeconds = settings.stopDelaySeconds;
  const [{ openDaemonLog }, { beginOpening }, { claimWhenComplete }] = await Promise.all([
    import('../../daemon/observability/daemon-log.ts'),
    import('../../daemon/log-opening.ts'),
    import('../../daemon/claim-when-complete.ts'),
  ]);
  const { log, close: closeLog } = openDaemonLog(settings.logLevel);
  const parts = { store, settings, sockets, log };
  let claim: Claim | undefined;
  let opening: LogOpening | undefined;
  try {
    claim = await claimWhenComplete(parts, stop.signal);
    if (!claim) return;
    // Only now may anything be written.
    if (file) await prepareSecrets(file, store);
    opening = beginOpening(store);
    await runDaemon({ ...parts, opening }, stop, manager);
  } catch (error) {
    stop.abort(error);
    throw error;
  } finally {
    await opening?.close();
    await store.close();
    await claim?.release();
    await closeLog();
  }
}

/** Aborts with the name of the first signal to stop. From then on, the process ends in time even if something hangs. */
function createStop(limitMs: () => number): AbortController {
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(name, () => stop.abort(name));
  const forceExit = () => {
    printStatus(
      'hookmill: the daemon did not stop in time, so its process ends now; no accepted delivery is lost',
    );
    // `process.exit` would wait for each thread, and thus for a disk on which a sync takes long.
    process.kill(process.pid, 'SIGKILL');
  };
  stop.signal.addEventListener('abort', () => setTimeout(forceExit, limitMs()).unref());
  return stop;
}

/** Runs the daemon until `stop` aborts. Fails if it cannot start, or with the error after which it cannot continue. */
async function runDaemon(
  parts: Pick<DaemonOptions, 'store' | 'opening' | 'settings' | 'sockets' | 'log'>,
  stop: AbortController,
  manager: ServiceManager | undefined,
): Promise<void> {
  const { settings, log } = parts;
  const { signal: stopping } = stop;
  const stopped = new Promise(resolve => stopping.addEventListener('abort', resolve));
  const { startDaemon } = await import('../../daemon/daemon.ts');
  const onFatal = (error: unknown) => {
    log.fatal({ err: error }, 'the daemon cannot continue');
    stop.abort(error);
  };
  const clocks = { nowMs: Date.now, monotonicMs: () => performance.now() };
  const options = { ...parts, version, environment: process.env, ...clocks, stopping, onFatal };
  const daemon = await startDaemon(options).catch(async (error: NodeJS.ErrnoException) => {
    if (stopping.aborted) return undefined;
    throw await explainStartFailure(error, settings);
  });
  if (daemon) {
    if (!stopping.aborted) {
      printText(describeReady(daemon));
      await manager?.ready();
      await stopped;
    }
    void manager?.stopping();
    log.info({ reason: String(stopping.reason) }, 'stopping');
    await daemon.stop();
  }
  log.info('stopped');
  if (stopping.reason instanceof Error) {
    throw new CommandError(`the daemon cannot continue: ${stopping.reason.message}`, exitStatus.unexpected);
  }
}

function describeReady({ ingressUrl, managementUrl, webhooks }: Daemon): string {
  const served = webhooks === 1 ? '1 webhook' : `${webhooks} webhooks`;
  return `hookmill serves ${served} on ${ingressUrl} (management on ${managementUrl})\n`;
}

/** Turns failures that an operator can repair into clear messages. */
async function explainStartFailure(
  error: NodeJS.ErrnoException & { port?: number },
  settings: DaemonSettings,
): Promise<Error> {
  const { SettingsError } = await import('../../daemon/setting-shapes.ts');
  if (error instanceof DeliveryLogError || error instanceof SettingsError)
    return new CommandError(error.message);
  const { host } = settings;
  const { syscall, code, port } = error;
  if (code === 'EADDRINUSE') {
    const name = port === settings.managementPort ? 'management-port' : 'port';
    const variable = `HOOKMILL_${name.toUpperCase().replace('-', '_')}`;
    const text = `port ${port} is already in use by another process; choose another one with --${name} or ${variable}`;
    return new CommandError(text);
  }
  if (code === 'EACCES' && port)
    return new CommandError(`this user has no permission to listen on port ${port}`);
  if (syscall === 'listen') return new CommandError(`cannot listen on ${host} (${code})`);
  if (syscall === 'getaddrinfo') return new CommandError(`unknown host ${host} (${code})`);
  return error;
}

/** Adds flags and their environment variables, which override the --config file. */
async function mergeSettings(
  fileSettings: DaemonSettings | undefined,
  options: ServeOptions,
  factory: string,
): Promise<DaemonSettings> {
  const { settingsShape } = await import('../../daemon/settings.ts');
  const settings = fileSettings ?? settingsShape.parse({});
  const { host, port, managementPort, baseUrl, logLevel } = options;
  const flags = { host, port: toNumber(port), managementPort: toNumber(managementPort), baseUrl, logLevel };
  const given = Object.entries(flags).filter(([, value]) => value !== undefined);
  const repositories = await mergeRepositories(settings, options, factory);
  const result = settingsShape.safeParse({ ...settings, repositories, ...Object.fromEntries(given) });
  if (result.success) return result.data;
  for (const { path, message } of result.error.issues) printStatus(`hookmill: ${path.join('.')}: ${message}`);
  throw new UsageError('the daemon was not started');
}

interface SettingsFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly settings: DaemonSettings;
}

async function readSettingsFile(name: string): Promise<SettingsFile> {
  const { parseSettings } = await import('../../daemon/parse-settings.ts');
  const bytes = await readInputFile(name);
  const { definition, diagnostics, text } = parseSettings(name, bytes);
  printFindings(renderDiagnostics(diagnostics, new Map([[name, text]])));
  if (!definition) throw new CommandError('the daemon was not started');
  return { name, bytes, text, settings: definition };
}

/** Stores the references that the file declares, and reports the secrets in it that cannot be used. */
async function prepareSecrets({ name, bytes, text, settings }: SettingsFile, store: Store): Promise<void> {
  const { placeSettingsMistakes } = await import('../../daemon/parse-settings.ts');
  if (settings.secrets.length > 0) await storeDeclared(settings, store);
  // A secret that cannot be read now must not keep the daemon from receiving deliveries.
  const { later = [], now = [] } = Object.groupBy(await findUnusableSecrets(settings, store), ({ code }) =>
    code === 'secret/unresolved' ? 'later' : 'now',
  );
  const placed = [
    ...placeSettingsMistakes(name, bytes, later, 'warning'),
    ...placeSettingsMistakes(name, bytes, now),
  ];
  printFindings(renderDiagnostics(placed, new Map([[name, text]])));
  if (now.length > 0) throw new CommandError('the daemon was not started');
}

/** Stores the declared references, and records those that are new or have changed. */
async function storeDeclared({ secrets }: DaemonSettings, store: Store): Promise<void> {
  const { findNewReferences, storeReferences } = await import('../../operations/access/secrets.ts');
  const names = (await findNewReferences(store, secrets)).join(' ');
  if (names === '') return;
  await recordOwnChange({ store }, 'declareReferences', names, () => storeReferences(store, secrets));
}

/** Finds secrets that alerts cannot be sent with: otherwise, that would be noticed only when one is sent. */
async function findUnusableSecrets({ alerts }: DaemonSettings, store: Pick<Store, 'teamSecrets'>) {
  if (alerts.length === 0) return [];
  const { findAlertMistakes } = await import('../../operations/checks/secret-diagnostics.ts');
  return findAlertMistakes(alerts, store.teamSecrets);
}

/** Adds the repository that the flags name, for the factory that the command works on. */
async function mergeRepositories({ repositories }: DaemonSettings, options: ServeOptions, factory: string) {
  const { chooseRepository } = await import('../reconcile/choose-repository.ts');
  const known = repositories.find(other => other.factory === factory);
  const followed = chooseRepository(options, factory, known);
  return followed ? [...repositories.filter(other => other !== known), followed] : repositories;
}

function toNumber(text: string | undefined): number | string | undefined {
  return text !== undefined && /^\d{1,5}$/.test(text) ? Number(text) : text;
}
