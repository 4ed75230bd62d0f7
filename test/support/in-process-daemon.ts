import { applyDefinitions } from '../../operations/applied/apply.ts';
import type { CustomScheme } from '../../schema/definitions/custom-scheme.ts';
import { webhooksMax } from '../../schema/factory-size.ts';
import type { DefinitionFile } from '../../sources/definitions.ts';
import { parseDefinitions } from '../../sources/parse-definitions.ts';
import type { Home } from '../../store/home/home.ts';
import type { LoggedDelivery, Run } from '../../store/ports/delivery-log.ts';
import { type DaemonHere, startDaemonHere } from './daemon-here.ts';
import { makeFactory, newHome } from './factory.ts';
import { readStore } from './stored.ts';

/** A daemon in the test's own process that serves webhooks. */
export interface InProcessDaemon extends DaemonHere {
  /** In the order in which they were asked for. */
  readonly webhooks: readonly InProcessWebhook[];
  runsOf(deliveryId: string): Promise<Run[]>;
}

export interface InProcessWebhook {
  readonly factory: string;
  readonly uid: string;
  readonly url: string;
  /** Its rows in the delivery log, newest first. The row of a rejection may be written after the answer. */
  rows(): Promise<LoggedDelivery[]>;
}

export interface GivenWebhook {
  /** Without a scheme, the secret is a bearer token. */
  readonly scheme?: string | CustomScheme;
  /** null: declared, without a value. */
  readonly secret: string | null;
  readonly deliveryIdHeader?: string;
  readonly deliveryIdField?: string | readonly string[];
  readonly identity?: 'none' | { readonly sameBody: string };
  readonly authMode?: 'token' | 'url_token';
  readonly bodyFormat?: 'form';
  readonly payloadField?: string;
  readonly tokenHeader?: string;
  readonly tokenPrefix?: string;
  readonly tokenScheme?: 'basic';
  readonly tokenUser?: string;
  readonly handshake?: string | { readonly cloudevents: string };
  readonly keepHeaders?: readonly string[];
}

/**
 * Starts a daemon with limits that no test reaches, unless it sets them, and with an automation that starts a run for
 * each accepted delivery.
 */
export async function startInProcessDaemon(
  given: readonly GivenWebhook[],
  settings: { readonly baseUrl?: string; readonly limits?: object; readonly webhooks?: object } = {},
): Promise<InProcessDaemon> {
  const home = newHome();
  const served: { factory: string; uid: string }[] = [];
  for (let at = 0; at < given.length; at += webhooksMax) {
    served.push(...(await applyWebhooks(home, `factory-${at}`, given.slice(at, at + webhooksMax))));
  }
  const many = 1_000_000;
  const limits = { deliveriesPerMinute: many, failedAuthPerMinute: many, failedAuthPerMinuteTotal: many };
  const daemon = await startDaemonHere({ ...settings, limits: { ...limits, ...settings.limits } }, home);
  return {
    ...daemon,
    runsOf: deliveryId => readStore(home, ({ deliveries }) => deliveries.listRunsOfDelivery(deliveryId)),
    webhooks: served.map(({ factory, uid }) => ({
      factory,
      uid,
      url: `${daemon.ingressUrl}/webhooks/w/${uid}`,
      rows: () => rowsOf(home, factory, uid),
    })),
  };
}

async function applyWebhooks(home: Home, name: string, given: readonly GivenWebhook[]) {
  const factory = makeFactory(home, name);
  const files: DefinitionFile[] = [];
  for (const [index, { scheme, secret, ...keys }] of given.entries()) {
    const secretName = `${name}-${index}`.replaceAll('-', '_').toUpperCase();
    if (secret === null) await factory.store.teamSecrets.create(secretName, undefined);
    else await factory.store.teamSecrets.set(secretName, secret);
    const signed = scheme && { authMode: 'signature', signatureScheme: scheme };
    const definition = { ...signed, secretName, ...keys };
    // Numbers the names with leading zeros: webhooks are applied in the order of their names.
    const webhook = `hook-${String(index).padStart(2, '0')}`;
    const file = `webhooks/${webhook}.yaml`;
    files.push({ kind: 'webhook', name: webhook, file, bytes: Buffer.from(JSON.stringify(definition)) });
  }
  const apply = async () => {
    const definitions = parseDefinitions({ files, diagnostics: [] });
    const source = { kind: 'directory', directory: home.directory } as const;
    const applied = await applyDefinitions(factory, definitions, source, async () => true);
    if (applied.result === 'invalid') throw new Error(JSON.stringify(applied.diagnostics));
    return applied.state.webhooks.map(({ uid }) => uid);
  };
  const uids = await apply();
  const trigger = (uid: string) => ({
    provider: 'webhook',
    event: 'received',
    filter: { webhook_ids: [uid] },
  });
  const definition = { prompt: 'Act.', triggers: uids.map(trigger) };
  const bytes = Buffer.from(JSON.stringify(definition));
  files.push({ kind: 'automation', name: 'act', file: 'automations/act.yaml', bytes });
  await apply();
  return uids.map(uid => ({ factory: name, uid }));
}

async function rowsOf(home: Home, factory: string, uid: string): Promise<LoggedDelivery[]> {
  const all = await readStore(home, ({ deliveries }) =>
    deliveries.listDeliveries({ factory, limit: 100_000 }),
  );
  return all.filter(row => row.uid === uid);
}
