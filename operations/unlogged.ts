import type { z } from 'zod';
import type { unloggedAnswer } from '../schema/api/answers.ts';
import { hourMs } from '../schema/time-units.ts';
import type { UnloggedCount } from '../store/delivery-log.ts';
import { findWebhookFilter, type NamedFactory } from './list-rows.ts';

export type UnloggedView = z.output<typeof unloggedAnswer>;

/** Counts the requests of the last hour that were refused and have no row: of a webhook, or of all. */
export async function listUnlogged(
  factory: NamedFactory,
  webhook: string | undefined,
): Promise<UnloggedView> {
  const sinceMs = factory.now().getTime() - hourMs;
  const uid = webhook === undefined ? undefined : ((await findWebhookFilter(factory, webhook)).uid ?? '');
  const filter = { factory: factory.name, sinceMs, ...(uid !== undefined && { uid }) };
  const requests = await factory.store.deliveries.sumUnlogged(filter);
  return { since: new Date(sinceMs).toISOString(), requests: requests.map(unloggedView) };
}

export function unloggedView({ uid, reason, detail, count, lastAtMs }: UnloggedCount) {
  return { uid, reason, detail, count, lastAt: new Date(lastAtMs).toISOString() };
}
