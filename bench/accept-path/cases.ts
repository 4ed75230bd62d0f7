import { once } from 'node:events';
import { cpSync, createReadStream, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../../test/support/free-port.ts';
import { type PostgresServer, query } from '../../test/support/postgres.ts';
import { type BenchFactory, openFactory, startServer } from '../support/factory.ts';
import { type LoadOptions, prepareRequests, type Target } from '../support/load.ts';
import { appendToDisk } from './append-to-disk.ts';
import { fillLog } from './fill-log.ts';
import { measureAtRate, measureLoad, type Sample } from './measure.ts';
import { findVersion, startProgram, waitForChildren } from './programs.ts';
import { startTokens } from './token-cases.ts';

export type CaseName =
  | ('http' | 'koa' | 'checked' | 'hookmill' | 'full' | 'disk' | 'unknown' | 'forged' | 'refused')
  | ('token' | 'oidc' | 'tokenAtRate' | 'oidcAtRate')
  | ('koaAtRate' | 'hookmillAtRate' | 'postgres' | 'redis' | 'webhook');

/** Measures one case for one turn. */
export type Measure = () => Promise<Sample>;

/** The cases in the order of their turns. A case is missing if its program is not installed. */
export interface Cases {
  readonly measures: Readonly<Partial<Record<CaseName, Measure>>>;
  /** Versions of the programs that the cases run, by name. */
  readonly versions: Readonly<Record<string, string | undefined>>;
}

export interface CaseOptions extends LoadOptions {
  /** Rows of the full log. */
  readonly rows: number;
}

const secret = 'the-secret-of-a-benchmark-0123456789';
/** Requests per second of an open loop. */
const steadyRate = 1_000;

/**
 * Starts everything that is measured. Redis rewrites its file in the background, and adnanh/webhook answers before it
 * starts the processes, and so goes on to start thousands after the last answer. Both would weigh on whoever is measured
 * next, so they come last, and their turns end with this work.
 */
export async function startCases(
  directory: string,
  postgres: PostgresServer,
  options: CaseOptions,
): Promise<Cases> {
  const store = await postgres.createDatabase();
  const [{ server_version: version }] = (await query(store, 'SHOW server_version')).rows;
  const redis = await findVersion('redis-server', 'Redis server');
  const webhook = await findVersion('webhook', 'webhook version');
  return {
    measures: {
      ...(await startBare(options)),
      ...(await startHookmill(directory, options)),
      ...(await startTokens(join(directory, 'tokens'), options)),
      postgres: await startComparison('postgres', options, store),
      ...(redis && { redis: await startRedis(join(directory, 'redis'), options) }),
      ...(webhook && { webhook: await startWebhook(directory, options) }),
    },
    versions: { 'redis-server': redis, PostgreSQL: version, webhook },
  };
}

const servers = join(import.meta.dirname, '../comparison-servers.ts');

async function startBare(options: LoadOptions) {
  const { urls } = await startServer([servers, 'koa']);
  const target = { name: 'koa', url: urls[0] ?? '', secret };
  return {
    http: await startComparison('http', options),
    koa: () => measureLoad(target, options, target.url),
    checked: await startComparison('checked', options),
    koaAtRate: () => measureAtRate(target, steadyRate, options),
  };
}

async function startComparison(kind: string, options: LoadOptions, store = ''): Promise<Measure> {
  const environment = { COMPARISON_SECRET: secret, COMPARISON_STORE: store };
  const { urls } = await startServer([servers, kind], { environment });
  const target = { name: kind, url: urls[0] ?? '', secret };
  return () => measureLoad(target, options, target.url);
}

async function startHookmill(directory: string, options: CaseOptions) {
  const prepared = openFactory(join(directory, 'prepared'));
  prepared.write('webhooks/load.yaml', 'authMode: signature\nsignatureScheme: github\nsecretName: LOAD\n');
  await prepared.hookmillWith(secret, 'secrets', 'set', 'LOAD');
  const uid = (await prepared.apply()).get('load') ?? '';
  const copy = (name: string) => {
    cpSync(join(directory, 'prepared'), join(directory, name), { recursive: true });
    return openFactory(join(directory, name));
  };
  const [full, flooded] = [copy('full'), copy('flooded')];
  const fullFile = join(full.home, 'deliveries.db');
  await fillLog(fullFile, uid, options.rows);
  const accepting = await serve(prepared, uid);
  const other = await serve(full, uid);
  let rowsPerCommit = 1;
  return {
    hookmillAtRate: () => measureAtRate(accepting.target, steadyRate, options),
    hookmill: async () => {
      const sample = await measureLoad(accepting.target, options, accepting.metricsUrl);
      rowsPerCommit = sample.rowsPerCommit ?? rowsPerCommit;
      return sample;
    },
    full: async () => {
      // Under constant load, the file would stay in memory. Between two turns, the system may take it out.
      await once(createReadStream(fullFile, { highWaterMark: 2 ** 20 }).resume(), 'end');
      return measureLoad(other.target, options, other.metricsUrl);
    },
    disk: async () => {
      const bytes = Math.round(prepareRequests(accepting.target)().body.length * rowsPerCommit);
      const batches = appendToDisk(join(directory, 'appended'), bytes, options.seconds);
      return { perSecond: batches * rowsPerCommit, rowsPerCommit };
    },
    ...(await startFlooded(flooded, uid, options)),
  };
}

async function serve(factory: BenchFactory, uid: string, settings?: object) {
  const { ingressUrl, managementUrl } = await factory.serve(settings);
  const target: Target = { name: 'hookmill', url: `${ingressUrl}/webhooks/w/${uid}`, secret };
  return { target, metricsUrl: `${managementUrl}/metrics` };
}

/** Floods a daemon with the default limits. It takes the address of an attacker from a header. */
async function startFlooded(factory: BenchFactory, uid: string, options: LoadOptions) {
  const { target, metricsUrl } = await serve(factory, uid, { limits: {}, trustProxies: ['127.0.0.1'] });
  const flood = (more: Partial<Target>) => () =>
    measureLoad({ ...target, secret: 'wrong', ...more }, options, metricsUrl);
  return {
    unknown: flood({ url: target.url.replace(uid, `wh_${'0'.repeat(24)}`), statuses: [404] }),
    forged: flood({ statuses: [401], header: count => ['x-forwarded-for', addressOf(count)] }),
    refused: flood({ statuses: [401, 429] }),
  };
}

/** One of 16 million addresses. */
function addressOf(count: number): string {
  return `10.${(count >> 16) & 255}.${(count >> 8) & 255}.${count & 255}`;
}

async function startRedis(directory: string, options: LoadOptions): Promise<Measure> {
  mkdirSync(directory);
  const port = await findFreePort();
  const where = ['--bind', '127.0.0.1', '--port', String(port), '--dir', directory];
  const durable = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];
  const { pid } = await startProgram('redis-server', [...where, ...durable], port);
  const measure = await startComparison('redis', options, `redis://127.0.0.1:${port}`);
  return async () => {
    const sample = await measure();
    await waitForChildren(pid);
    return sample;
  };
}

async function startWebhook(directory: string, options: LoadOptions): Promise<Measure> {
  const parameter = { source: 'header', name: 'X-Hub-Signature-256' };
  const hook = {
    id: 'load',
    'execute-command': '/bin/true',
    'success-http-response-code': 202,
    'trigger-rule': { match: { type: 'payload-hmac-sha256', secret, parameter } },
  };
  const hooks = join(directory, 'hooks.json');
  writeFileSync(hooks, JSON.stringify([hook]));
  const port = await findFreePort();
  const where = ['-ip', '127.0.0.1', '-port', String(port)];
  const target = { name: 'webhook', url: `http://127.0.0.1:${port}/hooks/load`, secret };
  return async () => {
    const program = await startProgram('webhook', ['-hooks', hooks, ...where], port);
    const sample = await measureLoad(target, options);
    await program.stop();
    return sample;
  };
}
