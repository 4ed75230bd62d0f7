import type { ListedWebhook, ShownHealth } from '../api-types.ts';
import { EnabledPill, Pill, type Tone } from './pills.tsx';

/** How each state looks. */
export const healthLooks: Readonly<
  Record<ShownHealth['state'], { readonly tone: Tone; readonly label: string }>
> = {
  healthy: { tone: 'good', label: 'Healthy' },
  quiet: { tone: 'warn', label: 'Quiet' },
  failing: { tone: 'bad', label: 'Failing' },
  'never seen': { tone: 'quiet', label: 'Never seen' },
};

/** The health of a webhook; the reason stands beside it if something may be wrong. */
export function HealthPill({ health }: { readonly health: ShownHealth }) {
  const { tone, label } = healthLooks[health.state];
  const isCalm = health.state === 'healthy' || health.state === 'never seen';
  return (
    <>
      <Pill tone={tone}>{label}</Pill>
      {!isCalm && <p class="t3">{health.reason}</p>}
    </>
  );
}

export function WebhookStatePill({ webhook }: { readonly webhook: ListedWebhook }) {
  if (webhook.enabled && webhook.credential === 'not set') return <Pill tone="warn">Needs a secret</Pill>;
  return <EnabledPill enabled={webhook.enabled} />;
}
