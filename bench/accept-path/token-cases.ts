import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { openFactory } from '../support/factory.ts';
import { type LoadOptions, load, type Target } from '../support/load.ts';
import { measureAtRate, measureLoad } from './measure.ts';

/** Requests per second of an open loop. */
const steadyRate = 1_000;

/** Starts a daemon with a webhook for a secret token, and one for tokens of an issuer, which are signed with RS256. */
export async function startTokens(directory: string, options: LoadOptions) {
  const { issuer, sign } = await startIssuer();
  const factory = openFactory(directory);
  const secret = 'the-token-of-a-benchmark-0123456789';
  factory.write('webhooks/token.yaml', 'secretName: LOAD\n');
  const audience = 'https://hooks.example.com';
  const own = { authMode: 'oidc', issuer, audience, claims: { repository: ['acme/shop'] } };
  factory.write('webhooks/oidc.yaml', JSON.stringify(own));
  await factory.hookmillWith(secret, 'secrets', 'set', 'LOAD');
  const uids = await factory.apply();
  const { ingressUrl, managementUrl } = await factory.serve({ oidc: { issuers: [{ issuer }] } });
  const toTarget = (name: string, token: string): Target => {
    return { name, url: `${ingressUrl}/webhooks/w/${uids.get(name)}`, token };
  };
  const token = toTarget('token', secret);
  const oidc = toTarget('oidc', await sign(audience));
  await untilAccepted(oidc);
  const metricsUrl = `${managementUrl}/metrics`;
  return {
    token: () => measureLoad(token, options, metricsUrl),
    oidc: () => measureLoad(oidc, options, metricsUrl),
    tokenAtRate: () => measureAtRate(token, steadyRate, options),
    oidcAtRate: () => measureAtRate(oidc, steadyRate, options),
  };
}

/** The keys are fetched while the first deliveries are refused. */
async function untilAccepted(target: Target): Promise<void> {
  const { requests } = await load({ ...target, statuses: [202, 503] }, { seconds: 1, connections: 1 });
  if (requests.total === 0) return untilAccepted(target);
}

/** Starts an issuer in this process, which is asked for its keys once. */
async function startIssuer() {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'bench', alg: 'RS256', use: 'sig' }];
  const server = createServer(({ url }, response) => {
    response.end(JSON.stringify(url === '/keys' ? { keys } : { issuer, jwks_uri: `${issuer}/keys` }));
  });
  await once(server.listen(0, '127.0.0.1').unref(), 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // As long as a token of GitHub Actions, which has about 30 claims.
  const claims = { repository: 'acme/shop', others: 'x'.repeat(1_000) };
  const sign = (audience: string) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: 'bench', typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject('repo:acme/shop')
      .setExpirationTime('1d')
      .sign(privateKey);
  return { issuer, sign };
}
