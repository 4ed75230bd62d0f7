// Measures the management API: lists over a full delivery log; and the ingress while live views are open, one of
// which never reads, compared with the ingress without viewers. The cases take turns within one run, so that other
// load on the machine affects both equally.
// Usage: npm run bench:management [-- --deliveries 100000 --seconds 4 --rounds 3 --viewers 200 --connections 64]
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { execa } from 'execa';
import { createSortableId } from '../schema/ids.ts';
import { openDeliveryLog } from '../store/embedded/delivery-log/write/open-delivery-log.ts';

const { values } = parseArgs({
  options: {
    deliveries: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    viewers: { type: 'string', default: '200' },
    connections: { type: 'string', default: '64' },
  },
});
const deliveries = Number(values.deliveries);
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const viewers = Number(values.viewers);
const connections = Number(values.connections);

const directory = mkdtempSync(join(tmpdir(), 'hookmill-bench-'));
const bin = join(import.meta.dirname, '../cli/bin.js');
const many = 1_000_000_000;
const config = join(directory, 'daemon.json');
let stop: (() => void) | undefined;

try {
  await bench();
} finally {
  stop?.();
  rmSync(directory, { recursive: true, force: true });
}

async function bench(): Promise<void> {
  writeFileSync(
    config,
    JSON.stringify({ port: 0, managementPort: 0, logLevel: 'warn', limits: { deliveriesPerMinute: many } }),
  );
  const { stdout: token } = await execa(process.execPath, [
    ...[bin, '-C', directory, 'tokens', 'create', 'bench', '--permission', 'manage'],
  ]);
  const { managementUrl } = await serve();
  const api = client(managementUrl, token);
  const { webhook, revealed } = await api('POST', '/webhooks', { name: 'load' });
  await fill(webhook.uid);
  await lists(api, webhook.uid);
  await liveViews(managementUrl, token, webhook.url, revealed.secret);
}

async function serve(): Promise<{ managementUrl: string }> {
  const child = execa(process.execPath, [bin, '-C', directory, 'serve', '--config', config], {
    stderr: 'inherit',
    buffer: false,
    reject: false,
  });
  stop = () => child.kill('SIGKILL');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const [, managementUrl] = line.match(/http:\/\/[^\s)]+/g) ?? [];
  if (!managementUrl) throw new Error(`not a ready line: ${line}`);
  return { managementUrl };
}

function client(managementUrl: string, token: string) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return async (method: string, path: string, body?: object) => {
    const url = `${managementUrl}/api/v1/factories/default${path}`;
    const answer = await fetch(url, { method, headers, body: body ? JSON.stringify(body) : null });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return JSON.parse(await answer.text());
  };
}

/** Stores deliveries, most of them of another webhook, so that a list of one webhook has to skip many. */
async function fill(uid: string): Promise<void> {
  const log = await openDeliveryLog(join(directory, '.hookmill/deliveries.db'));
  const atMs = Date.now();
  const payload = Buffer.from(JSON.stringify({ text: 'x'.repeat(900) }));
  for (let at = 0; at < deliveries; at += 2_000) {
    const batch = Array.from({ length: Math.min(2_000, deliveries - at) }, (_, index) => {
      const id = createSortableId('dlv', atMs, randomBytes(16));
      const isRare = (at + index) % 1_000 === 0;
      return log.recordAccepted({
        ...{ id, factory: 'default', atMs, size: payload.length, payload, runs: [] },
        ...{ identity: id, identitySource: 'body' },
        ...(isRare ? { webhook: 'load', uid } : { webhook: 'busy', uid: `wh_${'0'.repeat(24)}` }),
      });
    });
    await Promise.all(batch);
  }
  await log.close();
}

async function lists(api: ReturnType<typeof client>, uid: string): Promise<void> {
  const { next } = await api('GET', '/deliveries?limit=200');
  const paths = {
    'newest 50': '/deliveries',
    'newest 200': '/deliveries?limit=200',
    'second page': `/deliveries?limit=200&cursor=${next}`,
    'one rare webhook': `/deliveries?webhook=${uid}`,
    'an outcome that no delivery has': '/deliveries?outcome=Duplicate',
  };
  const rows = [];
  for (const [name, path] of Object.entries(paths)) {
    const times: number[] = [];
    for (let round = 0; round < 30; round++) {
      const startedMs = performance.now();
      await api('GET', path);
      times.push(performance.now() - startedMs);
    }
    rows.push({
      list: name,
      'median ms': median(times).toFixed(1),
      'worst ms': Math.max(...times).toFixed(1),
    });
  }
  console.table(rows);
  console.log(`${deliveries} stored deliveries, measured over HTTP`);
}

async function liveViews(managementUrl: string, token: string, url: string, secret: string): Promise<void> {
  const unwatched: number[] = [];
  const watched: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const without = await load(url, secret);
    const close = await openViewers(managementUrl, token);
    const withThem = await load(url, secret);
    close();
    // The first round only warms up.
    if (round === 0) continue;
    unwatched.push(without);
    watched.push(withThem);
  }
  console.table([
    { ingress: 'no viewers', 'accepted/s': Math.round(median(unwatched)) },
    { ingress: `${viewers} live views, one of them never reads`, 'accepted/s': Math.round(median(watched)) },
  ]);
  console.log(
    `ratio ${(median(watched) / median(unwatched)).toFixed(2)}, medians of ${rounds} rounds of ${seconds} s`,
  );
}

async function openViewers(managementUrl: string, token: string): Promise<() => void> {
  const { hostname, port, host } = new URL(managementUrl);
  const path = '/api/v1/factories/default/live-deliveries';
  const headers = { authorization: `Bearer ${token}` };
  const views: ClientRequest[] = Array.from({ length: viewers - 1 }, () =>
    request({ hostname, port, path, headers, agent: false }, incoming => incoming.resume()).end(),
  );
  for (const view of views) view.on('error', () => undefined);
  const silent: Socket = connect(Number(port), hostname);
  silent.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  silent.pause();
  await Promise.all(views.map(view => once(view, 'response')));
  return () => {
    silent.destroy();
    for (const view of views) view.destroy();
  };
}

async function load(url: string, secret: string): Promise<number> {
  const result = await autocannon({
    url,
    method: 'POST',
    connections,
    duration: seconds,
    idReplacement: true,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: JSON.stringify({ id: '[<id>]', data: { text: 'x'.repeat(900) } }),
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} refused, ${result.errors} errors`);
  return result.requests.average;
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
