import type { z } from 'zod';
import type { healthOverviewAnswer } from '../../schema/api/answers.ts';
import type { AppliedState } from '../../schema/applied-state.ts';
import { type HealthState, healthStates } from '../../schema/health.ts';
import type { DeliveryLogReader } from '../../store/ports/delivery-log.ts';
import type { StoredHealth } from '../../store/ports/tallies.ts';
import { readWebhookHealth } from './show-health.ts';

/** @limit Quiet or failing webhooks that are listed for all factories together: each is judged again, which takes a millisecond or two. */
const unhealthyShownMax = 50;

type Overview = z.output<typeof healthOverviewAnswer>;

interface OverviewDeps {
  readonly store: {
    readonly deliveries: Pick<DeliveryLogReader, 'countHealth' | 'readHistory' | 'searchDeliveries'>;
  };
  readonly readState: (factory: string) => Promise<AppliedState>;
  readonly now: () => Date;
}

/**
 * Counts the webhooks of each factory by the health that was last judged, and lists those that may be unhealthy: of
 * these factories, or of all.
 */
export async function showHealthOverview(
  deps: OverviewDeps,
  factories: readonly string[] | undefined,
): Promise<Overview> {
  const { deliveries } = deps.store;
  const found = await Promise.all((factories ?? [undefined]).map(factory => deliveries.countHealth(factory)));
  const counts = found.flatMap(({ counts }) => counts);
  const unhealthy = found.flatMap(({ unhealthy }) => unhealthy);
  const byFactory = Map.groupBy(counts, count => count.factory);
  const shown: Overview['unhealthy'] = [];
  for (const webhook of unhealthy.slice(0, unhealthyShownMax)) {
    const judged = await judgeAgain(deps, webhook);
    if (judged) shown.push(judged);
  }
  return {
    factories: [...byFactory].map(([factory, counts]) => ({
      factory,
      counts: counts.map(({ state, webhooks }) => ({ state: toState(state), webhooks })),
    })),
    unhealthy: shown,
    hasMore: unhealthy.length > unhealthyShownMax,
  };
}

/** Judges a webhook again. Returns undefined if it is healthy, disabled or gone by now. */
async function judgeAgain(
  { store, readState, now }: OverviewDeps,
  { factory, uid }: StoredHealth,
): Promise<Overview['unhealthy'][number] | undefined> {
  const state = await readState(factory).catch(() => undefined);
  const webhook = state?.webhooks.find(applied => applied.uid === uid);
  if (!webhook?.enabled) return undefined;
  const nowMs = now().getTime();
  const health = await readWebhookHealth(store.deliveries, factory, webhook, nowMs);
  if (health.state === 'healthy' || health.state === 'never seen') return undefined;
  return { factory, name: webhook.name, uid, health };
}

/** Reads a stored state. One that only a newer release knows needs no attention here. */
function toState(stored: string): HealthState {
  return healthStates.find(state => state === stored) ?? 'healthy';
}
