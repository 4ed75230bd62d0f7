import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { OpenFactory } from '../operations/factory.ts';
import type { Workspace } from '../schema/definitions/parse-file.ts';
import { defaultPorts, type OwnBaseUrl, toOwnBaseUrl, trimUrl } from '../schema/ingress-url.ts';
import { namePattern, nameRule } from '../schema/names.ts';
import { findGitRoot } from '../sources/open-folder.ts';
import type { PostgresPlace, Store } from '../store/ports/store.ts';
import { CommandError, UsageError } from './exit-status.ts';
import type { GlobalOptions, Place } from './global-options.ts';
import { printFindings, printStatus } from './output.ts';
import { renderDiagnostics } from './render/render-diagnostics.ts';
import { takeSecrets } from './take-secrets.ts';
import { findDefinitionsDirectory } from './work-tree.ts';

/** The place that a command works on, with an open home on this machine. */
export interface Context extends Place {
  readonly store: Store;
  /** The public URL of the ingress to print, without a trailing slash. Only the author of the definitions may have chosen it. */
  readonly baseUrl: string;
  /** The public URL of the ingress that the operator chose, in the environment or for the daemon. */
  readonly ownBaseUrl: OwnBaseUrl;
  /** Whether only `hookmill.yaml` names the factory, in a store that the user named: perhaps not the one that is meant. */
  readonly isFactoryFromFile: boolean;
}

/** Returns the options of a command that needs a store of this machine. It refuses `--server` instead of ignoring it. */
export function requireOwnPlace(command: Command): GlobalOptions {
  const options: GlobalOptions = command.optsWithGlobals();
  if (!options.server) return options;
  throw new UsageError('This command needs a local home; it does not work with --server');
}

/** Opens the home for a command. */
export async function openContext(command: Command): Promise<Context> {
  const options = requireOwnPlace(command);
  const [{ workspace, ...place }, { openStore }] = await Promise.all([
    readPlace(options),
    import('../store/open-store.ts'),
  ]);
  const home = resolve(options.home ?? join(place.directory, '.hookmill'));
  if (options.home === undefined) await requireOwnHome(home);
  const environment = takeSecrets(process.env);
  const postgres = findPostgres(command, environment);
  // Commands that read find nothing there, which would look like an empty home.
  if (options.home !== undefined && postgres === undefined && !existsSync(home))
    printStatus(`hookmill: there is no home at ${home} yet`);
  const store = await openStore({
    ...{ home, environment, postgres },
    lockTimeoutMs: options.lockTimeout * 1000,
    now: () => new Date(),
    readsInThread: command.name() === 'serve',
    onHomeCreated: () =>
      printStatus(
        `Created the home ${home}, which holds applied definitions, deliveries, and secrets with their key.`,
      ),
  });
  await store.requireSafe();
  const given = process.env.HOOKMILL_BASE_URL;
  const ownBaseUrl = toOwnBaseUrl(given ?? (await findIngressUrl(store)));
  const baseUrl = given === undefined && workspace.baseUrl ? trimUrl(workspace.baseUrl) : ownBaseUrl;
  const isNamedByFile = options.factory === undefined && workspace.factory !== undefined;
  const isFactoryFromFile = isNamedByFile && (options.home !== undefined || postgres !== undefined);
  return { ...place, store, baseUrl, ownBaseUrl, isFactoryFromFile };
}

/** Where the ingress of the home's daemon is: at the port for the next one if it was chosen, otherwise where the last one was. */
async function findIngressUrl({ daemonAddress }: Pick<Store, 'daemonAddress'>): Promise<string> {
  const chosen = Number(process.env.HOOKMILL_PORT);
  const last = chosen > 0 ? undefined : await daemonAddress.read();
  return last?.ingressUrl ?? `http://127.0.0.1:${chosen > 0 ? chosen : defaultPorts.ingress}`;
}

/** Finds the place that a command works on, without its home. */
export async function findPlace(command: Command): Promise<Place> {
  const { workspace: _, ...place } = await readPlace(command.optsWithGlobals());
  return place;
}

