import type { ListedScheme, ListedWebhook } from '../api-types.ts';

const authModeLabels: Readonly<Record<ListedWebhook['authMode'], string>> = {
  token: 'Bearer token',
  url_token: 'Token in the URL',
  signature: 'Signature',
  oidc: 'OpenID Connect token',
};

function getSchemeLabel(
  scheme: ListedWebhook['signatureScheme'],
  schemes: readonly ListedScheme[] | undefined,
): string | undefined {
  if (scheme === null) return undefined;
  if (typeof scheme === 'object') return 'Custom HMAC';
  return schemes?.find(({ id }) => id === scheme)?.provider ?? scheme;
}

type Sender = Pick<ListedWebhook, 'authMode' | 'signatureScheme'>;

/** Who delivers: `Stripe`; of a sender without a scheme, how it authenticates: `Bearer token`. */
export function getSenderName(
  { authMode, signatureScheme }: Sender,
  schemes: readonly ListedScheme[] | undefined,
): string {
  const label = getSchemeLabel(signatureScheme, schemes);
  return authMode === 'signature' && label !== undefined ? splitProvider(label)[0] : authModeLabels[authMode];
}

/** The same, and how a provider signs: `Stripe, signature`, `GitLab, secret token`. */
export function getSenderLine(sender: Sender, schemes: readonly ListedScheme[] | undefined): string {
  const name = getSenderName(sender, schemes);
  if (sender.authMode !== 'signature') return name;
  return `${name}, ${splitProvider(getSchemeLabel(sender.signatureScheme, schemes) ?? '')[1] ?? 'signature'}`;
}

/** Splits the name of a provider from what tells two schemes of it apart: `GitLab (secret token)`. */
export function splitProvider(label: string): readonly [provider: string, kind: string | undefined] {
  const [, provider, kind] = /^(.+?) \((.+)\)$/.exec(label) ?? [];
  return provider === undefined ? [label, undefined] : [provider, kind];
}
