// Measures deliveries accepted per second on one webhook, and compares them with a bare Koa handler and a bare
// node:http handler that read the body and answer 202; then floods of 404s and 401s. The cases take turns within one
// run, so that other load on the machine affects all of them equally.
// Usage: npm run bench:ingress [-- --seconds 5 --rounds 3 --connections 64]
import { join } from 'node:path';
import type autocannon from 'autocannon';
import { inTemporaryDirectory, openFactory, startServer } from './support/factory.ts';
import { loadInTurn } from './support/load.ts';
import { parseNumbers } from './support/options.ts';
import { median } from './support/statistics.ts';

const options = parseNumbers({ seconds: 4, rounds: 3, connections: 64 });

await inTemporaryDirectory(async directory => {
  const factory = openFactory(directory);
  factory.write('webhooks/load.yaml', 'secretName: LOAD\n');
  const token = await factory.hookmill('secrets', 'generate', 'LOAD');
  const uids = await factory.apply();
  const { ingressUrl } = await factory.serve();
  const servers = join(import.meta.dirname, 'bare-servers.ts');
  const bareKoa = await startServer([servers, 'koa']);
  const bareHttp = await startServer([servers, 'http']);

  const webhook = `${ingressUrl}/webhooks/w/${uids.get('load')}`;
  const unknown = `${ingressUrl}/webhooks/w/wh_${'0'.repeat(24)}`;
  const body = { type: 'deploy.finished' };
  const targets = [
    { name: 'bare node:http', url: bareHttp.urls[0] ?? '', body },
    { name: 'bare Koa', url: bareKoa.urls[0] ?? '', body },
    { name: 'accepted, on disk', url: webhook, token, body },
    { name: '404 flood', url: unknown, status: 404, body },
    { name: '401 flood', url: webhook, token: 'wrong', status: 401, body },
  ];
  print(await loadInTurn(targets, options));
});

function print(rows: ReadonlyMap<string, readonly autocannon.Result[]>): void {
  const rate = (results: readonly autocannon.Result[]) =>
    median(results.map(({ requests }) => requests.average));
  const bareKoa = rate(rows.get('bare Koa') ?? []);
  const table = [...rows].map(([name, results]) => ({
    '': name,
    'requests/s': Math.round(rate(results)),
    'of bare Koa': (rate(results) / bareKoa).toFixed(2),
    'p50 ms': median(results.map(({ latency }) => latency.p50)),
    'p99 ms': median(results.map(({ latency }) => latency.p99)),
  }));
  console.table(table);
  const { seconds, rounds, connections } = options;
  console.log(
    `medians of ${rounds} rounds of ${seconds} s, ${connections} connections, 1 KB bodies, Node ${process.version}`,
  );
}
