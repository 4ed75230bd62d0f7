import { randomBytes } from 'node:crypto';
import type { ResultPromise } from 'execa';
import { onTestFinished } from 'vitest';
import { applyDefinitions } from '../../operations/applied/apply.ts';
import type { ReconcileView } from '../../operations/views/reconcile-view.ts';
import type { AppliedState } from '../../schema/applied-state.ts';
import { readDirectory } from '../../sources/directory-source.ts';
import { parseDefinitions } from '../../sources/parse-definitions.ts';
import { appliedStateFile, homeAt } from '../../store/home/home.ts';
import type { LoggedDelivery } from '../../store/ports/delivery-log.ts';
import { eventually } from './eventually.ts';
import { type Answer, read, type Sent, send } from './http.ts';
import { endOrphans } from './orphans.ts';
import { factoryIn, readStore } from './stored.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

/** A daemon as a real process on free ports. */
export interface TestDaemon {
  readonly workspace: Workspace;
  readonly process: ResultPromise;
  readonly ingressUrl: string;
  readonly managementUrl: string;
  /** Everything that it has written so far. */
  stdout(): string;
  stderr(): string;
  readyz(): Promise<Readiness>;
  metrics(): Promise<string>;
  /** Creates a webhook in its own factory, and waits until the daemon serves it. */
  webhook(given?: WebhookGiven): Promise<TestWebhook>;
  /** Sends the signal, waits for the end, and returns the exit status. */
  stop(signal?: NodeJS.Signals): Promise<number | undefined>;
}

export interface Readiness {
  readonly status: string;
  readonly reason?: string;
  readonly factories: readonly FactoryReadiness[];
}

export interface FactoryReadiness {
  readonly factory: string;
  readonly serial: number;
  readonly webhooks: number;
  readonly problem?: { readonly message: string; readonly since: string };
  /** Only if the factory follows a branch. */
  readonly reconcile?: ReconcileView;
}

export interface DaemonOptions {
  readonly workspace?: Workspace;
  readonly settings?: object;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A command to run it with. */
  readonly through?: readonly string[];
}

export interface WebhookGiven {
  /** null: declared, without a value. */
  readonly secret?: string | null;
  readonly authMode?: string;
  readonly signatureScheme?: string;
  readonly bodyFormat?: string;
  readonly payloadField?: string;
  readonly deliveryIdHeader?: string;
  readonly deliveryIdField?: string | readonly string[];
  readonly keepHeaders?: readonly string[];
  readonly enabled?: boolean;
}

export interface TestWebhook {
  readonly factory: string;
  readonly uid: string;
  readonly secret: string;
  /** The URL that a sender posts to. For `url_token`, it includes the token. */
  readonly url: string;
  readonly appliedStateFile: string;
  /** Applies a changed definition without waiting for the daemon; null destroys the webhook. */
  apply(given: WebhookGiven | null): Promise<AppliedState>;
  /** Posts with the current bearer token, unless other headers are given. */
  post(body: Sent['body'], sent?: Omit<Sent, 'body'>): Promise<Answer>;
  /** Its factory's part of the answer of readyz. */
  readiness(): Promise<FactoryReadiness | undefined>;
  /** Its rows in the delivery log, newest first. */
  rows(): Promise<LoggedDelivery[]>;
  /** Waits until there are `count` rows, and returns them. */
  rowsOnce(count: number): Promise<LoggedDelivery[]>;
  payload(deliveryId: string): Promise<Buffer | undefined>;
  /** The stored body's exact bytes. */
  body(deliveryId: string): Promise<Buffer | undefined>;
}

