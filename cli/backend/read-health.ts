import type { HealthView } from '../../operations/health/show-health.ts';
import type { Backend } from './backend.ts';

export type WebhookHealth = NonNullable<HealthView['webhooks'][number]['health']>;

/**
 * Reads the health of the enabled webhooks, or of the one with this UID, by UID. Empty if the log cannot be read, so
 * that everything else is still shown.
 */
export async function readHealth(
  backend: Pick<Backend, 'call'>,
  uid?: string,
): Promise<ReadonlyMap<string, WebhookHealth>> {
  const { webhooks } = await backend
    .call('showHealth', { query: { webhook: uid } })
    .catch((): Pick<HealthView, 'webhooks'> => ({ webhooks: [] }));
  return new Map(webhooks.flatMap(({ uid, health }) => (health ? [[uid, health]] : [])));
}
