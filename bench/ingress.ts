// Measures deliveries accepted per second on one webhook, and compares them with a bare Koa handler and a bare
// node:http handler that read the body and answer 202; then floods of 404s and 401s. The cases take turns within one
// run, so that other load on the machine affects all of them equally.
// Usage: npm run bench:ingress [-- --seconds 5 --rounds 3 --connections 64]
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { execa } from 'execa';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
  },
});
const [seconds, rounds, connections] = [values.seconds, values.rounds, values.connections].map(Number) as [
  number,
  number,
  number,
];

const directory = mkdtempSync(join(tmpdir(), 'hookmill-bench-'));
const bin = join(import.meta.dirname, '../cli/bin.js');
const hookmill = (...args: string[]) => execa(process.execPath, [bin, '-C', directory, ...args]);
const children: ChildProcess[] = [];

try {
  await bench();
} finally {
  for (const child of children) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
}

async function bench(): Promise<void> {
  const { token, uid } = await prepare();
  const daemon = await startServer([
    bin,
    '-C',
    directory,
    'serve',
    '--config',
    join(directory, 'daemon.yaml'),
  ]);
  const servers = join(import.meta.dirname, 'bare-servers.ts');
  const bareKoa = await startServer([servers, 'koa']);
  const bareHttp = await startServer([servers, 'http']);

  const webhook = `${daemon}/webhooks/w/${uid}`;
  const unknown = `${daemon}/webhooks/w/wh_${'0'.repeat(24)}`;
  const targets = [
    { name: 'bare node:http', url: bareHttp, status: 202 },
    { name: 'bare Koa', url: bareKoa, status: 202 },
    { name: 'accepted, on disk', url: webhook, status: 202, authorization: `Bearer ${token}` },
    { name: '404 flood', url: unknown, status: 404 },
    { name: '401 flood', url: webhook, status: 401, authorization: 'Bearer wrong' },
  ];
  const results = new Map<string, autocannon.Result[]>();
  for (let round = 0; round <= rounds; round++) {
    for (const target of targets) {
      const result = await load(target);
      // The first round only warms up.
      if (round > 0) results.set(target.name, [...(results.get(target.name) ?? []), result]);
    }
  }
  print(targets.map(({ name }) => ({ name, results: results.get(name) ?? [] })));
}

async function prepare(): Promise<{ token: string; uid: string }> {
  await execa('mkdir', ['-p', join(directory, 'webhooks')]);
  writeFileSync(join(directory, 'webhooks/load.yaml'), 'secretName: LOAD\n');
  const many = 1_000_000_000;
  const limits = `{ deliveriesPerMinute: ${many}, failedAuthPerMinute: ${many}, failedAuthPerMinuteTotal: ${many} }`;
  writeFileSync(
    join(directory, 'daemon.yaml'),
    `port: 0\nmanagementPort: 0\nlogLevel: warn\nlimits: ${limits}\n`,
  );
  const { stdout: token } = await hookmill('secrets', 'generate', 'LOAD');
  const { stdout } = await hookmill('apply', '-o', 'json');
  const [{ uid }] = JSON.parse(stdout).changes;
  return { token, uid };
}

/** Starts a server whose first line of output says where it listens. */
async function startServer(args: string[]): Promise<string> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const url = /http:\/\/[^\s)]+/.exec(line)?.[0];
  if (!url) throw new Error(`not a ready line: ${line}`);
  return url;
}

async function load(target: { name: string; url: string; status: number; authorization?: string }) {
  const body = JSON.stringify({ id: '[<id>]', type: 'deploy.finished', data: { text: 'x'.repeat(900) } });
  const result = await autocannon({
    url: target.url,
    method: 'POST',
    connections,
    duration: seconds,
    idReplacement: true,
    headers: {
      'content-type': 'application/json',
      ...(target.authorization ? { authorization: target.authorization } : {}),
    },
    body,
  });
  const expected = result.statusCodeStats?.[String(target.status) as '202']?.count ?? 0;
  if (result.errors > 0 || expected !== result.requests.total) {
    throw new Error(`${target.name}: ${JSON.stringify(result.statusCodeStats)}, ${result.errors} errors`);
  }
  return result;
}

function print(rows: { name: string; results: autocannon.Result[] }[]): void {
  const rate = (results: autocannon.Result[]) => median(results.map(({ requests }) => requests.average));
  const bareKoa = rate(rows.find(({ name }) => name === 'bare Koa')?.results ?? []);
  const table = rows.map(({ name, results }) => ({
    '': name,
    'requests/s': Math.round(rate(results)),
    'of bare Koa': (rate(results) / bareKoa).toFixed(2),
    'p50 ms': median(results.map(({ latency }) => latency.p50)),
    'p99 ms': median(results.map(({ latency }) => latency.p99)),
  }));
  console.table(table);
  console.log(
    `medians of ${rounds} rounds of ${seconds} s, ${connections} connections, 1 KB bodies, Node ${process.version}`,
  );
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
