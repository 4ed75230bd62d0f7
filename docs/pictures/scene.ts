// The factory in the pictures: it is real, lives in a temporary directory, and has just received a few deliveries.
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { execa } from 'execa';

const root = join(import.meta.dirname, '../..');

export interface Scene {
  readonly managementUrl: string;
  /** An API token that may manage the factory. */
  readonly token: string;
  /** The UID of the webhook that most deliveries went to. */
  readonly uid: string;
  /** A delivery that started a run of one automation and not of the other. */
  readonly deliveryId: string;
  /** `hookmill plan -o markdown` for a pull request that adds, changes and destroys. */
  planPullRequest(): Promise<string>;
  close(): Promise<void>;
}

type Hookmill = (...args: string[]) => Promise<string>;

export async function openScene(): Promise<Scene> {
  const directory = mkdtempSync(join(tmpdir(), 'hookmill-pictures-'));
  const command = [join(root, 'cli/bin.js'), '-C', directory];
  const env = { PATH: process.env.PATH, HOME: directory, NO_COLOR: '1' };
  const hookmill: Hookmill = async (...args) =>
    (await execa(process.execPath, [...command, ...args], { env, extendEnv: false })).stdout;
  const uids = await applyDefinitions(directory, hookmill);
  const settings = ['--port', '0', '--management-port', '0', '--base-url', 'https://hooks.example.com'];
  const daemon = execa(process.execPath, [...command, 'serve', ...settings, '--log-level', 'error'], {
    env,
    extendEnv: false,
    stderr: 'inherit',
    buffer: false,
    reject: false,
  });
  const close = async () => {
    daemon.kill('SIGTERM');
    await daemon;
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const [line] = (await once(createInterface(daemon.stdout), 'line')) as [string];
    const [ingressUrl = '', managementUrl = ''] = line.match(/http:\/\/[^\s)]+/g) ?? [];
    const deliveryId = await sendDeliveries(directory, hookmill, ingressUrl, uids);
    const token = await hookmill('tokens', 'create', 'ada', '--permission', 'manage');
    return {
      ...{ managementUrl, token, uid: uids.deploys ?? '', deliveryId, close },
      planPullRequest: async () => {
        changeDefinitions(directory);
        await hookmill('secrets', 'declare', 'PAGERDUTY_WEBHOOK');
        return hookmill('plan', '-o', 'markdown');
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Applies the webhooks of `examples/`, then two automations; returns the UID of each webhook by its name. */
async function applyDefinitions(directory: string, hookmill: Hookmill): Promise<Record<string, string>> {
  cpSync(join(root, 'examples/webhooks'), join(directory, 'webhooks'), { recursive: true });
  for (const name of ['DEPLOYS_TOKEN', 'GITHUB_WEBHOOK', 'UPTIME_TOKEN', 'VIDEOS_TOKEN']) {
    await hookmill('secrets', 'generate', name);
  }
  await hookmill('secrets', 'declare', 'SLACK_SIGNING_SECRET');
  await hookmill('secrets', 'generate', 'ORDERS_WEBHOOK', '--format', 'whsec');
  await hookmill('apply');
  const webhooks: { name: string; uid: string }[] = JSON.parse(
    await hookmill('webhooks', 'list', '-o', 'json'),
  );
  const uids = Object.fromEntries(webhooks.map(({ name, uid }) => [name, uid]));
  mkdirSync(join(directory, 'automations'));
  writeAutomation(directory, 'investigate-deploy', 'A deploy failed. Find out why.', uids.deploys, {
    action: ['failed'],
    environment: ['production'],
  });
  writeAutomation(directory, 'write-release-notes', 'Write release notes.', uids.deploys, {
    action: ['succeeded'],
    environment: ['production'],
  });
  await hookmill('apply');
  return uids;
}

/** Sends what the deliveries page should show; returns the id of the delivery to explain. */
async function sendDeliveries(
  directory: string,
  hookmill: Hookmill,
  ingressUrl: string,
  uids: Record<string, string>,
): Promise<string> {
  const send = async (webhook: string, payload: object, id: string) => {
    const file = join(directory, 'payload.json');
    writeFileSync(file, `${JSON.stringify(payload, undefined, 2)}\n`);
    const urlToken = webhook === 'uptime' ? '/{token}' : '';
    const to = `${ingressUrl}/webhooks/w/${uids[webhook]}${urlToken}`;
    const answer = await hookmill(
      ...['send', webhook, '--payload', file, '--delivery-id', id, '--to', to, '-o', 'json'],
    );
    return JSON.parse(answer).deliveryId as string;
  };
  const deploy = (action: string, service: string, environment: string, commit: string) => ({
    ...{ action, service, environment, commit },
  });
  const url = `${ingressUrl}/webhooks/w/${uids.deploys}`;
  await send('uptime', { check: 'shop.example.com', status: 'down' }, 'check-1');
  await send('uptime', { check: 'shop.example.com', status: 'up' }, 'check-2');
  await send('deploys', deploy('succeeded', 'search', 'production', '1c4e9a7'), 'deploy-4711');
  await send('deploys', deploy('failed', 'checkout', 'staging', '52f01bd'), 'deploy-4712');
  await fetch(url, { method: 'POST', headers: { authorization: 'Bearer an-old-token' }, body: '{}' });
  await send('deploys', deploy('succeeded', 'checkout', 'staging', '9fceb02'), 'deploy-4713');
  const failed = deploy('failed', 'checkout', 'production', '9fceb02');
  const deliveryId = await send('deploys', failed, 'deploy-4714');
  await send('deploys', failed, 'deploy-4714');
  return deliveryId;
}

/** The change of the pull request: one webhook is new, one is removed, and one filter is wider. */
function changeDefinitions(directory: string): void {
  writeFileSync(
    join(directory, 'webhooks/incidents.yaml'),
    'authMode: signature\nsignatureScheme: pagerduty\nsecretName: PAGERDUTY_WEBHOOK\n',
  );
  const file = join(directory, 'automations/investigate-deploy.yaml');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('["production"]', '["production", "staging"]'));
  rmSync(join(directory, 'webhooks/uptime.yaml'));
}

function writeAutomation(
  directory: string,
  name: string,
  prompt: string,
  uid: string | undefined,
  payload: Readonly<Record<string, unknown>>,
): void {
  const fields = Object.entries(payload).map(
    ([field, values]) => `        ${field}: ${JSON.stringify(values)}\n`,
  );
  writeFileSync(
    join(directory, `automations/${name}.yaml`),
    `prompt: ${prompt}\ntriggers:\n  - provider: webhook\n    event: received\n    filter:\n` +
      `      webhook_ids: [${uid}]\n      payload:\n${fields.join('')}`,
  );
}
