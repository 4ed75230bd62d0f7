import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { expect, onTestFinished, test, vi } from 'vitest';
import { eventually } from '../../../support/eventually.ts';
import { serveOidcWebhook } from '../../../support/oidc-webhook.ts';

/** Starts a real provider, which issues tokens to a client for the resource that it names. Returns its issuer. */
async function startRealProvider(): Promise<string> {
  for (const level of ['info', 'warn'] as const) vi.spyOn(console, level).mockReturnValue(undefined);
  onTestFinished(() => void vi.restoreAllMocks());
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = { client_id: 'build', client_secret: 'a-client-secret-for-tests' };
  const provider = new Provider(issuer, {
    clients: [{ ...client, grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ scope: '', accessTokenFormat: 'jwt' }),
      },
    },
    extraTokenClaims: () => ({ repository: 'acme/shop' }),
    cookies: { keys: ['for tests'] },
  });
  server.on('request', provider.callback());
  return issuer;
}

async function requestToken(issuer: string, resource: string): Promise<string> {
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('build:a-client-secret-for-tests')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource }),
  });
  const { access_token } = (await response.json()) as { access_token: string };
  return access_token;
}

test('accepts a token that a real provider issued for the URL of the webhook, and no other one of it', async () => {
  const issuer = await startRealProvider();
  const hook = await serveOidcWebhook({ issuer, settings: { oidc: { issuers: [{ issuer }] } } });
  onTestFinished(() => hook.daemon.stop());
  const token = await requestToken(issuer, hook.url);
  await eventually(async () => (await hook.post(token)).status === 202);
  const other = await requestToken(issuer, 'https://other.example.com/');
  expect((await hook.post(other)).status).toBe(401);
  await eventually(async () =>
    (await hook.lastReason()).startsWith("the token's audience is https://other.example.com/, not http://"),
  );
  await hook.apply({ claims: { client_id: ['deploy'] } });
  await eventually(async () => (await hook.post(token)).status === 401);
  await eventually(async () =>
    (await hook.lastReason()).startsWith('the claim client_id is build, not deploy'),
  );
});
