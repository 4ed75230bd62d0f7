import { once } from 'node:events';
import {
  closeSync,
  cpSync,
  createReadStream,
  fdatasyncSync,
  mkdirSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../../test/support/free-port.ts';
import { type PostgresServer, query } from '../../test/support/postgres.ts';
import { startTokenIssuer } from '../../test/support/token-issuer.ts';
import { comparisonSecret, startComparison } from '../support/comparison.ts';
import { atEnd, type BenchFactory, type BenchWebhook, openFactory } from '../support/factory.ts';
import { fillLog } from '../support/fill-log.ts';
import { type LoadOptions, post, prepareRequests, type Target } from '../support/load.ts';
import { until } from '../support/timing.ts';
import { createMeasures, type Measure, type Measures } from './measure.ts';
import { findVersion, startProgram, waitForChildren } from './programs.ts';

export type CaseName =
  | ('http' | 'koa' | 'checked' | 'hookmill' | 'full' | 'disk' | 'unknown' | 'forged' | 'refused')
  | ('token' | 'oidc' | 'tokenAtRate' | 'oidcAtRate')
  | ('koaAtRate' | 'hookmillAtRate' | 'postgres' | 'redis' | 'webhook');

/** The cases in the order of their turns. A case is missing if its program is not installed. */
export interface Cases {
  readonly measures: Readonly<Partial<Record<CaseName, Measure>>>;
  /** Versions of the programs that the cases run, by name. */
  readonly versions: Readonly<Record<string, string | undefined>>;
}

/**
 * Starts everything that is measured. Redis rewrites its file in the background, and adnanh/webhook answers before it
 * starts the processes, and so goes on to start thousands after the last answer. Both would weigh on whoever is measured
 * next, so they come last, and their turns end with this work.
 */
export async function startCases(
  directory: string,
  postgres: PostgresServer,
  { rows, ...options }: LoadOptions & { readonly rows: number },
): Promise<Cases> {
  const measures = createMeasures(options);
  const { load, atRate } = measures;
  const store = await postgres.createDatabase();
  const [{ server_version: version }] = (await query(store, 'SHOW server_version')).rows;
  const redis = await findVersion('redis-server', 'Redis server');
  const webhook = await findVersion('webhook', 'webhook version');
  const koa = await startComparison('koa');
  return {
    measures: {
      http: load(await startComparison('http')),
      koa: load(koa),
      checked: load(await startComparison('checked')),
      koaAtRate: atRate(koa),
      ...(await startHookmill(directory, rows, measures)),
      ...(await startTokens(join(directory, 'tokens'), measures)),
      postgres: load(await startComparison('postgres', store)),
      ...(redis && { redis: await startRedis(join(directory, 'redis'), measures) }),
      ...(webhook && { webhook: await startWebhook(directory, measures) }),
    },
    versions: { 'redis-server': redis, PostgreSQL: version, webhook },
  };
}

async function startHookmill(directory: string, rows: number, measures: Measures) {
  const { options, load, atRate } = measures;
  const prepared = openFactory(join(directory, 'prepared'));
  const webhook = await prepared.applyLoad(true);
  const copy = (name: string) => {
    cpSync(join(directory, 'prepared'), join(directory, name), { recursive: true });
    return openFactory(join(directory, name));
  };
  const [full, flooded] = [copy('full'), copy('flooded')];
  await fillLog(full.log, webhook.uid, { rows });
  const accepting = (await prepared.serve()).targetOf(webhook);
  const loadOther = load((await full.serve()).targetOf(webhook));
  const loadAccepting = load(accepting);
  let rowsPerCommit = 1;
  return {
    hookmillAtRate: atRate(accepting),
    hookmill: async () => {
      const sample = await loadAccepting();
      rowsPerCommit = sample.rowsPerCommit ?? rowsPerCommit;
      return sample;
    },
    full: async () => {
      // Under constant load, the file would stay in memory. Between two turns, the system may take it out.
      await once(createReadStream(full.log, { highWaterMark: 2 ** 20 }).resume(), 'end');
      return loadOther();
    },
    disk: async () => {
      const bytes = Math.round(prepareRequests(accepting)().body.length * rowsPerCommit);
      const batches = appendToDisk(join(directory, 'appended'), bytes, options.seconds);
      return { perSecond: batches * rowsPerCommit, rowsPerCommit };
    },
    ...(await startFlooded(flooded, webhook, measures)),
  };
}

/** Floods a daemon with the default limits. It takes the address of an attacker from a header. */
async function startFlooded(factory: BenchFactory, webhook: BenchWebhook, { load }: Measures) {
  const { targetOf, urlOf } = await factory.serve({ limits: {}, trustProxies: ['127.0.0.1'] });
  const flood = (more: Partial<Target>) => load({ ...targetOf(webhook), secret: 'wrong', ...more });
  return {
    unknown: flood({ url: urlOf(`wh_${'0'.repeat(24)}`), statuses: [404] }),
    forged: flood({ statuses: [401], headers: count => ({ 'x-forwarded-for': addressOf(count) }) }),
    refused: flood({ statuses: [401, 429] }),
  };
}

/** One of 16 million addresses. */
function addressOf(count: number): string {
  return `10.${(count >> 16) & 255}.${(count >> 8) & 255}.${count & 255}`;
}

async function startRedis(directory: string, { load }: Measures): Promise<Measure> {
  mkdirSync(directory);
  const port = await findFreePort();
  const where = ['--bind', '127.0.0.1', '--port', String(port), '--dir', directory];
  const durable = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];
  const { pid } = await startProgram('redis-server', [...where, ...durable], port);
  const measure = load(await startComparison('redis', `redis://127.0.0.1:${port}`));
  return () => measure().finally(() => waitForChildren(pid));
}

