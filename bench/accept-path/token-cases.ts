import { startTokenIssuer } from '../../test/support/token-issuer.ts';
import { atEnd, openFactory } from '../support/factory.ts';
import { post, prepareRequests } from '../support/load.ts';
import { until } from '../support/timing.ts';
import type { Measures } from './measure.ts';

/** Starts a daemon with a webhook for a secret token, and one for tokens of an issuer, which are signed with RS256. */
export async function startTokens(directory: string, { load, atRate }: Measures) {
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
