// Measures for how long a manager's requests keep the ingress from answering: the largest delay of a health check on the
// management port, which is in the thread of the ingress, while expensive requests are answered.
// Usage: npm run bench:attack [-- --automations 10000]
import { once } from 'node:events';
import { request } from 'node:http';
import { inTemporaryDirectory, openFactory } from './support/factory.ts';
import { parseNumbers } from './support/options.ts';
import { percentile } from './support/statistics.ts';

const { automations } = parseNumbers({ automations: 10_000 });
const uid = 'wh_0123456789abcdefghijklmn';

await inTemporaryDirectory(async directory => {
  const factory = openFactory(directory);
  const token = await factory.hookmill('tokens', 'create', 'bench', '--permission', 'manage');
  const { managementUrl } = await factory.serve();
  const post = (path: string, body: object) => send(managementUrl, token, 'POST', path, body);
  const get = (path: string) => send(managementUrl, token, 'GET', path);
  const rows = [
    await measure('nothing', managementUrl, () => new Promise(resolve => setTimeout(resolve, 3_000))),
  ];
  const attacks: Record<string, () => Promise<string>> = {
    'plan of 7.3 MB': () => post('/plan', { files: files(125, triggers(480)) }),
    'plan of 40,000 files': () => post('/plan', { files: files(40_000, '{}') }),
    'filter test with 1,000 triggers': () => post('/automation-test', filterTest(1_000)),
    'filter test with 100 triggers': () => post('/automation-test', filterTest(100)),
    'largest honest plan': () => post('/plan', { files: files(automations, automation('p')) }),
    'largest honest apply': () =>
      post('/apply', { files: files(automations, automation('p')), origin: '/x' }),
    'list of all automations': () => get('/automations'),
    'apply without automations': () => post('/apply', { files: [], origin: '/x', destroy: true }),
  };
  for (const [name, attack] of Object.entries(attacks)) rows.push(await measure(name, managementUrl, attack));
  console.table(rows);
});

function files(count: number, content: string) {
  return Array.from({ length: count }, (_, index) => ({ path: `automations/a${index}.yaml`, content }));
}

/** An automation whose triggers all name an unknown webhook, so that each gets a warning with its place. */
function triggers(count: number): string {
  const line = (index: number) =>
    `  - {provider: webhook, event: received, filter: {webhook_ids: [${uid}], payload: {a: {b${index}: [${index}]}}}}`;
  return `prompt: p\ntriggers:\n${Array.from({ length: count }, (_, index) => line(index)).join('\n')}\n`;
}

function automation(prompt: string): string {
  return `prompt: ${prompt}\ntriggers: [{provider: webhook, event: received, filter: {webhook_ids: [${uid}], payload: {action: [a, b]}}}]\n`;
}

/** Many triggers, each of which looks through all elements of a large array. */
function filterTest(triggers: number) {
  const payload = { items: Array.from({ length: 40_000 }, (_, index) => ({ a: index % 10 })) };
  const fields = Object.fromEntries(
    Array.from({ length: 8 }, (_, index) => [`f${index}`, { exists: false }]),
  );
  const filter = { webhook_ids: [uid], payload: { items: { ...fields, a: [11] } } };
  const trigger = { provider: 'webhook', event: 'received', filter };
  return { payload, triggers: Array.from({ length: triggers }, () => trigger) };
}

async function measure(name: string, managementUrl: string, attack: () => Promise<unknown>) {
  const delays: number[] = [];
  let done = false;
  const watch = async () => {
    while (!done) {
      const startedMs = performance.now();
      await (await fetch(`${managementUrl}/healthz`)).text();
      delays.push(performance.now() - startedMs);
      await new Promise(resolve => setTimeout(resolve, 1));
    }
  };
  const watching = watch();
  const startedMs = performance.now();
  const answer = await attack();
  const seconds = (performance.now() - startedMs) / 1_000;
  done = true;
  await watching;
  return {
    attack: name,
    answer: answer ?? '',
    seconds: seconds.toFixed(1),
    'health p99 ms': percentile(delays, 0.99).toFixed(1),
    'health worst ms': Math.max(...delays).toFixed(0),
  };
}

async function send(managementUrl: string, token: string, method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const sent = request(`${managementUrl}/api/v1/factories/default${path}`, { method, headers });
  sent.end(body && JSON.stringify(body));
  const [answer] = await once(sent, 'response');
  let bytes = 0;
  for await (const chunk of answer) bytes += chunk.length;
  return `${answer.statusCode}, ${bytes} bytes`;
}