async function readPlace(options: GlobalOptions): Promise<Place & { readonly workspace: Workspace }> {
  const directory = findDefinitionsDirectory(options);
  const workspace = await requireWorkspace(directory);
  const factory = options.factory ?? workspace.factory ?? 'default';
  requireFactoryName(factory);
  return { directory, factory, output: options.output, workspace };
}

export function requireFactoryName(name: string): void {
  if (namePattern.test(name)) return;
  throw new UsageError(`"${name}" cannot name a factory; use ${nameRule}`);
}

/** Converts a context to the factory that operations take. */
export function toOpenFactory({ store, factory }: Pick<Context, 'store' | 'factory'>): OpenFactory {
  return {
    ...{ name: factory, store },
    // The global loads node:crypto only when it is used.
    randomBytes: count => crypto.getRandomValues(new Uint8Array(count)),
    now: () => new Date(),
    readState: () => store.appliedStates.read(factory),
    useDeliveryLog: async work => {
      const log = await store.openDeliveryLog();
      try {
        return await work(log);
      } finally {
        await log.close();
      }
    },
  };
}

async function requireWorkspace(directory: string): Promise<Workspace> {
  const { readWorkspace } = await import('./definitions/workspace-file.ts');
  const { file, definition, diagnostics, text } = readWorkspace(directory);
  if (definition) return definition;
  printFindings(renderDiagnostics(diagnostics, new Map([[file, text]])));
  throw new CommandError('');
}

/**
 * Fails if the home came with the repository that it is in: whoever committed it knows its key, its secrets and its
 * API tokens. Only for a home that was found, not for one that the user named.
 */
async function requireOwnHome(home: string): Promise<void> {
  const directory = dirname(home);
  if (!existsSync(home) || findGitRoot(directory) === undefined) return;
  const { listFiles } = await import('./definitions/tracked-files.ts');
  // More files than git lists within its limits are tracked, too.
  const tracked = await listFiles(directory, [basename(home)]).catch(() => [home]);
  if (tracked.length === 0) return;
  throw new CommandError(
    `${home} came with the repository, so others know its secrets; remove it from git, or name your own with --home`,
  );
}

/**
 * Finds the database that `--store` or HOOKMILL_STORE names, if any. Messages never contain a URL: it has a password.
 */
export function findPostgres(command: Command, environment: NodeJS.ProcessEnv): PostgresPlace | undefined {
  const { store } = command.optsWithGlobals<GlobalOptions>();
  if (!store) return undefined;
  if (command.getOptionValueSourceWithGlobals('store') === 'cli') requireNoPassword('--store', store);
  else parseUrl('HOOKMILL_STORE', store);
  const directUrl = environment.HOOKMILL_STORE_DIRECT || undefined;
  if (directUrl !== undefined) parseUrl('HOOKMILL_STORE_DIRECT', directUrl);
  return { url: store, directUrl, mayLose: readMayLose(environment.HOOKMILL_STORE_MAY_LOSE) };
}

/** Operators must write this out to accept that deliveries may be lost. */
function readMayLose(text = ''): boolean {
  if (text === '' || text === 'accepted-deliveries') return text !== '';
  throw new UsageError('HOOKMILL_STORE_MAY_LOSE must be accepted-deliveries, or not set');
}

/** Refuses a URL of a database that is an argument and contains a password. */
export function requireNoPassword(flag: string, text: string): void {
  const url = parseUrl(flag, text);
  if (url.password === '' && !url.searchParams.has('password')) return;
  const reason = 'other users of this machine can read arguments';
  const instead = flag === '--store' ? 'set HOOKMILL_STORE' : `set HOOKMILL_STORE and write ${flag} postgres`;
  throw new UsageError(
    `${flag} must not contain a password, because ${reason}; ${instead}, or use a pgpass file`,
  );
}

function parseUrl(origin: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // Without encoding, a / ? or # in the password ends the host, and a part of the password would be taken for its port.
  const isTorn = url && (url.hash !== '' || `${url.pathname}${url.search}`.includes('@'));
  if (url && !isTorn && /^postgres(ql)?:$/.test(url.protocol)) return url;
  const advice = 'percent-encode special characters in its password';
  throw new UsageError(`${origin} must be a URL like postgres://user@host:5432/database; ${advice}`);
}
