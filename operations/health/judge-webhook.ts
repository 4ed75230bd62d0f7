import { findDeliveryKind, requestOutcomes } from '../../schema/delivery.ts';
import type { DeliveryLogReader } from '../../store/ports/delivery-log.ts';
import { type Health, type HealthHistory, judgeHealth } from './judge-health.ts';

const rejections = requestOutcomes.filter(outcome => findDeliveryKind(outcome) === 'rejected');

/**
 * Judges a webhook by its past. A failing one fails since the first delivery that was rejected after the last good one,
 * which tallies do not tell: it is looked up in the log, unless it is known from before.
 */
export async function judgeWebhookHealth(
  deliveries: Pick<DeliveryLogReader, 'searchDeliveries'>,
  webhook: { readonly factory: string; readonly uid: string },
  history: HealthHistory,
): Promise<Health> {
  const health = judgeHealth(history);
  const { known } = history;
  const { state, sinceMs } = health;
  if (state !== 'failing' || sinceMs === null) return health;
  if (known?.state === 'failing' && known.sinceMs !== null && known.sinceMs > sinceMs)
    return { ...health, sinceMs: known.sinceMs };
  const { factory, uid } = webhook;
  const asked = { factory, uid, outcome: rejections, sinceMs, after: '', limit: 1 };
  const [first] = (await deliveries.searchDeliveries(asked)).rows;
  return { ...health, sinceMs: first?.atMs ?? sinceMs };
}
