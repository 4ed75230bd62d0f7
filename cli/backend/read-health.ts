import type { HealthView } from '../../operations/health/show-health.ts';
import type { Backend } from './backend.ts';

export type WebhookHealth = NonNullable<HealthView['webhooks'][number]['health']>;

/** The health of the enabled webhooks by their UIDs. Empty while the log cannot be read: everything else is still shown. */
export async function readHealth(
  backend: Pick<Backend, 'showHealth'>,
): Promise<ReadonlyMap<string, WebhookHealth>> {
  const { webhooks } = await backend
    .showHealth()
    .catch((): Pick<HealthView, 'webhooks'> => ({ webhooks: [] }));
  return new Map(webhooks.flatMap(({ uid, health }) => (health ? [[uid, health]] : [])));
}
