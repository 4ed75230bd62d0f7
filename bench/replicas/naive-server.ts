// A server to compare the ingress with, as many are written: it checks the token, parses the body, and inserts one row for
// each request through a pool of 20 connections. NAIVE_STORE is the URL of the database, NAIVE_TOKEN the token.
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import pg from 'pg';
import getRawBody from 'raw-body';

const { NAIVE_STORE, NAIVE_TOKEN = '' } = process.env;
const pool = new pg.Pool({ connectionString: NAIVE_STORE, max: 20 });
await pool.query(
  'CREATE TABLE deliveries (id uuid PRIMARY KEY, identity text UNIQUE, at timestamptz, payload bytea)',
);

const digest = (text: string) => createHash('sha256').update(text).digest();
const expected = digest(`Bearer ${NAIVE_TOKEN}`);
const text = 'INSERT INTO deliveries VALUES ($1, $2, now(), $3) ON CONFLICT DO NOTHING';

const app = new Koa();
app.use(async context => {
  if (!timingSafeEqual(digest(context.get('authorization')), expected)) {
    context.status = 401;
    return;
  }
  const payload = await getRawBody(context.req, { limit: 262_144, length: context.request.length });
  JSON.parse(payload.toString());
  const id = randomUUID();
  const identity = createHash('sha256').update(payload).digest('base64');
  await pool.query({ name: 'insert', text, values: [id, identity, payload] });
  context.status = 202;
  context.body = { delivery_id: id };
});
const server = app.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
