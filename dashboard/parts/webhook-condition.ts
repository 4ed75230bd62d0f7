import type { ListedWebhook, ShownHealth } from '../api-types.ts';
import type { SignName } from '../text/looks.ts';

/** How a webhook does, in one word, the worst first. */
export const conditions = ['failing', 'quiet', 'healthy', 'waiting', 'disabled'] as const;

export type WebhookCondition = (typeof conditions)[number];

export const conditionLooks: Readonly<
  Record<
    WebhookCondition,
    { readonly word: string; readonly sign: SignName; readonly tone: 'bad' | 'warn' | '' }
  >
> = {
  failing: { word: 'Failing', sign: 'failed', tone: 'bad' },
  quiet: { word: 'Quiet', sign: 'quiet', tone: 'warn' },
  healthy: { word: 'Healthy', sign: 'done', tone: '' },
  waiting: { word: 'Waiting', sign: 'waiting', tone: '' },
  disabled: { word: 'Disabled', sign: 'disabled', tone: '' },
};

/** Only an enabled webhook has a health. Without its secret, it waits for that. */
export function conditionOf(
  { enabled }: Pick<ListedWebhook, 'enabled'>,
  health: Pick<ShownHealth, 'state'> | null | undefined,
): WebhookCondition {
  if (!enabled) return 'disabled';
  if (!health || health.state === 'never seen') return 'waiting';
  return health.state;
}
