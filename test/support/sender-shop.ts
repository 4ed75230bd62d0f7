import { onTestFinished } from 'vitest';
import { openWebhookDaemon, type WebhookDaemon } from './webhook-daemon.ts';
import { makeWorkspace, type RunOptions, type RunResult, type Workspace } from './workspace.ts';

/** A webhook named shop whose provider is a double, in a daemon that may ask that double. */
export interface SenderShop {
  readonly workspace: Workspace;
  readonly daemon: WebhookDaemon;
  readonly uid: string;
  /** The ingress URL. */
  readonly url: string;
  /** The value of SHOP_WEBHOOK. */
  readonly secret: string;
  hookmill(...args: [...string[], RunOptions] | string[]): Promise<RunResult>;
  /** `hookmill senders register shop --yes`, which must succeed. */
  register(...args: string[]): Promise<string>;
  /** Writes the webhook and its automation, and applies them. */
  apply(given?: ShopGiven): Promise<void>;
}

export interface ShopGiven {
  /** The keys of `sender` that say where the hook is. */
  readonly sender: object;
  readonly scheme?: string;
  /** The events that an automation waits for by the event header; null: any. */
  readonly events?: readonly string[] | null;
  readonly webhook?: object;
  readonly credential?: string;
}

export const shopSecret = 'a-secret-of-the-shop-1234567890';

/** Starts a daemon that may ask the provider, with the webhook applied, for one test. */
export async function openShop(...given: Parameters<typeof openLastingShop>): Promise<SenderShop> {
  const shop = await openLastingShop(...given);
  onTestFinished(() => shop.daemon.stop());
  return shop;
}

/** Does the same, and leaves it to the caller to stop the daemon. */
export async function openLastingShop(
  provider: 'github' | 'gitlab',
  url: string,
  given: ShopGiven,
): Promise<SenderShop> {
  const origin = new URL(url).origin;
  const workspace = makeWorkspace();
  const daemon = await openWebhookDaemon({ workspace, settings: { senders: { urls: [origin] } } });
  const hookmill = workspace.hookmill;
  const must = async (...args: Parameters<typeof hookmill>) => {
    const { stdout, stderr, exitCode } = await hookmill(...args);
    if (exitCode !== 0) throw new Error(`${args.join(' ')}: ${exitCode}\n${stdout}${stderr}`);
    return stdout;
  };
  const apply = async (changed: ShopGiven = given) => {
    const { sender, scheme = provider === 'github' ? 'github' : 'gitlab-token', events = ['push'] } = changed;
    const signed = { authMode: 'signature', signatureScheme: scheme, secretName: 'SHOP_WEBHOOK' };
    const at = { provider, url: origin, credentialSecret: 'HOOKS_TOKEN', ...sender };
    workspace.write('webhooks/shop.yaml', JSON.stringify({ ...signed, sender: at, ...changed.webhook }));
    const header = provider === 'github' ? 'X-GitHub-Event' : 'X-Gitlab-Event';
    const headers = events && { headers: { [header]: events } };
    const filter = { webhook: 'shop', ...headers };
    const triggers = [{ provider: 'webhook', event: 'received', filter }];
    workspace.write('automations/deploy.yaml', JSON.stringify({ prompt: 'Deploy.', triggers }));
    await must('apply', '--yes');
  };
  await must('secrets', 'set', 'SHOP_WEBHOOK', { stdin: shopSecret });
  await must('secrets', 'set', 'HOOKS_TOKEN', { stdin: given.credential ?? `${provider}-token` });
  await apply();
  const [{ uid, url: ingressUrl }] = JSON.parse(await must('webhooks', 'list', '-o', 'json'));
  return {
    ...{ workspace, daemon, uid, url: ingressUrl, secret: shopSecret, hookmill, apply },
    register: (...args) => must('senders', 'register', 'shop', '--yes', ...args),
  };
}

/** The environment of a command that works through the management API, without the home. */
export async function serverOf({ hookmill, daemon }: SenderShop) {
  const made = await hookmill('tokens', 'create', 'ci', '--permission', 'manage', '-o', 'json');
  const { token } = JSON.parse(made.stdout);
  return { HOOKMILL_SERVER: daemon.managementUrl, HOOKMILL_TOKEN: token, HOOKMILL_HOME: '' };
}
