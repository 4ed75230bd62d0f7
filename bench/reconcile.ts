// Measures how much a fetch slows the ingress: the p99 of 1,000 deliveries per second while the daemon fetches a
// repository of 500 MB from a git daemon on this machine, compared in turn with the same daemon at rest. Then
// measures the time from a push until its commit is served, with the push's own delivery as the trigger. Most git
// hosts let a fetch leave out large files. With --without-filter the git daemon sends them all.
// Usage: npm run bench:reconcile [-- --megabytes 500 --rounds 3 --rate 1000 --connections 32 --without-filter]
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { execa } from 'execa';

const { values } = parseArgs({
  options: {
    megabytes: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '3' },
    rate: { type: 'string', default: '1000' },
    connections: { type: 'string', default: '32' },
    'without-filter': { type: 'boolean', default: false },
  },
});
const megabytes = Number(values.megabytes);
const rounds = Number(values.rounds);
const rate = Number(values.rate);
const connections = Number(values.connections);
const secondsAtRest = 5;

const directory = mkdtempSync(join(tmpdir(), 'hookmill-bench-'));
const upstream = join(directory, 'upstream');
const bin = join(import.meta.dirname, '../cli/bin.js');
const hookmill = (...args: string[]) => execa(process.execPath, [bin, '-C', directory, ...args]);
const makeGitEnvironment = {
  ...process.env,
  ...{ GIT_CONFIG_GLOBAL: '/dev/null', GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com' },
  ...{ GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com' },
};
const git = (...args: string[]) => execFileSync('git', args, { cwd: upstream, env: makeGitEnvironment });
const stops: (() => void)[] = [];

try {
  await bench();
} finally {
  for (const stop of stops) stop();
  rmSync(directory, { recursive: true, force: true });
}

async function bench(): Promise<void> {
  makeRepository();
  const url = await serveRepository();
  const { stdout: token } = await hookmill('secrets', 'generate', 'LOAD');
  const daemon = await serve(url);
  await daemon.served(2);
  const load = await urlOf(daemon.ingressUrl, 'load');
  const push = await urlOf(daemon.ingressUrl, 'push');
  const headers = { authorization: `Bearer ${token}` };
  const trigger = async () => {
    await fetch(push, {
      method: 'POST',
      headers,
      body: JSON.stringify({ push: randomBytes(8).toString('hex') }),
    });
  };

  const rows = [];
  for (let round = 0; round <= rounds; round++) {
    const atRest = await measure(load, headers, sleep(secondsAtRest * 1_000));
    rmSync(join(directory, '.hookmill/repositories'), { recursive: true, force: true });
    commit(`webhooks/more-${round}.yaml`);
    const startedMs = performance.now();
    await trigger();
    const fetching = await measure(load, headers, daemon.served(3 + round));
    const fetchSeconds = (performance.now() - startedMs) / 1_000;
    // The first round only warms up.
    if (round > 0) rows.push({ ...row(atRest, fetching), 'fetch s': round1(fetchSeconds) });
  }
  console.table(rows);
  console.log(`median ratio of p99: ${median(rows.map(({ ratio }) => ratio))}`);

  const pushes: number[] = [];
  for (let n = 0; n < 5; n++) {
    commit(`webhooks/small-${n}.yaml`);
    const startedMs = performance.now();
    await trigger();
    await daemon.served(4 + rounds + n);
    pushes.push(Math.round(performance.now() - startedMs));
  }
  console.log(`from a push until its commit is served, in ms: ${pushes.join(', ')}`);
  const how = values['without-filter'] ? 'all fetched' : 'large files left out';
  console.log(
    `${megabytes} MB, ${how}, ${rate} deliveries/s, ${connections} connections, Node ${process.version}; ` +
      'git daemon and the sender on the same machine',
  );
}

function row(atRest: readonly number[], fetching: readonly number[]) {
  const [before, during] = [percentile(atRest, 0.99), percentile(fetching, 0.99)];
  return {
    'p50 ms at rest': round1(percentile(atRest, 0.5)),
    'p50 ms fetching': round1(percentile(fetching, 0.5)),
    'p99 ms at rest': round1(before),
    'p99 ms fetching': round1(during),
    ratio: round1(during / before),
    deliveries: fetching.length,
  };
}

/** Sends deliveries at the rate until `end`; returns their response times in ms. */
async function measure(
  url: string,
  headers: Record<string, string>,
  end: Promise<unknown>,
): Promise<readonly number[]> {
  const times: number[] = [];
  const body = JSON.stringify({ id: '[<id>]', data: { text: 'x'.repeat(900) } });
  const options = {
    url,
    method: 'POST',
    headers,
    body,
    connections,
    overallRate: rate,
    idReplacement: true,
  } as const;
  const run = autocannon({ ...options, duration: 600 }, error => {
    if (error) throw error;
  });
  run.on('response', (_client, status, _bytes, ms) => {
    if (status !== 202) throw new Error(`answered ${status}`);
    times.push(ms);
  });
  await end;
  run.stop();
  await once(run, 'done');
  return times;
}

function makeRepository(): void {
  mkdirSync(join(upstream, 'webhooks'), { recursive: true });
  mkdirSync(join(upstream, 'assets'));
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', upstream]);
  // Random bytes cannot be compressed.
  git('config', 'core.compression', '0');
  git('config', 'core.bigFileThreshold', '1m');
  git('config', 'uploadpack.allowFilter', String(!values['without-filter']));
  for (let n = 0; n < megabytes / 4; n++) {
    writeFileSync(join(upstream, 'assets', `${n}.bin`), randomBytes(4 * 1024 * 1024));
  }
  writeFileSync(join(upstream, 'webhooks/load.yaml'), 'secretName: LOAD\n');
  commit('webhooks/push.yaml');
  git('repack', '-adq');
}

function commit(webhook: string): void {
  writeFileSync(join(upstream, webhook), `secretName: LOAD # ${webhook}\n`);
  git('add', '--all');
  git('commit', '--quiet', '--message', webhook);
}

async function serveRepository(): Promise<string> {
  const port = await freePort();
  const execPath = execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim();
  const args = [
    '--verbose',
    '--export-all',
    '--listen=127.0.0.1',
    `--port=${port}`,
    `--base-path=${directory}`,
  ];
  const daemon = spawn(join(execPath, 'git-daemon'), [...args, directory], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: makeGitEnvironment,
  });
  stops.push(() => daemon.kill());
  for await (const line of createInterface({ input: daemon.stderr })) {
    if (line.includes('Ready to rumble')) break;
  }
  daemon.stderr.resume();
  return `git://127.0.0.1:${port}/upstream`;
}

async function serve(repository: string) {
  const config = join(directory, 'daemon.json');
  const repositories = [{ repository, interval: '1h', trigger: 'push' }];
  const limits = { deliveriesPerMinute: 1_000_000_000 };
  writeFileSync(
    config,
    JSON.stringify({ port: 0, managementPort: 0, logLevel: 'warn', limits, repositories }),
  );
  const child = spawn(process.execPath, [bin, '-C', directory, 'serve', '--config', config], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stops.push(() => child.kill('SIGKILL'));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const [, ingressUrl = '', managementUrl = ''] =
    /on (http:\S+) \(management on (http:\S+)\)/.exec(line) ?? [];
  /** Resolves once this many webhooks are served. */
  const served = async (webhooks: number) => {
    for (;;) {
      const readiness = await (await fetch(`${managementUrl}/readyz`)).json();
      const { factories } = readiness as { factories: { webhooks: number }[] };
      if (factories[0]?.webhooks === webhooks) return;
      await sleep(20);
    }
  };
  return { ingressUrl, served };
}

async function urlOf(ingressUrl: string, name: string): Promise<string> {
  const { stdout } = await hookmill('webhooks', 'show', name, '-o', 'json');
  return `${ingressUrl}/webhooks/w/${JSON.parse(stdout).uid}`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (typeof address !== 'object' || !address) throw new Error('no port');
  return address.port;
}

function percentile(times: readonly number[], part: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? Number.NaN;
}

function median(numbers: readonly number[]): number {
  return percentile(numbers, 0.5);
}

function round1(value: number): number {
  return Math.round(value * 10) / 10;
}
