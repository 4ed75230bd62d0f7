import type { HealthView } from '../../operations/health/show-health.ts';
import type { Backend } from './backend.ts';

export type WebhookHealth = NonNullable<HealthView['webhooks'][number]['health']>;

/** The health of the enabled webhooks, or only of one, by UID. Empty while the log cannot be read: everything else is still shown. */
export async function readHealth(
  backend: Pick<Backend, 'showHealth'>,
  uid?: string,
): Promise<ReadonlyMap<string, WebhookHealth>> {
  const { webhooks } = await backend
    .showHealth(uid)
    .catch((): Pick<HealthView, 'webhooks'> => ({ webhooks: [] }));
  return new Map(webhooks.flatMap(({ uid, health }) => (health ? [[uid, health]] : [])));
}
