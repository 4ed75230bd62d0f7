import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import pino from 'pino';
import { startDaemon } from '../../daemon/daemon.ts';
import { type DaemonSettings, parseSettings, settingsShape } from '../../daemon/settings.ts';
import { SettingsError } from '../../daemon/settings-error.ts';
import { DeliveryLogError } from '../../store/delivery-log-error.ts';
import { contextOf } from '../context.ts';
import { CommandError, exitStatus } from '../exit-status.ts';
import { printStatus } from '../output.ts';
import { renderDiagnostics } from '../render/render-diagnostics.ts';
import { repositoryFrom } from '../repository-from.ts';
import type { RepositoryOptions } from '../repository-options.ts';

/** @limit Time from the signal to stop until the process exits whatever hangs, in ms: service managers kill after 10 s. */
const stopMs = 9_500;

interface ServeOptions extends RepositoryOptions {
  readonly config?: string;
  readonly host?: string;
  readonly port?: string;
  readonly managementPort?: string;
  readonly baseUrl?: string;
  readonly logLevel?: string;
}

export async function serve(command: Command): Promise<void> {
  const { store, factory } = await contextOf(command);
  const options: ServeOptions = command.opts();
  const settings = withFlags(
    options.config ? await readSettings(options.config) : settingsShape.parse({}),
    options,
    factory,
  );
  const claim = await store.claimDaemon();
  const log = pino({ level: settings.logLevel }, pino.destination({ fd: 2, sync: false }));
  const daemon = await startDaemon({
    store,
    settings,
    environment: process.env,
    log,
    nowMs: Date.now,
    onFatal: error => {
      log.fatal({ err: error }, 'the daemon cannot go on');
      log.flush(() => process.exit(exitStatus.unexpected));
    },
  }).catch((error: NodeJS.ErrnoException) => {
    throw startFailure(error, settings);
  });
  const { ingressUrl, managementUrl, webhooks } = daemon;
  await store.daemonAddress.record(settings.baseUrl ?? ingressUrl);
  const what = webhooks === 1 ? '1 webhook' : `${webhooks} webhooks`;
  process.stdout.write(`hookmill serves ${what} on ${ingressUrl} (management on ${managementUrl})\n`);

  const signal = await new Promise<string>(resolve => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, resolve);
  });
  log.info({ signal }, 'stopping');
  // Something hangs, as a commit behind another process' lock does: what was answered with 202 is on disk.
  setTimeout(() => process.exit(exitStatus.unexpected), stopMs).unref();
  await daemon.stop();
  await store.close();
  await claim.release();
  log.info('stopped');
  log.flush();
}

/** What an operator can put right gets words of its own. */
function startFailure(error: NodeJS.ErrnoException & { port?: number }, { host }: DaemonSettings): Error {
  if (error instanceof DeliveryLogError || error instanceof SettingsError)
    return new CommandError(error.message);
  const { syscall, code, port } = error;
  if (code === 'EADDRINUSE') return new CommandError(`port ${port} is in use by another process`);
  if (code === 'EACCES' && port) return new CommandError(`port ${port} takes more rights than this user has`);
  if (syscall === 'listen') return new CommandError(`cannot listen on ${host} (${code})`);
  if (syscall === 'getaddrinfo') return new CommandError(`the host ${host} is not known (${code})`);
  return error;
}

async function readSettings(file: string): Promise<DaemonSettings> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`${file} cannot be read (${error.code})`, exitStatus.usage);
  });
  const { definition, diagnostics, text } = parseSettings(file, bytes);
  process.stderr.write(renderDiagnostics(diagnostics, new Map([[file, text]])));
  if (!definition) throw new CommandError('the daemon was not started');
  return definition;
}

/** Flags, or their environment variables, over the file's settings. */
function withFlags(settings: DaemonSettings, options: ServeOptions, factory: string): DaemonSettings {
  const { host, port, managementPort, baseUrl, logLevel } = options;
  const flags = { host, port: number(port), managementPort: number(managementPort), baseUrl, logLevel };
  const given = Object.entries(flags).filter(([, value]) => value !== undefined);
  const repositories = repositoriesWith(settings, options, factory);
  const result = settingsShape.safeParse({ ...settings, repositories, ...Object.fromEntries(given) });
  if (result.success) return result.data;
  for (const { path, message } of result.error.issues) printStatus(`hookmill: ${path.join('.')}: ${message}`);
  throw new CommandError('the daemon was not started', exitStatus.usage);
}

/** What flags name is the repository of the factory that the command works on. */
function repositoriesWith({ repositories }: DaemonSettings, options: ServeOptions, factory: string) {
  const known = repositories.find(other => other.factory === factory);
  const followed = repositoryFrom(options, factory, known);
  return followed ? [...repositories.filter(other => other !== known), followed] : repositories;
}

function number(text: string | undefined): number | string | undefined {
  return text !== undefined && /^\d{1,5}$/.test(text) ? Number(text) : text;
}
