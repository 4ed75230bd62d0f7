// Measures how much a fetch slows the ingress: the p99 of 1,000 deliveries per second while the daemon fetches a
// repository of 500 MB from a git daemon on this machine, compared in turn with the same daemon at rest. Then
// measures the time from a push until its commit is served, with the push's own delivery as the trigger. Most git
// hosts let a fetch leave out large files. With --without-filter the git daemon sends them all.
// Usage: npm run bench:reconcile [-- --megabytes 500 --rounds 3 --rate 1000 --connections 32 --filter 1]
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { startGitDaemon } from '../test/support/git-daemon.ts';
import { atEnd, inTemporaryDirectory, openFactory } from './support/factory.ts';
import { parseNumbers } from './support/options.ts';
import { median, percentile, round } from './support/statistics.ts';

const { megabytes, rounds, rate, connections, filter } = parseNumbers({
  ...{ megabytes: 500, rounds: 3, rate: 1_000, connections: 32 },
  filter: 1,
});
const secondsAtRest = 5;
const gitEnvironment = {
  ...process.env,
  ...{ GIT_CONFIG_GLOBAL: '/dev/null', GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com' },
  ...{ GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com' },
};

await inTemporaryDirectory(async directory => {
  const upstream = join(directory, 'upstream');
  makeRepository(upstream);
  const gitDaemon = await startGitDaemon(directory, gitEnvironment);
  atEnd(gitDaemon.stop);
  const factory = openFactory(directory);
  const token = await factory.hookmill('secrets', 'generate', 'LOAD');
  const repository = `${gitDaemon.url}/upstream`;
  const { ingressUrl, managementUrl } = await factory.serve({
    repositories: [{ repository, interval: '1h', trigger: 'push' }],
  });
  await served(managementUrl, 2);
  const urlOf = async (name: string) => {
    const { uid } = JSON.parse(await factory.hookmill('webhooks', 'show', name, '-o', 'json'));
    return `${ingressUrl}/webhooks/w/${uid}`;
  };
  const [load, push] = [await urlOf('load'), await urlOf('push')];
  const headers = { authorization: `Bearer ${token}` };
  const trigger = () =>
    fetch(push, { method: 'POST', headers, body: JSON.stringify({ push: randomBytes(8).toString('hex') }) });

  const rows = [];
  for (let n = 0; n <= rounds; n++) {
    const atRest = await measure(load, headers, sleep(secondsAtRest * 1_000));
    rmSync(join(factory.home, 'repositories'), { recursive: true, force: true });
    commit(upstream, `webhooks/more-${n}.yaml`);
    const startedMs = performance.now();
    await trigger();
    const fetching = await measure(load, headers, served(managementUrl, 3 + n));
    const fetchSeconds = (performance.now() - startedMs) / 1_000;
    // The first round warms up.
    if (n > 0) rows.push({ ...row(atRest, fetching), 'fetch s': round(fetchSeconds) });
  }
  console.table(rows);
  console.log(`median ratio of p99: ${median(rows.map(({ ratio }) => ratio))}`);

  const pushes: number[] = [];
  for (let n = 0; n < 5; n++) {
    commit(upstream, `webhooks/small-${n}.yaml`);
    const startedMs = performance.now();
    await trigger();
    await served(managementUrl, 4 + rounds + n);
    pushes.push(Math.round(performance.now() - startedMs));
  }
  console.log(`from a push to its being served, ms: ${pushes.join(', ')}`);
  const how = filter ? 'large files left out' : 'all fetched';
  console.log(
    `${megabytes} MB, ${how}, ${rate} deliveries/s, ${connections} connections, Node ${process.version}; ` +
      'git daemon and the sender on the same machine',
  );
});

function row(atRest: readonly number[], fetching: readonly number[]) {
  const [before, during] = [percentile(atRest, 0.99), percentile(fetching, 0.99)];
  return {
    'p50 ms at rest': round(percentile(atRest, 0.5)),
    'p50 ms fetching': round(percentile(fetching, 0.5)),
    'p99 ms at rest': round(before),
    'p99 ms fetching': round(during),
    ratio: round(during / before),
    deliveries: fetching.length,
  };
}

/** Sends deliveries at the rate until `end`. Returns their response times in ms. */
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

function git(cwd: string, ...args: string[]): void {
  execFileSync('git', args, { cwd, env: gitEnvironment });
}

function makeRepository(upstream: string): void {
  mkdirSync(join(upstream, 'webhooks'), { recursive: true });
  mkdirSync(join(upstream, 'assets'));
  git(upstream, 'init', '--quiet', '--initial-branch=main');
  // Random bytes cannot be compressed.
  git(upstream, 'config', 'core.compression', '0');
  git(upstream, 'config', 'core.bigFileThreshold', '1m');
  git(upstream, 'config', 'uploadpack.allowFilter', String(filter !== 0));
  for (let n = 0; n < megabytes / 4; n++) {
    writeFileSync(join(upstream, 'assets', `${n}.bin`), randomBytes(4 * 1024 * 1024));
  }
  writeFileSync(join(upstream, 'webhooks/load.yaml'), 'secretName: LOAD\n');
  commit(upstream, 'webhooks/push.yaml');
  git(upstream, 'repack', '-adq');
}

function commit(upstream: string, webhook: string): void {
  writeFileSync(join(upstream, webhook), `secretName: LOAD # ${webhook}\n`);
  git(upstream, 'add', '--all');
  git(upstream, 'commit', '--quiet', '--message', webhook);
}

/** Resolves once the daemon serves this many webhooks. */
async function served(managementUrl: string, webhooks: number): Promise<void> {
  for (;;) {
    const { factories } = (await (await fetch(`${managementUrl}/readyz`)).json()) as {
      factories: { webhooks: number }[];
    };
    if (factories[0]?.webhooks === webhooks) return;
    await sleep(20);
  }
}
