// The factories in the pictures: they are real, live in a temporary directory, and have just had a day and a half of deliveries.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { execa } from 'execa';
import { parse } from 'yaml';
import { signDelivery } from '../../operations/sending/sign-delivery.ts';
import { type SceneEvent, sceneEvents } from './scene-events.ts';

const root = join(import.meta.dirname, '../..');
const minuteMs = 60_000;

export interface Scene {
  readonly managementUrl: string;
  /** An API token that may manage the factory `default`. */
  readonly token: string;
  /** The UIDs of the webhooks of the factory `default`, by name. */
  readonly uids: Readonly<Record<string, string>>;
  /** The UID of the webhook that rejects all deliveries. */
  readonly uid: string;
  /** A delivery that started a run of one automation and not of the other. */
  readonly deliveryId: string;
  /** Answers a request to read the API of the factory `default`. */
  read<T>(path: string): Promise<T>;
  /** Makes an API token that may manage a factory that need not exist yet. */
  createToken(factory: string): Promise<string>;
  /** `hookmill plan -o markdown` for a pull request that adds, changes and destroys. */
  planPullRequest(): Promise<string>;
  close(): Promise<void>;
}

const listWebhooks = ['webhooks', 'list', '-o', 'json'];
const inStorefront = ['--factory', 'storefront'];

type Hookmill = (args: readonly string[], input?: string) => Promise<string>;

/**
 * Opens the factory `default`, which has problems, and `storefront`, which follows a branch and is well. Takes about half a
 * minute, in which the daemon's clock runs through 31 hours.
 */
