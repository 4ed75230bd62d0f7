import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { execa } from 'execa';
import type { AttackReport } from './attack-shape.ts';
import { makeRepository, type Stage, targetSecret } from './stage.ts';

/** An attack on a daemon. */
export interface Attack {
  readonly name: string;
  readonly settings?: object;
  /** Makes what the daemon needs at its start, in a directory beside its home. Returns more settings. */
  readonly prepare?: (directory: string) => Promise<object>;
  readonly run: (stage: Stage) => Promise<AttackResult>;
}

export interface AttackResult {
  readonly reports: readonly AttackReport[];
  /** The harm that the attack did, beside a delay; undefined if none. */
  readonly harm?: string | undefined;
}

/** The address that an attack on a budget is not from. */
const other = '127.0.2.1';
const manyAddresses = Array.from({ length: 12 }, (_, index) => `127.0.1.${index + 1}`);
const host = 'Host: hooks.example.com';
const json = 'Content-Type: application/json';
/** The largest body that the ingress takes, nearly. */
const largeBytes = 250_000;

export const attacks: readonly Attack[] = [
  {
    name: '1-byte chunks, 16 connections, each aborted',
    run: stage => sendChunks(stage, 'abort'),
  },
  {
    name: '1-byte chunks, 16 connections, each left open',
    run: stage => sendChunks(stage, 'idle'),
  },
  {
    name: 'token guessing from 1 address',
    run: stage => guess(stage, ['127.0.1.1']),
  },
  {
    name: 'token guessing from 12 addresses',
    run: stage => guess(stage, manyAddresses),
  },
  {
    name: 'token guessing from one IPv6 /64',
    settings: { trustProxies: ['127.0.9.9'] },
    run: stage => guess(stage, ['127.0.9.9'], ['X-Forwarded-For: {network}']),
  },
  {
    name: 'forged signatures, bodies of 200 KB (the signature doctor)',
    run: async stage => {
      const body = JSON.stringify({ items: Array.from({ length: 20_000 }, (_, index) => index), text: 'é' });
      const head = post(stage.ingressPath('github'), body, `X-Hub-Signature-256: sha256=${'0'.repeat(64)}`);
      const bodyFile = stage.writeBody(body);
      return { reports: [await stage.attack({ head, bodyFile, from: manyAddresses, requestsMax: 900 })] };
    },
  },
  {
    name: '400 forged signatures in flight from 1 address',
    run: async stage => {
      const head = post(stage.ingressPath('github'), '{}', `X-Hub-Signature-256: sha256=${'0'.repeat(64)}`);
      const sent = {
        bodyFile: stage.writeBody('{}'),
        bodyAfterMs: 1_000,
        connections: 400,
        requestsMax: 400,
      };
      const report = await stage.attack({ head, ...sent });
      const judged = sum([report], 401);
      return { reports: [report], harm: judged > 31 ? `${judged} were judged` : undefined };
    },
  },
  { name: "X's challenge used as a delivery", run: lockOut },
  { name: 'one captured request under other ids', run: replayCaptured },
  {
    name: 'POST http://[',
    run: stage => sendBadLine(stage, stage.ingressUrl, [`POST http://[ HTTP/1.1`, host]),
  },
  {
    name: 'Host: [ where the URL is signed',
    run: stage => {
      const signature = Buffer.alloc(32).toString('base64');
      const head = [`POST ${stage.ingressPath('square')} HTTP/1.1`, 'Host: ['];
      return sendBadLine(stage, stage.ingressUrl, [...head, `x-square-hmacsha256-signature: ${signature}`]);
    },
  },
  {
    name: 'POST http://[ to the management port',
    run: stage =>
      sendBadLine(stage, stage.managementUrl, [`POST http://[ HTTP/1.1`, hostOf(stage.managementUrl)]),
  },
  {
    name: '200 idle connections of 200',
    settings: { limits: { connections: 200 } },
    run: stage => keepIdle(stage, 200),
  },
  {
    name: '2,000 bodies that never come',
    run: async stage => {
      const signature = `X-Hub-Signature-256: sha256=${'0'.repeat(64)}`;
      const head = post(stage.ingressPath('github'), 'x'.repeat(largeBytes), signature);
      return { reports: [await stage.attack({ head, connections: 2_000, afterwards: 'idle' })] };
    },
  },
  { name: '10,000 idle connections', run: stage => keepIdle(stage, 10_000) },
  { name: 'oversized bodies (413), then a genuine delivery', run: sendOversized },
  { name: 'unknown URLs (404)', run: stage => sendUnknown(stage) },
  { name: '1,000 sign-ins of a read token', run: signInOften },
  { name: '256 live views of a read token', run: openLiveViews },
  {
    name: 'lists of a read token, 32 connections',
    run: async stage => {
      const path = '/api/v1/factories/default/deliveries?limit=200';
      const { managementUrl: url, readToken } = stage;
      const head = [`GET ${path} HTTP/1.1`, hostOf(url), `Authorization: Bearer ${readToken}`];
      return { reports: [await stage.attack({ url, head, connections: 32 })] };
    },
  },
  {
    name: 'plan of 7.3 MB',
    run: stage => {
      const files = Array.from({ length: 115 }, (_, index) => ({
        path: `automations/a${index}.yaml`,
        content: largeAutomation(index),
      }));
      return callApi(stage, '/plan', { files });
    },
  },
  {
    name: 'plan of 40,000 files',
    run: stage => {
      const files = Array.from({ length: 40_000 }, (_, index) => ({
        path: `automations/a${index}.yaml`,
        content: smallAutomation,
      }));
      return callApi(stage, '/plan', { files });
    },
  },
  {
    name: 'filter test of 747 KB',
    run: stage => {
      const filter = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`key${index}`, ['a']]));
      const trigger = {
        ...{ provider: 'webhook', event: 'received' },
        filter: { webhook_ids: [stage.uids.get('token')], payload: filter },
      };
      const triggers = Array.from({ length: 400 }, () => trigger);
      return callApi(stage, '/automation-test', { triggers, payload: { key1: ['b'] } });
    },
  },
  {
    name: 'a branch with 40,000 bad files',
    prepare: async directory => {
      const names = Array.from({ length: 40_000 }, (_, index) => `webhooks/w${index}.yaml`);
      return makeRepository(directory, new Map(names.map(name => [name, 'a: [1\n'])));
    },
    run: mergeLargeBranch,
  },
  {
    name: 'a branch with 7.3 MB of automations',
    prepare: async directory => {
      const names = Array.from({ length: 115 }, (_, index): [string, string] => [
        `automations/a${index}.yaml`,
        largeAutomation(index),
      ]);
      return makeRepository(directory, new Map(names));
    },
    run: mergeLargeBranch,
  },
];

