// Measures lists of the management API over a full delivery log. Then compares the ingress while live views are open,
// one of which never reads, with the ingress without viewers. These cases take turns within one run, so that other load
// on the machine affects both equally.
// Usage: npm run bench:management [-- --deliveries 100000 --seconds 4 --rounds 3 --viewers 200 --connections 64]
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createSortableId } from '../schema/ids.ts';
import { openDeliveryLog } from '../store/embedded/delivery-log/write/open-delivery-log.ts';
import { inTemporaryDirectory, openFactory } from './support/factory.ts';
import { load, rateOf, type Target } from './support/load.ts';
import { parseNumbers } from './support/options.ts';
import { median } from './support/statistics.ts';
import { openViewers } from './support/viewers.ts';

const options = parseNumbers({ deliveries: 100_000, seconds: 4, rounds: 3, viewers: 200, connections: 64 });
const { deliveries, seconds, rounds, viewers } = options;

await inTemporaryDirectory(async directory => {
  const factory = openFactory(directory);
  const createToken = (name: string) => factory.hookmill('tokens', 'create', name, '--permission', 'manage');
  const token = await createToken('bench');
  // Each token may have 64 live views.
  const tokens: string[] = [];
  for (let at = 0; at < viewers; at += 64) tokens.push(await createToken(`viewers-${at}`));
  const { managementUrl } = await factory.serve();
  const api = client(managementUrl, token);
  const { webhook, revealed } = await api('POST', '/webhooks', { name: 'load' });
  await fill(join(factory.home, 'deliveries.db'), webhook.uid);
  await lists(api, webhook.uid);
  await liveViews(managementUrl, tokens, { name: 'load', url: webhook.url, token: revealed.secret });
});

function client(managementUrl: string, token: string) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return async (method: string, path: string, body?: object) => {
    const url = `${managementUrl}/api/v1/factories/default${path}`;
    const answer = await fetch(url, { method, headers, body: body ? JSON.stringify(body) : null });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return JSON.parse(await answer.text());
  };
}

/** Stores deliveries, most of them for another webhook, so that a list for one webhook has to skip many. */
async function fill(file: string, uid: string): Promise<void> {
  const log = await openDeliveryLog(file);
  const atMs = Date.now();
  const payload = Buffer.from(JSON.stringify({ text: 'x'.repeat(900) }));
  for (let at = 0; at < deliveries; at += 2_000) {
    const batch = Array.from({ length: Math.min(2_000, deliveries - at) }, (_, index) => {
      const id = createSortableId('dlv', atMs, randomBytes(16));
      const isRare = (at + index) % 1_000 === 0;
      return log.recordAccepted({
        ...{ id, factory: 'default', atMs, size: payload.length, payload, headers: {}, runs: [] },
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
    'of a rare webhook': `/deliveries?webhook=${uid}`,
    'of an outcome that none has': '/deliveries?outcome=Duplicate',
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
  console.log(`over ${deliveries} stored deliveries, by HTTP`);
}

async function liveViews(managementUrl: string, tokens: readonly string[], target: Target): Promise<void> {
  const alone: number[] = [];
  const watched: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const without = await measureRate(target);
    const close = await openViewers(managementUrl, tokens, viewers);
    const withThem = await measureRate(target);
    close();
    // The first round warms up.
    if (round === 0) continue;
    alone.push(without);
    watched.push(withThem);
  }
  console.table([
    { ingress: 'alone', 'accepted/s': Math.round(median(alone)) },
    { ingress: `${viewers} live views, one not read`, 'accepted/s': Math.round(median(watched)) },
  ]);
  console.log(
    `ratio ${(median(watched) / median(alone)).toFixed(2)}, medians of ${rounds} rounds of ${seconds} s`,
  );
}

async function measureRate(target: Target): Promise<number> {
  return rateOf(await load(target, options));
}
