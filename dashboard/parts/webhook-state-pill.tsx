import type { Webhook } from '../api-types.ts';
import { Pill } from './pill.tsx';

export function WebhookState({ webhook }: { readonly webhook: Webhook }) {
  if (!webhook.enabled) return <Pill tone="quiet">Disabled</Pill>;
  if (webhook.credential === 'not set') return <Pill tone="warn">Needs its secret</Pill>;
  return <Pill tone="good">Enabled</Pill>;
}