function post(path: string, body: string, ...headers: string[]): string[] {
  return [`POST ${path} HTTP/1.1`, host, json, `Content-Length: ${Buffer.byteLength(body)}`, ...headers];
}

function sign(text: string, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', targetSecret).update(text).digest(encoding);
}

function sum(reports: readonly AttackReport[], status: number): number {
  return reports.reduce((total, { statuses }) => total + (statuses[status] ?? 0), 0);
}

async function sendChunks(stage: Stage, afterwards: 'abort' | 'idle'): Promise<AttackResult> {
  const head = [`POST ${stage.ingressPath('github')} HTTP/1.1`, host, json, 'Transfer-Encoding: chunked'];
  const signature = `X-Hub-Signature-256: sha256=${'0'.repeat(64)}`;
  const bodyFile = stage.writeBody('1'.repeat(largeBytes));
  return {
    reports: [await stage.attack({ head: [...head, signature], bodyFile, chunkBytes: 1, afterwards })],
  };
}

/** Guesses from each address in turn until its budget is spent, and then on from the last ones. */
async function guess(
  stage: Stage,
  from: readonly string[],
  headers: readonly string[] = [],
): Promise<AttackResult> {
  const body = '{}';
  const head = post(stage.ingressPath('guessed'), body, 'Authorization: Bearer {n}', ...headers);
  const bodyFile = stage.writeBody(body);
  const reports: AttackReport[] = [];
  for (const address of from) {
    reports.push(await stage.attack({ head, bodyFile, from: [address], requestsMax: 40 }));
  }
  reports.push(await stage.attack({ head, bodyFile, from: from.slice(-2), connections: 24 }));
  const judged = sum(reports, 401);
  const tooMany = judged > stage.guessesMax * from.length ? `${judged} guesses were judged` : undefined;
  return { reports, harm: sum(reports, 202) > 0 ? 'found the token' : tooMany };
}

