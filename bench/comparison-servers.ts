// Servers to compare the ingress with, as many are written. Each reads the body and answers 202. `http` and `koa` do
// nothing else. The others check the signature and parse: `checked` stores nothing, `redis` and `postgres` store each
// delivery once before they answer. A GET is answered with the processor time that the process has used.
// Usage: node bench/comparison-servers.ts KIND, with COMPARISON_SECRET and COMPARISON_STORE (a URL) in the environment
import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import pg from 'pg';
import getRawBody from 'raw-body';
import { createClient } from 'redis';

const { COMPARISON_STORE = '', COMPARISON_SECRET = '' } = process.env;

/** Returns the ID to answer with, once the delivery is as durable as the store makes it. */
type Store = (payload: Buffer) => unknown;

const storeNothing: Store = () => 'dlv_00000000000000000000000000';

const kinds: Readonly<Record<string, () => Promise<RequestListener>>> = {
  http: async () => answerBare,
  koa: async () => serveKoa(() => true, storeNothing),
  checked: async () => serveKoa(check, storeNothing),
  redis: async () => serveKoa(check, await openRedis()),
  postgres: async () => serveKoa(check, await openPostgres()),
};

const listener = await kinds[process.argv[2] ?? 'koa']?.();
const server = createServer((request, response) => {
  if (request.method === 'POST') return listener?.(request, response);
  const { user, system } = process.cpuUsage();
  response.end(`process_cpu_seconds_total ${(user + system) / 1_000_000}\n`);
});
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

function answerBare(request: IncomingMessage, response: ServerResponse): void {
  const pieces: Buffer[] = [];
  request.on('data', piece => pieces.push(piece));
  request.on('end', () => {
    Buffer.concat(pieces);
    response.writeHead(202, { 'content-type': 'application/json' });
    response.end('{"delivery_id":"dlv_00000000000000000000000000"}');
  });
}

function serveKoa(isValid: typeof check, store: Store): RequestListener {
  const app = new Koa();
  app.use(async context => {
    const payload = await getRawBody(context.req, { limit: 262_144, length: context.request.length });
    if (!isValid(payload, context.get('x-hub-signature-256'))) {
      context.status = 401;
      return;
    }
    const id = await store(payload);
    context.status = 202;
    context.body = { delivery_id: id };
  });
  return app.callback();
}

function check(payload: Buffer, signature: string): boolean {
  const expected = `sha256=${createHmac('sha256', COMPARISON_SECRET).update(payload).digest('hex')}`;
  const isSigned =
    signature.length === expected.length && timingSafeEqual(Buffer.from(signature), Buffer.from(expected));
  if (isSigned) JSON.parse(payload.toString());
  return isSigned;
}

function identify(payload: Buffer): string {
  return createHash('sha256').update(payload).digest('base64');
}

async function openRedis(): Promise<Store> {
  // One script stores the identity and the payload: both or neither.
  const source = `
    if redis.call('SET', KEYS[1], ARGV[1], 'NX') then
      redis.call('XADD', KEYS[2], '*', 'id', ARGV[1], 'payload', ARGV[2])
      return ARGV[1]
    end
    return redis.call('GET', KEYS[1])`;
  const client = createClient({ url: COMPARISON_STORE });
  await client.connect();
  const script = await client.scriptLoad(source);
  return payload => {
    const keys = [`identity:${identify(payload)}`, 'deliveries'];
    return client.sendCommand(['EVALSHA', script, '2', ...keys, randomUUID(), payload]);
  };
}

async function openPostgres(): Promise<Store> {
  const pool = new pg.Pool({ connectionString: COMPARISON_STORE, max: 20 });
  // The database was stopped.
  pool.on('error', () => process.exit());
  await pool.query(
    'CREATE TABLE deliveries (id uuid PRIMARY KEY, identity text UNIQUE, at timestamptz, payload bytea)',
  );
  const text = 'INSERT INTO deliveries VALUES ($1, $2, now(), $3) ON CONFLICT DO NOTHING';
  return async payload => {
    const id = randomUUID();
    await pool.query({ name: 'insert', text, values: [id, identify(payload), payload] });
    return id;
  };
}
