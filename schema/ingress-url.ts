import type { AppliedWebhook } from './applied-state.ts';

/** Where a webhook's senders POST; `{token}` stands for the secret, which is never shown again. */
export function ingressUrl(
  baseUrl: string,
  { uid, authMode }: Pick<AppliedWebhook, 'uid' | 'authMode'>,
): string {
  return `${baseUrl}/webhooks/w/${uid}${authMode === 'url_token' ? '/{token}' : ''}`;
}
