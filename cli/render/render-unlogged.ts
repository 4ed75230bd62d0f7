import type { WebhookView } from '../../operations/views/applied-views.ts';
import { describeUnlogged } from '../../schema/clients/describe.ts';

/** Renders one line about the requests of the last hour that have no row in the log; an empty text if there are none. */
export function renderUnlogged(requests: Parameters<typeof describeUnlogged>[0]): string {
  const texts = describeUnlogged(requests, at =>
    at.slice('2026-01-01T'.length, '2026-01-01T00:00:00'.length),
  );
  return texts.length === 0 ? '' : `Refused and not logged in the last hour: ${texts.join(', ')}\n`;
}

/** The auth mode of a webhook, with its signature scheme if it has one. */
export function renderAuthMode({
  authMode,
  signatureScheme,
}: Pick<WebhookView, 'authMode' | 'signatureScheme'>): string {
  if (signatureScheme === null) return authMode;
  return `${authMode} (${typeof signatureScheme === 'string' ? signatureScheme : 'custom HMAC'})`;
}
