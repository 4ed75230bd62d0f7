import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { startIssuerKeys } from '../../../../daemon/issuers/issuer-keys.ts';
import { eventually } from '../../../support/eventually.ts';
import { connectTo, head, read } from '../../../support/http.ts';
import { type OidcWebhook, serveOidcWebhook } from '../../../support/oidc-webhook.ts';
import { startTokenIssuer, type TokenIssuer } from '../../../support/token-issuer.ts';

interface Started {
  readonly issuer: TokenIssuer;
  readonly hook: OidcWebhook;
  /** Sends a token that is right, signed by the key of the issuer, and returns the status. */
  status(): Promise<number>;
  metric(): Promise<string | undefined>;
}

async function start(given: { readonly fault?: TokenIssuer['fault']; readonly settings?: object } = {}) {
  const issuer = await startTokenIssuer();
  issuer.fault = given.fault;
  return startWith(issuer, await serveOidcWebhook(issuer, given.settings));
}

function startWith(issuer: TokenIssuer, hook: OidcWebhook): Started {
  onTestFinished(() => hook.daemon.stop());
  return {
    ...{ issuer, hook },
    status: async () => (await hook.post(await issuer.sign({ aud: hook.url }))).status,
    metric: async () => {
      const text = await read(`${hook.daemon.managementUrl}/metrics`);
      return text.split('\n').find(line => line.startsWith('hookmill_issuer_failing{'));
    },
  };
}

const failing = (issuer: TokenIssuer, value: number) =>
  `hookmill_issuer_failing{issuer="${issuer.issuer}"} ${value}`;

test('fetches the keys before the first delivery, and once for all of them', async () => {
  const { issuer, hook, status, metric } = await start();
  await eventually(() => issuer.asked.includes('/keys'));
  await eventually(async () => (await status()) === 202);
  for (let count = 0; count < 5; count++) expect(await status()).toBe(202);
  expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/keys']);
  expect(await metric()).toBe(failing(issuer, 0));
  // Again after an hour.
  hook.daemon.clock.monotonicMs += 60 * 60_000;
  expect(issuer.asked).toHaveLength(2);
});

test('takes a key that is new: 503 until it was fetched, then 202, and the old key as long as the issuer shows it', async () => {
  const { issuer, hook, status } = await start();
  await eventually(async () => (await status()) === 202);
  const old = await issuer.sign({ aud: hook.url });
  await issuer.rotate('both');
  hook.daemon.clock.monotonicMs += 31_000;
  const answer = await hook.post(await issuer.sign({ aud: hook.url }));
  expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '10' } });
  await eventually(async () => (await status()) === 202);
  expect(await hook.post(old)).toMatchObject({ status: 202 });
  await issuer.rotate('new');
  hook.daemon.clock.monotonicMs += 31_000;
  await eventually(async () => (await status()) === 202);
  await eventually(async () => (await hook.post(old)).status === 401);
});

test('asks the issuer only once in half a minute for keys that it does not have', async () => {
  const { issuer, hook, status } = await start();
  await eventually(async () => (await status()) === 202);
  hook.daemon.clock.monotonicMs += 31_000;
  const unknown = await issuer.sign({ aud: hook.url }, { kid: 'unknown' });
  await eventually(async () => (await hook.post(unknown)).status === 401);
  const reason = /^the token names a key that http.* does not have\n/;
  await eventually(async () => reason.test(await hook.lastReason()));
  const asked = issuer.asked.length;
  for (const kid of ['a', 'b', 'c']) {
    const token = await issuer.sign({ aud: hook.url }, { kid });
    expect((await hook.post(token)).status).toBe(401);
  }
  expect(issuer.asked).toHaveLength(asked);
});

test('goes on with the last keys while the issuer is down, also after a restart', async () => {
  const { issuer, hook, status, metric } = await start();
  await eventually(async () => (await status()) === 202);
  await issuer.stop();
  hook.daemon.clock.monotonicMs += 31_000;
  // A key that may be new is not refused, because nobody can know.
  const unknown = await issuer.sign({ aud: hook.url }, { kid: 'unknown' });
  expect((await hook.post(unknown)).status).toBe(503);
  await eventually(async () => (await metric()) === failing(issuer, 1));
  expect((await hook.post(unknown)).status).toBe(503);
  expect(await status()).toBe(202);
  await hook.daemon.stop();
  const again = startWith(issuer, await serveOidcWebhook(issuer, {}, hook.home));
  expect(await again.status()).toBe(202);
  await eventually(async () => (await again.metric()) === failing(issuer, 1));
  expect(await again.status()).toBe(202);
}, 60_000);

