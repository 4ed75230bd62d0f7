import type { WebhookView } from '../../operations/views/applied-views.ts';

/** The auth mode of a webhook, with its signature scheme if it has one. */
export function renderAuthMode({
  authMode,
  signatureScheme,
}: Pick<WebhookView, 'authMode' | 'signatureScheme'>): string {
  if (signatureScheme === null) return authMode;
  return `${authMode} (${typeof signatureScheme === 'string' ? signatureScheme : 'custom HMAC'})`;
}