/** Delivers to the ingress, whatever port is attacked. */
async function deliverGenuine(stage: Stage, webhook: 'x' | 'github', header: string): Promise<string> {
  const body = JSON.stringify({ genuine: webhook });
  const signature = `${header}: sha256=${sign(body, webhook === 'x' ? 'base64' : 'hex')}`;
  const head = post(stage.webhookPath(webhook), body, signature);
  const bodyFile = stage.writeBody(body);
  const report = await stage.attack({ head, bodyFile, connections: 1, requestsMax: 1, from: [other] });
  return Object.keys(report.statuses).join();
}

async function lockOut(stage: Stage): Promise<AttackResult> {
  const challenge = 'a-stranger-may-ask-for-this';
  const url = `${stage.ingressUrl}${stage.webhookPath('x')}?crc_token=${challenge}`;
  const answer = await fetch(url).then(response => response.text());
  const [, signature = ''] = /"response_token":"([^"]+)"/.exec(answer) ?? [];
  const head = post(stage.ingressPath('x'), challenge, `x-twitter-webhooks-signature: ${signature}`);
  const report = await stage.attack({ head, bodyFile: stage.writeBody(challenge), from: manyAddresses });
  const genuine = await deliverGenuine(stage, 'x', 'x-twitter-webhooks-signature');
  return { reports: [report], harm: genuine === '202' ? undefined : `a genuine delivery gets ${genuine}` };
}

async function replayCaptured(stage: Stage): Promise<AttackResult> {
  const body = JSON.stringify({ captured: true });
  const at = Math.floor(Date.now() / 1_000);
  const signature = `Stripe-Signature: t=${at},v1=${sign(`${at}.${body}`, 'hex')}`;
  const head = post(stage.ingressPath('stripe'), body, signature, 'X-Service-Delivery-Id: other-{n}');
  const report = await stage.attack({ head, bodyFile: stage.writeBody(body), requestsMax: 50 });
  // A duplicate is answered 202 too.
  const query = `webhook=${stage.uids.get('stripe')}&outcome=Accepted`;
  const list = await fetch(`${stage.managementUrl}/api/v1/factories/default/deliveries?${query}`, {
    headers: { authorization: `Bearer ${stage.readToken}` },
  });
  const { length } = ((await list.json()) as { deliveries: unknown[] }).deliveries;
  return { reports: [report], harm: length <= 1 ? undefined : `${length} deliveries of one request` };
}

async function sendBadLine(stage: Stage, url: string, lines: readonly string[]): Promise<AttackResult> {
  const head = [...lines, json, 'Content-Length: 2'];
  return { reports: [await stage.attack({ url, head, bodyFile: stage.writeBody('{}') })] };
}

async function keepIdle(stage: Stage, connections: number): Promise<AttackResult> {
  const head = [`GET /webhooks/w/wh_${'0'.repeat(24)} HTTP/1.1`, host];
  const seconds = stage.seconds + connections / 1_000;
  return { reports: [await stage.attack({ head, connections, afterwards: 'idle', seconds })] };
}

async function sendOversized(stage: Stage): Promise<AttackResult> {
  const body = JSON.stringify({ text: 'x'.repeat(2 * largeBytes) });
  const signature = `X-Hub-Signature-256: sha256=${sign(body, 'hex')}`;
  const head = post(stage.ingressPath('github'), body, signature);
  const report = await stage.attack({ head, bodyFile: stage.writeBody(body), from: [other] });
  const genuine = await deliverGenuine(stage, 'github', 'X-Hub-Signature-256');
  return { reports: [report], harm: genuine === '202' ? undefined : `a genuine delivery gets ${genuine}` };
}

