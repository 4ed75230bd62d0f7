/** The ports of `hookmill serve`, unless settings choose others. */
export const defaultPorts = { ingress: 8080, management: 8081 } as const;

/** The ways in which a sender proves that it may deliver to a webhook. */
export const authModes = ['token', 'url_token', 'signature', 'oidc'] as const;

export type AuthMode = (typeof authModes)[number];

declare const own: unique symbol;

/**
 * A base URL that the operator chose. The base URL in a checkout's `hookmill.yaml` is only printed: with it, whoever committed
 * the file could have credentials and events sent to a server of theirs.
 */
export type OwnBaseUrl = string & { readonly [own]: 'base' };

/** An ingress URL below an own base URL. */
export type OwnIngressUrl = string & { readonly [own]: 'ingress' };

/** Takes a base URL from the settings, the environment or the address of the daemon, and removes slashes at its end. */
export function toOwnBaseUrl(url: string): OwnBaseUrl {
  return trimUrl(url) as OwnBaseUrl;
}

export function trimUrl(url: string): string {
  return url.replace(/\/+$/, '');
}

interface Addressed {
  readonly uid: string;
  readonly authMode: AuthMode;
}

/** The URL that senders post to. `{token}` stands for the secret, which is never shown again. */
export function renderIngressUrl(baseUrl: OwnBaseUrl, webhook: Addressed): OwnIngressUrl;
export function renderIngressUrl(baseUrl: string, webhook: Addressed): string;
export function renderIngressUrl(baseUrl: string, { uid, authMode }: Addressed): string {
  return `${baseUrl}/webhooks/w/${uid}${authMode === 'url_token' ? '/{token}' : ''}`;
}
