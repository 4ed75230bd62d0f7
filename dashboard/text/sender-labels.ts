import type { ListedWebhook } from '../api-types.ts';

const authModeLabels: Readonly<Record<ListedWebhook['authMode'], string>> = {
  token: 'Bearer token',
  url_token: 'Token in the URL',
  signature: 'Signature',
  oidc: 'OpenID Connect token',
};

type Sender = Pick<ListedWebhook, 'authMode' | 'signatureScheme' | 'provider'>;

/** Who delivers: `Stripe`; of a sender without a scheme, how it authenticates: `Bearer token`. */
export function getSenderName(sender: Sender): string {
  return splitSender(sender)[0];
}

/** The same, and how a provider signs: `Stripe, signature`, `GitLab, secret token`. */
export function getSenderLine(sender: Sender): string {
  const [name, kind = 'signature'] = splitSender(sender);
  return sender.authMode === 'signature' ? `${name}, ${kind}` : name;
}

function splitSender({ authMode, signatureScheme, provider }: Sender): ReturnType<typeof splitProvider> {
  if (authMode !== 'signature' || signatureScheme === null) return [authModeLabels[authMode], undefined];
  // This daemon does not know a scheme that another version applied.
  const unknown = typeof signatureScheme === 'string' ? signatureScheme : 'Custom HMAC';
  return splitProvider(provider ?? unknown);
}

/** Splits the name of a provider from what tells two schemes of it apart: `GitLab (secret token)`. */
export function splitProvider(label: string): readonly [provider: string, kind: string | undefined] {
  const [, provider, kind] = /^(.+?) \((.+)\)$/.exec(label) ?? [];
  return provider === undefined ? [label, undefined] : [provider, kind];
}