export async function openScene(): Promise<Scene> {
  const directory = mkdtempSync(join(tmpdir(), 'hookmill-pictures-'));
  const clock = openClock(join(directory, 'clock'));
  const command = [join(root, 'cli/bin.js'), '-C', directory];
  const env = { PATH: process.env.PATH, HOME: directory, NO_COLOR: '1', ...clock.environment };
  const hookmill: Hookmill = async (args, input = '') =>
    (await execa(process.execPath, [...command, ...args], { env, input, extendEnv: false })).stdout;
  clock.set(Date.now() - 31 * 60 * minuteMs);
  const secrets = await defineWebhooks(directory, hookmill);
  for (const name of storefront)
    await hookmill(['secrets', 'set', tokenOf(name), ...inStorefront], storefrontToken);
  const token = await hookmill(['tokens', 'create', 'ada', '--permission', 'manage']);
  await hookmill(['tokens', 'create', 'ci-plan', '--permission', 'read', '--expires', '90d']);
  // Stands for Slack, which gets the alerts.
  const receiver = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  await hookmill(['secrets', 'set', 'SLACK_URL'], `http://127.0.0.1:${port}`);
  const settings = writeSettings(directory, await makeRepository(directory), clock.file);
  const daemon = execa(process.execPath, [...command, 'serve', '--config', settings], {
    ...{ env, extendEnv: false, stderr: 'inherit', buffer: false, reject: false },
  });
  const close = async () => {
    receiver.close();
    receiver.closeAllConnections();
    daemon.kill('SIGTERM');
    await daemon;
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const [line] = (await Promise.race([
      once(createInterface(daemon.stdout), 'line'),
      daemon.then(() => Promise.reject(new Error('the daemon of the scene did not start'))),
    ])) as [string];
    const [ingressUrl = '', managementUrl = ''] = line.match(/http:\/\/[^\s)]+/g) ?? [];
    const read = readerOf(managementUrl, token);
    const uids = await defineAutomations(directory, hookmill);
    const deliveryId = await sendEvents({ directory, ingressUrl, uids, secrets, clock, read });
    await sendToStorefront(ingressUrl, JSON.parse(await hookmill([...listWebhooks, ...inStorefront])));
    return {
      ...{ managementUrl, token, uids, uid: uids.stripe ?? '', deliveryId, read, close },
      createToken: factory =>
        hookmill(['tokens', 'create', `ada-${randomUUID()}`, '--factory', factory, '--permission', 'manage']),
      planPullRequest: async () => {
        changeDefinitions(directory);
        await hookmill(['secrets', 'declare', 'PAGERDUTY_WEBHOOK']);
        return hookmill(['plan', '-o', 'markdown']);
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface SceneClock {
  readonly file: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Sets the time of all processes with the environment; it goes on from there. */
  set(atMs: number): void;
  add(ms: number): void;
  now(): number;
}

function openClock(file: string): SceneClock {
  let offsetMs = 0;
  const descriptor = openSync(file, 'w');
  const write = (ms: number) => {
    offsetMs = ms;
    // In place: nobody reads half of it.
    writeSync(descriptor, new Float64Array([ms]), 0, 8, 0);
  };
  write(0);
  return {
    file,
    environment: {
      SCENE_CLOCK: file,
      NODE_OPTIONS: `--require=${join(import.meta.dirname, 'scene-clock.cjs')}`,
    },
    set: atMs => write(atMs - Date.now()),
    add: ms => write(offsetMs + ms),
    now: () => Date.now() + offsetMs,
  };
}

function readerOf(managementUrl: string, token: string): Scene['read'] {
  return async <T>(path: string) => {
    const answer = await fetch(`${managementUrl}/api/v1/factories/default${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  };
}

const webhooks: Readonly<Record<string, string>> = {
  stripe: 'authMode: signature\nsignatureScheme: stripe\nsecretName: STRIPE_WEBHOOK\n',
  sentry: 'authMode: signature\nsignatureScheme: sentry\nsecretName: SENTRY_WEBHOOK\n',
};

/** Writes the webhooks, three of them from `examples/`, and their team secrets, and returns the secrets by name. */
async function defineWebhooks(
  directory: string,
  hookmill: Hookmill,
): Promise<Readonly<Record<string, string>>> {
  for (const name of ['github', 'deploys', 'uptime'])
    cpSync(join(root, `examples/webhooks/${name}.yaml`), join(directory, `webhooks/${name}.yaml`));
  for (const [name, text] of Object.entries(webhooks)) write(directory, `webhooks/${name}.yaml`, text);
  const secrets = Object.fromEntries(
    ['DEPLOYS_TOKEN', 'GITHUB_WEBHOOK', 'UPTIME_TOKEN', 'STRIPE_WEBHOOK', 'SENTRY_WEBHOOK'].map(name => [
      name,
      `whsec_${randomUUID().replaceAll('-', '')}`,
    ]),
  );
  for (const [name, value] of Object.entries(secrets)) await hookmill(['secrets', 'set', name], value);
  await hookmill(['apply']);
  return secrets;
}

const automations: Readonly<Record<string, { readonly prompt: string; readonly keys: string }>> = {
  'review-pull-request': {
    prompt: 'Review the pull request. Comment on what would break in production.',
    keys: `concurrencyKey: $.repository.full_name
concurrency: 2
timeLimit: 20m
triggers:
  - provider: webhook
    event: received
    filter:
      webhook: github
      headers: { X-GitHub-Event: [pull_request] }
      payload: { action: [opened, synchronize] }`,
  },
  'label-issue': {
    prompt: 'Label the issue.',
    keys: `runsPerHour: 3
triggers:
  - provider: webhook
    event: received
    filter:
      webhook: github
      headers: { X-GitHub-Event: [issues] }
      payload: { action: [opened] }`,
  },
  'triage-error': {
    prompt: 'Find the commit that introduced the error, and propose a fix.',
    keys: `attempts: 2
triggers:
  - provider: webhook
    event: received
    filter:
      webhook: sentry
      payload: { action: [created], data: { error: { level: [error, fatal] } } }`,
  },
  'investigate-deploy': {
    prompt: 'A deploy failed. Find out why.',
    keys: `order: $.service
onFailure: hold
attempts: 2
notify: [failed]
triggers:
  - provider: webhook
    event: received
    filter:
      webhook: deploys
      payload: { action: [failed], environment: ["production"] }`,
  },
  'write-release-notes': {
    prompt: 'Write release notes.',
    keys: `triggers:
  - provider: webhook
    event: received
    filter:
      webhook: deploys
      payload: { action: [succeeded], environment: [production] }`,
  },
};

/** Writes and applies the automations, and returns the UIDs of the webhooks by their names. */
async function defineAutomations(
  directory: string,
  hookmill: Hookmill,
): Promise<Readonly<Record<string, string>>> {
  for (const [name, { prompt, keys }] of Object.entries(automations))
    write(directory, `automations/${name}.yaml`, `prompt: ${prompt}\n${keys}\n`);
  await hookmill(['apply']);
  const listed: { name: string; uid: string }[] = JSON.parse(await hookmill(listWebhooks));
  return Object.fromEntries(listed.map(({ name, uid }) => [name, uid]));
}

/** The webhooks of the factory that follows a branch. */
const storefront = ['orders', 'returns'] as const;
const storefrontToken = 'token-of-the-storefront';

function tokenOf(webhook: string): string {
  return `${webhook.toUpperCase()}_TOKEN`;
}

/** Makes a repository with the definitions of a second factory, and returns its path. */
async function makeRepository(directory: string): Promise<string> {
  const repository = join(directory, 'storefront.git');
  const work = { cwd: repository, env: { GIT_CONFIG_GLOBAL: '/dev/null' } };
  const author = ['-c', 'user.name=Jing Lin', '-c', 'user.email=jing@acme.example'];
  mkdirSync(repository);
  await execa('git', ['init', '--quiet', '--initial-branch=main'], work);
  const commit = async (name: string, message: string) => {
    write(repository, `webhooks/${name}.yaml`, `authMode: token\nsecretName: ${tokenOf(name)}\n`);
    await execa('git', ['add', '.'], work);
    await execa('git', [...author, 'commit', '--quiet', '--message', message], work);
  };
  for (const name of storefront) await commit(name, `Receive ${name}`);
  return repository;
}

/** Writes the settings of the daemon, and returns the path of their file. */
function writeSettings(directory: string, repository: string, clock: string): string {
  const settings = {
    ...{ port: 0, managementPort: 0, baseUrl: 'https://hooks.example.com', logLevel: 'fatal' },
    alerts: [{ format: 'slack', secret: 'SLACK_URL' }],
    repositories: [{ factory: 'storefront', repository, branch: 'main', interval: '30s' }],
    runs: {
      backOff: { firstSeconds: 1, maxSeconds: 1 },
      runner: {
        kind: 'command',
        argv: [process.execPath, join(import.meta.dirname, 'scene-agent.mjs'), clock],
      },
    },
  };
  write(directory, 'daemon.yaml', JSON.stringify(settings));
  return join(directory, 'daemon.yaml');
}

interface Stage {
  readonly directory: string;
  readonly ingressUrl: string;
  readonly uids: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
  readonly clock: SceneClock;
  readonly read: Scene['read'];
}

/** Sends all events, each at its time, and lets their runs end. Returns the ID of the delivery to explain. */
async function sendEvents(stage: Stage): Promise<string> {
  const { clock, read } = stage;
  const endMs = Date.now();
  let explained = '';
  for (const event of sceneEvents) {
    clock.set(Math.max(clock.now(), endMs - event.minutesAgo * minuteMs));
    const deliveryId = await sendEvent(stage, event);
    if (event.webhook === 'deploys' && event.id === 'deploy-4716') explained = deliveryId;
    if (!event.isUnfinished && deliveryId !== '') await letRunsEnd(stage, deliveryId);
    if (event.raises) await until(() => isOpen(read, event.raises));
  }
  clock.set(Math.max(clock.now(), Date.now()));
  return explained;
}

/** Signs an event as its provider does, and sends it. Returns the ID of the delivery; an empty text if it was rejected. */
async function sendEvent(
  { directory, ingressUrl, uids, secrets, clock }: Stage,
  event: SceneEvent,
): Promise<string> {
  const { webhook, payload, id = randomUUID(), signedMinutesBefore = 0 } = event;
  const definition = parse(readFileSync(join(directory, `webhooks/${webhook}.yaml`), 'utf8'));
  const urlToken = webhook === 'uptime' ? '/{token}' : '';
  const signed = signDelivery(
    definition,
    event.hasWrongSecret ? 'an-old-secret' : (secrets[definition.secretName] ?? ''),
    {
      url: `${ingressUrl}/webhooks/w/${uids[webhook]}${urlToken}`,
      body: { bytes: Buffer.from(JSON.stringify(payload, undefined, 2)), contentType: 'application/json' },
    },
    { body: Buffer.alloc(0), id, isIdGiven: true },
    clock.now() - signedMinutesBefore * minuteMs,
  );
  const answer = await fetch(signed.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...event.headers, ...Object.fromEntries(signed.headers) },
    body: new Uint8Array(signed.body.bytes),
  });
  const isExpected = answer.ok !== (signedMinutesBefore > 5 || event.hasWrongSecret === true);
  const text = await answer.text();
  if (!isExpected) throw new Error(`${webhook}: ${answer.status} ${text}`);
  return answer.ok ? ((JSON.parse(text) as { delivery_id?: string }).delivery_id ?? '') : '';
}

async function sendToStorefront(
  ingressUrl: string,
  listed: readonly { readonly uid: string }[],
): Promise<void> {
  for (const [index, { uid }] of [...listed, ...listed, ...listed].entries()) {
    const { status } = await fetch(`${ingressUrl}/webhooks/w/${uid}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${storefrontToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'created', number: 20_114 + index, items: 2 }),
    });
    if (status !== 202) throw new Error(`storefront: ${status}`);
  }
}

/** Moves the clock on until all runs of a delivery have ended. */
async function letRunsEnd({ clock, read }: Stage, deliveryId: string): Promise<void> {
  await until(async () => {
    const { runs } = await read<{ runs: { state: string }[] }>(`/runs?delivery=${deliveryId}`);
    const isActive = runs.some(({ state }) => state === 'queued' || state === 'running');
    if (isActive) clock.add(12_000);
    return !isActive;
  });
}

async function isOpen(read: Scene['read'], type: string | undefined): Promise<boolean> {
  const { alerts } = await read<{ alerts: { type: string; status: string }[] }>('/alerts');
  return alerts.some(alert => alert.type === type && alert.status === 'open');
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const endMs = Date.now() + 30_000;
  while (!(await isSo())) {
    if (Date.now() > endMs) throw new Error('the scene waited 30 s for what should have come');
    await setTimeout(100);
  }
}

/** The change of the pull request: one webhook is new, one is removed, and one filter is wider. */
function changeDefinitions(directory: string): void {
  write(
    directory,
    'webhooks/incidents.yaml',
    'authMode: signature\nsignatureScheme: pagerduty\nsecretName: PAGERDUTY_WEBHOOK\n',
  );
  const file = join(directory, 'automations/investigate-deploy.yaml');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('["production"]', '["production", "staging"]'));
  rmSync(join(directory, 'webhooks/uptime.yaml'));
}

function write(directory: string, file: string, text: string): void {
  mkdirSync(dirname(join(directory, file)), { recursive: true });
  writeFileSync(join(directory, file), text);
}
