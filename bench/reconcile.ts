// Measures how much a fetch slows the ingress: the p99 of 1,000 deliveries per second while the daemon fetches a
// repository of 500 MB from a git daemon on this machine, compared in turn with the same daemon at rest. Then
// measures the time from a push until its commit is served, with the push's own delivery as the trigger. Most git
// hosts let a fetch leave out large files. With --without-filter the git daemon sends them all.
// Usage: npm run bench:reconcile [-- --megabytes 500 --rounds 3 --rate 1000 --connections 32 --filter 1]
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startGitDaemon } from '../test/support/git-daemon.ts';
import { operatorEnvironment } from '../test/support/git-samples.ts';
import { countWebhooks } from './support/daemon-figures.ts';
import { atEnd, inTemporaryDirectory, openFactory } from './support/factory.ts';
import { post, prepareRequests, sendAtRate } from './support/load.ts';
import { parseOptions } from './support/options.ts';
import { median, percentile, round } from './support/statistics.ts';
import { measureInTurn, timeMs, until } from './support/timing.ts';

const { megabytes, rounds, rate, connections, filter } = parseOptions({
  ...{ megabytes: 500, rounds: 3, rate: 1_000, connections: 32 },
  filter: 1,
});
const secondsAtRest = 5;

await inTemporaryDirectory(async directory => {
  const upstream = join(directory, 'upstream');
  makeRepository(upstream);
  const gitDaemon = await startGitDaemon(directory, operatorEnvironment);
  atEnd(gitDaemon.stop);
  const factory = openFactory(directory);
  const token = await factory.hookmill('secrets', 'generate', 'LOAD');
  const repository = `${gitDaemon.url}/upstream`;
  const { targetOf, managementUrl } = await factory.serve({
    repositories: [{ repository, interval: '1h', trigger: 'push' }],
  });
  let webhooks = 2;
  const served = () => until(20, async () => (await countWebhooks(managementUrl)) === webhooks);
  await served();
  const find = async (name: string) => {
    const { uid } = JSON.parse(await factory.hookmill('webhooks', 'show', name, '-o', 'json'));
    return targetOf({ uid, token }, name);
  };
  const [load, push] = [await find('load'), await find('push')];
  const nextPush = prepareRequests(push);
  /** Commits another webhook. Returns a function that says so, as a git host does, and waits until the webhook is served. */
  const commitAnother = () => {
    commit(upstream, `webhooks/more-${webhooks++}.yaml`);
    return () => post(push.url, nextPush()).then(served);
  };

  const measure = async (took: Promise<number>) => {
    const times = await sendAtRate(load, rate, connections, took);
    return { times, seconds: round((await took) / 1_000) };
  };
  const cases = {
    atRest: () => measure(timeMs(() => delay(secondsAtRest * 1_000))),
    fetching: () => {
      rmSync(join(factory.home, 'repositories'), { recursive: true, force: true });
      return measure(timeMs(commitAnother()));
    },
  };
  const { atRest, fetching } = await measureInTurn(cases, rounds);
  const rows = fetching.map(({ times, seconds }, turn) => {
    return { ...row(atRest[turn]?.times ?? [], times), 'fetch s': seconds };
  });
  console.table(rows);
  console.log(`median ratio of p99: ${median(rows.map(({ ratio }) => ratio))}`);

  const pushes: number[] = [];
  for (let n = 0; n < 5; n++) pushes.push(Math.round(await timeMs(commitAnother())));
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

function git(cwd: string, ...args: string[]): void {
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  execFileSync('git', [...author, ...args], { cwd, env: operatorEnvironment });
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
