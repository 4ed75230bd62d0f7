// Measures lists of the management API over a full delivery log. Then compares the ingress while live views are open,
// one of which never reads, with the ingress without viewers. These cases take turns within one run, so that other load
// on the machine affects both equally.
// Usage: npm run bench:management [-- --deliveries 100000 --seconds 4 --rounds 3 --viewers 200 --connections 64]
import { acceptedDelivery } from '../test/support/deliveries.ts';
import { inTemporaryDirectory, openFactory, type RunningDaemon } from './support/factory.ts';
import { recordDeliveries } from './support/fill-log.ts';
import { measureRate, type Target } from './support/load.ts';
import { type Api, measureReads, openApi, openViewers } from './support/management.ts';
import { parseOptions } from './support/options.ts';
import { median } from './support/statistics.ts';
import { measureInTurn } from './support/timing.ts';

const options = parseOptions({ deliveries: 100_000, seconds: 4, rounds: 3, viewers: 200, connections: 64 });
const { deliveries, seconds, rounds, viewers } = options;

await inTemporaryDirectory(async directory => {
  const factory = openFactory(directory);
  const token = await factory.createToken();
  // Each token may have 64 live views.
  const tokens: string[] = [];
  for (let at = 0; at < viewers; at += 64) tokens.push(await factory.createToken(`viewers-${at}`));
  const daemon = await factory.serve();
  const api = openApi(daemon, token);
  const { webhook, revealed } = await api('/webhooks', { name: 'load' });
  await fill(factory.log, webhook.uid);
  await measureLists(api, webhook.uid);
  await measureLiveViews(daemon, tokens, { name: 'load', url: webhook.url, token: revealed.secret });
});

/** Stores deliveries, most of them for another webhook, so that a list for one webhook has to skip many. */
async function fill(log: string, uid: string): Promise<void> {
  const payload = Buffer.from(JSON.stringify({ text: 'x'.repeat(900) }));
  const rare = { webhook: 'load', uid };
  const busy = { webhook: 'busy', uid: `wh_${'0'.repeat(24)}` };
  const atMs = Date.now();
  await recordDeliveries(log, deliveries, index =>
    acceptedDelivery({ atMs, payload, ...(index % 1_000 === 0 ? rare : busy) }),
  );
}

async function measureLists(api: Api, uid: string): Promise<void> {
  const { next } = await api('/deliveries?limit=200');
  const paths = {
    'newest 50': '/deliveries',
    'newest 200': '/deliveries?limit=200',
    'second page': `/deliveries?limit=200&cursor=${next}`,
    'of a rare webhook': `/deliveries?webhook=${uid}`,
    'of an outcome that none has': '/deliveries?outcome=Duplicate',
  };
  console.table(await measureReads(api, 'list', paths, 30));
  console.log(`over ${deliveries} stored deliveries, by HTTP`);
}

async function measureLiveViews(daemon: RunningDaemon, tokens: readonly string[], target: Target) {
  const rates = await measureInTurn(
    {
      alone: () => measureRate(target, options),
      watched: async () => {
        const close = await openViewers(daemon, tokens, viewers);
        return measureRate(target, options).finally(close);
      },
    },
    rounds,
  );
  const [alone, watched] = [median(rates.alone), median(rates.watched)];
  console.table([
    { ingress: 'alone', 'accepted/s': Math.round(alone) },
    { ingress: `${viewers} live views, one not read`, 'accepted/s': Math.round(watched) },
  ]);
  console.log(`ratio ${(watched / alone).toFixed(2)}, medians of ${rounds} rounds of ${seconds} s`);
}