async function startWebhook(directory: string, { load }: Measures): Promise<Measure> {
  const parameter = { source: 'header', name: 'X-Hub-Signature-256' };
  const hook = {
    id: 'load',
    'execute-command': '/bin/true',
    'success-http-response-code': 202,
    'trigger-rule': { match: { type: 'payload-hmac-sha256', secret: comparisonSecret, parameter } },
  };
  const hooks = join(directory, 'hooks.json');
  writeFileSync(hooks, JSON.stringify([hook]));
  const port = await findFreePort();
  const where = ['-ip', '127.0.0.1', '-port', String(port)];
  const url = `http://127.0.0.1:${port}/hooks/load`;
  const measure = load({ name: 'webhook', url, secret: comparisonSecret });
  return async () => {
    const program = await startProgram('webhook', ['-hooks', hooks, ...where], port);
    return measure().finally(program.stop);
  };
}

/** Starts a daemon with a webhook for a secret token, and one for tokens of an issuer, which are signed with RS256. */
async function startTokens(directory: string, { load, atRate }: Measures) {
  const { issuer, settings, sign, stop } = await startTokenIssuer();
  atEnd(stop);
  const factory = openFactory(directory);
  const audience = 'https://hooks.example.com';
  const claims = { repository: ['acme/shop'] };
  const webhook = await factory.applyLoad();
  factory.write('webhooks/oidc.yaml', { authMode: 'oidc', issuer, audience, claims });
  const uid = (await factory.apply()).get('oidc') ?? '';
  const { targetOf } = await factory.serve(settings);
  // As long as a token of GitHub Actions, which has about 30 claims.
  const exp = Math.floor(Date.now() / 1_000) + 86_400;
  const signed = await sign({ aud: audience, exp, others: 'x'.repeat(1_000) });
  const [token, oidc] = [targetOf(webhook, 'token'), targetOf({ uid, token: signed }, 'oidc')];
  // The keys are fetched while the first deliveries are refused.
  await until(50, async () => (await post(oidc.url, prepareRequests(oidc)())).status === 202);
  return { token: load(token), oidc: load(oidc), tokenAtRate: atRate(token), oidcAtRate: atRate(oidc) };
}

/** Appends batches to a file for the given time, each with an fdatasync. Returns the batches per second. */
function appendToDisk(file: string, batchBytes: number, seconds: number): number {
  const batch = Buffer.alloc(batchBytes, 'x');
  const descriptor = openSync(file, 'w');
  const startMs = performance.now();
  let batches = 0;
  while (performance.now() - startMs < seconds * 1_000) {
    writeSync(descriptor, batch);
    fdatasyncSync(descriptor);
    batches += 1;
  }
  const elapsedMs = performance.now() - startMs;
  closeSync(descriptor);
  rmSync(file);
  return (batches / elapsedMs) * 1_000;
}
