import type { ListedWebhook } from '../api-types.ts';
import { Pill } from './pill.tsx';

export function WebhookStatePill({ webhook }: { readonly webhook: ListedWebhook }) {
  if (!webhook.enabled) return <Pill tone="quiet">Disabled</Pill>;
  if (webhook.credential === 'not set') return <Pill tone="warn">Needs a secret</Pill>;
  return <Pill tone="good">Enabled</Pill>;
}
