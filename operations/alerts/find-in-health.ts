import { isWebhookAlert } from '../../schema/alerts.ts';
import type { AlertState } from '../../store/alerts.ts';
import type { FoundHealth } from '../health/look-at-webhooks.ts';
import type { Finding } from './follow-episodes.ts';

/** @limit Webhooks that each pass judges because an alert is open for them. */
const watchedMax = 100;

/** Turns the health of a webhook into findings for its alerts. */
export function findInHealth({ factory, uid: subject, name, health }: FoundHealth): Finding[] {
  const find = (type: Finding['type'], state: string): Finding => {
    const isSo = health?.state === state && health.sinceMs !== null;
    const problem = isSo ? { reason: `${name}: ${health.reason}`, sinceMs: health.sinceMs } : null;
    return { type, factory, subject, name, problem };
  };
  return [find('webhook.quiet', 'quiet'), find('webhook.failing', 'failing')];
}

/** The webhooks that an alert is open for. */
export function listWatched({ episodes }: AlertState) {
  return episodes
    .filter(({ type }) => isWebhookAlert(type))
    .slice(0, watchedMax)
    .map(({ factory, subject: uid }) => ({ factory, uid }));
}
