import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sign as signAsGitHub } from '@octokit/webhooks-methods';
import { expect, test } from 'vitest';
import { bearerOf, startDaemonForTest } from '../../support/daemon.ts';
import { connectTo, head, send } from '../../support/http.ts';

test('on SIGTERM, finishes open requests, accepts no new ones, and exits 0', async () => {
  const daemon = await startDaemonForTest();
  const webhook = await daemon.webhook();
  const underWay = await connectTo(webhook.url);
  underWay.write(head(webhook.url, [`Authorization: Bearer ${webhook.secret}`, 'Content-Length: 4']));
  underWay.write('"a');
  const answered = await webhook.post('1');
  const stopped = daemon.stop('SIGTERM');
  await expect
    .poll(() =>
      send(daemon.ingressUrl).then(
        () => 'answers',
        error => error.code,
      ),
    )
    .toBe('ECONNREFUSED');
  expect(await daemon.readyz()).toMatchObject({ status: 'not ready', reason: 'the daemon is stopping' });

  underWay.write('b"');
  const received = await underWay.closed;
  expect(received).toMatch(/^HTTP\/1\.1 202 /);
  expect(received).toMatch(/\r\nConnection: close\r\n/);
  expect(await stopped, daemon.stderr()).toBe(0);
  expect((await webhook.rows()).map(({ id }) => id)).toEqual([
    /dlv_\w+/.exec(received)?.[0],
    answered.deliveryId,
  ]);
  expect(daemon.stderr()).toContain('"msg":"stopped"');
});

test('on SIGINT, stops though connections are idle and a body is stuck', async () => {
  // Only the stop can end the body: it may take its time.
  const daemon = await startDaemonForTest({ settings: { limits: { requestSeconds: 600 } } });
  const webhook = await daemon.webhook();
  const idle = await connectTo(webhook.url);
  idle.write(`${head(webhook.url, [`Authorization: Bearer ${webhook.secret}`, 'Content-Length: 1'])}1`);
  await idle.receives(/202/);
  const stuck = await connectTo(webhook.url);
  stuck.write(head(webhook.url, [`Authorization: Bearer ${webhook.secret}`, 'Content-Length: 4']));
  expect(await daemon.stop('SIGINT')).toBe(0);
  expect(await stuck.closed).not.toContain('202');
});

test('leaves no secret in anything it writes or answers', async () => {
  const secrets = {
    token: 'canary-bearer-5f1c2d9e',
    url_token: 'canary-in-the-url-7b3a',
    signature: 'canary-signing-key-91e4',
  };
  const daemon = await startDaemonForTest({ settings: { logLevel: 'trace', limits: { bodyBytes: 1_000 } } });
  const shown: unknown[] = [];
  for (const [authMode, secret] of Object.entries(secrets)) {
    const scheme = authMode === 'signature' ? { signatureScheme: 'github' } : {};
    const webhook = await daemon.webhook({ authMode, secret, ...scheme });
    for (const body of ['{"a":1}', '{"a":1}', 'not json', 'x'.repeat(2_000)]) {
      const signature = { 'X-Hub-Signature-256': await signAsGitHub(secret, body) };
      shown.push(await webhook.post(body, authMode === 'signature' ? { headers: signature } : {}));
      shown.push(await webhook.post(body, { headers: bearerOf(`${secret}-wrong`) }));
      shown.push(await webhook.post(body, { headers: bearerOf(`${secret}-wrong`), method: 'PUT' }));
    }
    await webhook.apply({ authMode, ...scheme, enabled: false });
    shown.push(await webhook.rows());
  }
  shown.push(await daemon.metrics(), await daemon.readyz());
  expect(await daemon.stop()).toBe(0);
  shown.push(daemon.stdout(), daemon.stderr());
  const files = readdirSync(daemon.workspace.home, { recursive: true, encoding: 'utf8' })
    .map(file => join(daemon.workspace.home, file))
    .filter(file => statSync(file).isFile())
    .map(file => readFileSync(file, 'latin1'));
  const all = [JSON.stringify(shown), ...files].join('\n');
  expect(all).toContain('"outcome":"Accepted"');
  for (const secret of Object.values(secrets)) {
    for (const encoding of ['utf8', 'base64url', 'hex'] as const) {
      expect(all).not.toContain(Buffer.from(secret).toString(encoding));
    }
  }
});
