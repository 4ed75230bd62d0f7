/** The ports of `hookmill serve`, unless settings choose others. */
export const defaultPorts = { ingress: 8080, management: 8081 } as const;

/** The ways in which a sender proves that it may deliver to a webhook. */
export const authModes = ['token', 'url_token', 'signature', 'oidc'] as const;

export type AuthMode = (typeof authModes)[number];

/** The URL that senders post to. `{token}` stands for the secret, which is never shown again. */
export function renderIngressUrl(
  baseUrl: string,
  { uid, authMode }: { readonly uid: string; readonly authMode: AuthMode },
): string {
  return `${baseUrl}/webhooks/w/${uid}${authMode === 'url_token' ? '/{token}' : ''}`;
}