/** Starts a daemon and waits until it is ready. */
export async function startDaemon(options: DaemonOptions = {}): Promise<TestDaemon> {
  const { workspace = makeWorkspace(), settings = {}, args = [], env = {}, through = [] } = options;
  workspace.write('daemon.yaml', JSON.stringify(settings));
  const words = ['serve', '--port', '0', '--management-port', '0', '--config', 'daemon.yaml', ...args];
  const child = workspace.start(words, { env, through, buffer: false, forceKillAfterDelay: false });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.on('data', chunk => {
      output[name] += chunk;
    });
  }
  let ended = false;
  child.nodeChildProcess.once('exit', () => {
    ended = true;
  });
  const [, ingressUrl = '', managementUrl = ''] = await eventually(() => {
    if (ended) throw new Error(`the daemon did not start: ${output.stderr}`);
    return /on (http:\S+) \(management on (http:\S+)\)\n/.exec(output.stdout);
  });
  const daemon: Omit<TestDaemon, 'webhook'> = {
    workspace,
    process: child,
    ingressUrl,
    managementUrl,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    readyz: async () => JSON.parse(await read(`${managementUrl}/readyz`)),
    metrics: () => read(`${managementUrl}/metrics`),
    stop: async (signal: NodeJS.Signals = 'SIGTERM') => {
      child.kill(signal);
      return (await child).exitCode;
    },
  };
  return { ...daemon, webhook: given => makeWebhook(daemon, given) };
}

/** Starts a daemon, and kills it and the commands of its runs when the test ends. */
export async function startDaemonForTest(options: DaemonOptions = {}): Promise<TestDaemon> {
  const daemon = await startDaemon(options);
  onTestFinished(async () => {
    await daemon.stop('SIGKILL');
    endOrphans(daemon.workspace.directory);
  });
  return daemon;
}

export function bearerOf(secret: string): { authorization: string } {
  return { authorization: `Bearer ${Buffer.from(secret).toString('latin1')}` };
}

let factories = 0;

/** Creates a webhook in its own factory, and waits until the daemon serves it. */
export async function makeWebhook(
  daemon: Pick<TestDaemon, 'workspace' | 'ingressUrl' | 'readyz'>,
  given: WebhookGiven = {},
): Promise<TestWebhook> {
  const { workspace, ingressUrl } = daemon;
  const name = `factory-${++factories}`;
  const home = homeAt(workspace.home);
  const factory = factoryIn(home, name, 10_000);
  const { secret = randomBytes(32).toString('base64url') } = given;
  if (secret === null) await factory.store.teamSecrets.create(name, undefined);
  else await factory.store.teamSecrets.set(name, secret);

  const apply = async (webhook: WebhookGiven | null) => {
    if (webhook) {
      const { secret: _, ...definition } = webhook;
      workspace.write(`${name}/webhooks/hook.yaml`, JSON.stringify({ secretName: name, ...definition }));
    }
    const files = webhook ? readDirectory(workspace.path(name)) : { files: [], diagnostics: [] };
    const source = { kind: 'directory', directory: workspace.path(name) } as const;
    const applied = await applyDefinitions(factory, parseDefinitions(files), source, async () => true);
    if (applied.result === 'invalid') throw new Error(JSON.stringify(applied.diagnostics));
    return applied.state;
  };
  const readiness = async () => (await daemon.readyz()).factories.find(({ factory }) => factory === name);
  const { serial, webhooks } = await apply(given);
  await eventually(async () => (await readiness())?.serial === serial);

  const { authMode = 'token' } = given;
  const uid = webhooks[0]?.uid ?? '';
  const url = `${ingressUrl}/webhooks/w/${uid}${authMode === 'url_token' ? `/${secret}` : ''}`;
  const credential = authMode === 'token' && secret !== null ? bearerOf(secret) : {};
  const rows = () =>
    readStore(home, ({ deliveries }) => deliveries.listDeliveries({ factory: name, limit: 100_000 }));
  return {
    factory: name,
    uid,
    secret: secret ?? '',
    url,
    appliedStateFile: appliedStateFile(home, name),
    apply,
    post: (body, sent) => send(url, { headers: credential, ...sent, body }),
    readiness,
    rows,
    rowsOnce: count => eventually(async () => [await rows()].find(({ length }) => length >= count)),
    payload: deliveryId =>
      readStore(home, async ({ deliveries }) => toBuffer(await deliveries.readPayload(deliveryId))),
    body: deliveryId =>
      readStore(home, async ({ deliveries }) => toBuffer((await deliveries.readContent(deliveryId))?.body)),
  };
}

function toBuffer(bytes: Uint8Array | undefined): Buffer | undefined {
  return bytes && Buffer.from(bytes);
}
