import type { ListedScheme, ListedWebhook } from '../api-types.ts';

export const authModeLabels: Readonly<Record<ListedWebhook['authMode'], string>> = {
  token: 'Bearer token',
  url_token: 'URL token',
  signature: 'Signature',
  oidc: 'OpenID Connect token',
};

export function getSchemeLabel(
  scheme: ListedWebhook['signatureScheme'],
  schemes: readonly ListedScheme[] | undefined,
): string | undefined {
  if (scheme === null) return undefined;
  if (typeof scheme === 'object') return 'Custom HMAC';
  return schemes?.find(({ id }) => id === scheme)?.provider ?? scheme;
}
