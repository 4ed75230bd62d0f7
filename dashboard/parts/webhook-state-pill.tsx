import type { ListedWebhook } from '../api-types.ts';
import { EnabledPill } from './enabled-pill.tsx';
import { Pill } from './pill.tsx';

export function WebhookStatePill({ webhook }: { readonly webhook: ListedWebhook }) {
  if (webhook.enabled && webhook.credential === 'not set') return <Pill tone="warn">Needs a secret</Pill>;
  return <EnabledPill enabled={webhook.enabled} />;
}
