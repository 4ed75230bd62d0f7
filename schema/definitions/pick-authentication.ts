import type { WebhookKeys } from './webhook-definition.ts';

type AuthenticationKey = 'authMode' | 'signatureScheme' | 'secretName' | 'issuer' | 'audience' | 'claims';

/** Picks the keys of a webhook that say how its senders authenticate. */
export function pickAuthentication(webhook: Pick<WebhookKeys, AuthenticationKey>) {
  const { authMode, signatureScheme, secretName, issuer, audience, claims } = webhook;
  return { authMode, signatureScheme, secretName, issuer, audience, claims };
}