const faults: readonly [string, TokenIssuer['fault'], RegExp][] = [
  ['garbage', (_, response) => response.end('<html>'), /its answer is not JSON/],
  ['an error', (_, response) => response.writeHead(500).end(), /it answered 500/],
  [
    'a redirect',
    (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    /it answered 302; redirects are not followed/,
  ],
  ['10 MB', (_, response) => response.end(Buffer.alloc(10_000_000, '[')), /more than 262144 bytes/],
  ['nothing, ever', () => undefined, /did not answer within 5 s/],
  [
    'the metadata of another issuer',
    (_, response) =>
      response.end('{"issuer":"https://other.example.com","jwks_uri":"https://other.example.com/"}'),
    /it belongs to another issuer/,
  ],
  [
    'no jwks_uri',
    ({ headers }, response) => response.end(`{"issuer":"http://${headers.host}"}`),
    /names no issuer or no jwks_uri/,
  ],
  [
    'only a symmetric key',
    ({ url, headers }, response) =>
      response.end(
        url === '/keys'
          ? '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}'
          : `{"issuer":"http://${headers.host}","jwks_uri":"http://${headers.host}/keys"}`,
      ),
    /no public key for signatures/,
  ],
];

test('answers 503 while an issuer answers with something else, and says why', async () => {
  const { issuer, hook, status, metric } = await start({ fault: faults[0]?.[1] });
  for (const [what, fault, reason] of faults) {
    issuer.fault = fault;
    hook.daemon.clock.monotonicMs += 60 * 60_000;
    expect(await status(), what).toBe(503);
    await eventually(async () => reason.test((await hook.why())[1] ?? ''));
    expect(await metric()).toBe(failing(issuer, 1));
  }
  // Only the first failure of a row is logged.
  expect(hook.daemon.logged()).toMatch(faults[0]?.[2] ?? '');
  issuer.fault = undefined;
  hook.daemon.clock.monotonicMs += 60 * 60_000;
  await eventually(async () => (await status()) === 202);
}, 60_000);

test('asks no issuer with a private address or without https that the settings do not list', async () => {
  const { issuer, hook, status } = await start({ settings: { oidc: {} } });
  expect(await status()).toBe(503);
  await eventually(() =>
    /has no https; the operator can list the issuer in oidc\.issuers/.test(hook.daemon.logged()),
  );
  expect(issuer.asked).toEqual([]);
  for (const host of [
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '[::1]',
    '[fd00::1]',
    '[::ffff:192.168.1.1]',
    'localhost',
  ]) {
    await hook.apply({ issuer: `https://${host}:1` });
    const hostname = host.replace(/^\[|\]$/g, '');
    const refused = `https://${host}:1/.well-known/openid-configuration: ${hostname} has an address that is not public`;
    const shown = host === '[::ffff:192.168.1.1]' ? '::ffff:c0a8:101 has an address' : refused;
    await eventually(
      () =>
        hook.daemon.logged().includes(shown) ||
        hook.daemon.logged().includes(`${hostname} has an address that is not public`),
    );
  }
  expect(issuer.asked).toEqual([]);
}, 60_000);

test('does not let attempts that are verified together exceed the budget of failures', async () => {
  const { hook, issuer, status } = await start({
    settings: {
      limits: { deliveriesPerMinute: 1_000, failedAuthPerMinute: 5, failedAuthPerMinuteTotal: 1_000 },
    },
  });
  await eventually(async () => (await status()) === 202);
  const forged = `${(await issuer.sign({ aud: hook.url })).split('.', 2).join('.')}.${'A'.repeat(342)}`;
  const connections = await Promise.all(Array.from({ length: 40 }, () => connectTo(hook.url)));
  const lines = [`Authorization: Bearer ${forged}`, 'Content-Length: 2', 'Connection: close'];
  for (const { write } of connections) write(`${head(hook.url, lines)}{}`);
  const answers = await Promise.all(connections.map(({ closed }) => closed));
  const statuses = answers.map(answer => answer.slice(9, 12)).sort();
  expect(statuses).toEqual([...Array(5).fill('401'), ...Array(35).fill('429')]);
});

test('fetches the keys of a factory while the issuers of another do not answer', async () => {
  const asked = new Map<string, ServerResponse>();
  const server = createServer(({ url = '' }, response) => asked.set(url, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const toIssuers = (names: readonly string[]) => names.map(name => `${base}/${name}`);
  const silent = ['silent-1', 'silent-2', 'silent-3', 'silent-4', 'silent-5', 'silent-6'];
  const trusted = toIssuers([...silent, 'good', 'better']).map(issuer => ({ issuer, keysUrl: issuer }));
  const keys = await startIssuerKeys({
    trusted,
    stored: { read: async () => ({ formatVersion: 1, issuers: [] }), keep: async () => undefined },
    log: pino({ enabled: false }),
    nowMs: Date.now,
    monotonicMs: () => performance.now(),
  });
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await keys.stop();
  });
  keys.follow('greedy', toIssuers(silent));
  await eventually(() => asked.size === 4);
  keys.follow('modest', toIssuers(['good', 'better']));
  await eventually(() => asked.has('/good'));
  asked.get('/good')?.end('{}');
  await eventually(() => asked.has('/better'));
  expect([...asked.keys()].sort()).toEqual([
    '/better',
    '/good',
    ...silent.slice(0, 4).map(name => `/${name}`),
  ]);
});