async function sendUnknown(stage: Stage): Promise<AttackResult> {
  const head = post(stage.unknownPath, '{}');
  return { reports: [await stage.attack({ head, bodyFile: stage.writeBody('{}'), connections: 32 })] };
}

async function signInOften(stage: Stage): Promise<AttackResult> {
  const url = `${stage.managementUrl}/api/v1/session`;
  const headers = { 'content-type': 'application/json' };
  const signedIn = await fetch(url, {
    method: 'POST',
    headers,
    body: JSON.stringify({ token: stage.manageToken }),
  });
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  const { sessionKey } = (await signedIn.json()) as { sessionKey: string };
  const body = JSON.stringify({ token: stage.readToken });
  const head = apiPost(stage, '/api/v1/session', body);
  const bodyFile = stage.writeBody(body);
  const report = await stage.attack({ url: stage.managementUrl, head, bodyFile, requestsMax: 1_000 });
  const { status } = await fetch(url, { headers: { cookie, 'x-hookmill-session': sessionKey } });
  return { reports: [report], harm: status === 200 ? undefined : 'the session of a manager ended' };
}

async function openLiveViews(stage: Stage): Promise<AttackResult> {
  const path = '/api/v1/factories/default/live-deliveries';
  const head = [
    `GET ${path} HTTP/1.1`,
    hostOf(stage.managementUrl),
    `Authorization: Bearer ${stage.readToken}`,
  ];
  const attack = stage.attack({ url: stage.managementUrl, head, connections: 256, afterwards: 'idle' });
  await delay(stage.seconds * 500);
  const abort = new AbortController();
  const headers = { authorization: `Bearer ${stage.manageToken}` };
  const { status } = await fetch(`${stage.managementUrl}${path}`, { headers, signal: abort.signal });
  abort.abort();
  return {
    reports: [await attack],
    harm: status === 200 ? undefined : `the live view of another token gets ${status}`,
  };
}

/** Posts one large request, and again as long as the attack lasts. */
async function callApi(stage: Stage, path: string, request: object): Promise<AttackResult> {
  const body = JSON.stringify(request);
  const full = `/api/v1/factories/default${path}`;
  const head = [...apiPost(stage, full, body), `Authorization: Bearer ${stage.readToken}`];
  const bodyFile = stage.writeBody(body);
  return { reports: [await stage.attack({ url: stage.managementUrl, head, bodyFile, connections: 2 })] };
}

function apiPost(stage: Stage, path: string, body: string): string[] {
  return [
    `POST ${path} HTTP/1.1`,
    hostOf(stage.managementUrl),
    json,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
}

function hostOf(url: string): string {
  return `Host: ${new URL(url).host}`;
}

async function mergeLargeBranch(stage: Stage): Promise<AttackResult> {
  await execa('git', ['-C', `${stage.directory}.git`, 'update-ref', 'refs/heads/main', 'refs/heads/large']);
  // The branch is looked at every five seconds; two looks belong to the attack.
  await delay(Math.max(stage.seconds, 11) * 1_000);
  return { reports: [] };
}

const smallAutomation = 'prompt: Look.\ntriggers: []\n';

/** An automation that nearly fills its file with filters. */
function largeAutomation(index: number): string {
  const values = Array.from({ length: 200 }, (_, value) => `v${index}x${value}`).join(', ');
  const trigger = [
    '  - provider: webhook',
    '    event: received',
    '    filter:',
    `      webhook_ids: [wh_${'0'.repeat(24)}]`,
    `      payload: { action: [${values}] }`,
  ].join('\n');
  const count = Math.floor(63_000 / (trigger.length + 1));
  return `prompt: Look.\ntriggers:\n${Array.from({ length: count }, () => trigger).join('\n')}\n`;
}
