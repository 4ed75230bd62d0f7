import type { AuthMode } from './auth-mode.ts';

/** The URL that senders post to. `{token}` stands for the secret, which is never shown again. */
export function renderIngressUrl(
  baseUrl: string,
  { uid, authMode }: { readonly uid: string; readonly authMode: AuthMode },
): string {
  return `${baseUrl}/webhooks/w/${uid}${authMode === 'url_token' ? '/{token}' : ''}`;
}
