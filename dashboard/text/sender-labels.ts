import type { Scheme, Webhook } from '../api-types.ts';

export const modeWords: Readonly<Record<Webhook['authMode'], string>> = {
  token: 'Bearer token',
  url_token: 'URL token',
  signature: 'Signature',
};

/** Whose scheme it is, in words. */
export function schemeWords(
  scheme: Webhook['signatureScheme'],
  schemes: readonly Scheme[] | undefined,
): string | undefined {
  if (scheme === null) return undefined;
  if (typeof scheme === 'object') return 'Custom HMAC';
  return schemes?.find(({ id }) => id === scheme)?.provider ?? scheme;
}

/** Whether a secret for the sender can be made here. */
export function takesSecretOfOurs(
  webhook: Pick<Webhook, 'authMode' | 'signatureScheme'>,
  schemes: readonly Scheme[],
): boolean {
  const { authMode, signatureScheme } = webhook;
  if (authMode !== 'signature' || typeof signatureScheme === 'object') return true;
  if (signatureScheme === 'standard-webhooks') return true;
  return schemes.find(({ id }) => id === signatureScheme)?.secretCommand === 'generate';
}
