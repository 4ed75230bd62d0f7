import type { z } from 'zod';
import type { AppliedState, AppliedWebhook } from '../../schema/applied-state.ts';
import { listListeners } from '../../schema/definitions/judge-trigger.ts';
import { requestOutcomes } from '../../schema/delivery.ts';
import type { Permission } from '../../schema/grant.ts';
import { type HealthState, healthStates } from '../../schema/health.ts';
import { hourMs } from '../../schema/time-units.ts';
import type { healthAnswer, healthOverviewAnswer } from '../../schema/views/health.ts';
import type { DeliveryLogReader, LoggedDelivery } from '../../store/ports/delivery-log.ts';
import { countOf, type StoredHealth, type TalliedHistory, type Tally } from '../../store/ports/tallies.ts';
import type { OpenFactory } from '../factory.ts';
import { findRepeatedId } from '../impact/find-repeated-id.ts';
import { openHistory } from '../impact/history.ts';
import { readTitles } from '../log/titles.ts';
import { pauseView } from '../views/delivery-views.ts';
import { findFirstJudgedHour, judgeWebhookHealth } from './judge-health.ts';
import { type Overlap, readOverlap } from './judge-overlap.ts';
import { weekHours } from './usual-deliveries.ts';

export type HealthView = z.output<typeof healthAnswer>;
type WebhookHealth = HealthView['webhooks'][number];

/** Shows the health of each applied webhook, or of the one with this UID, and its deliveries of the last seven days. */
export async function showHealth(
  factory: OpenFactory,
  permission: Permission,
  uid?: string,
): Promise<HealthView> {
  const { name, store, readState, now } = factory;
  const nowMs = now().getTime();
  const sinceHour = Math.floor(nowMs / hourMs) + 1 - weekHours;
  const { webhooks, automations } = await readState();
  const meant = uid === undefined ? webhooks : webhooks.filter(webhook => webhook.uid === uid);
  const history = await store.deliveries.readHistory({
    factory: name,
    ...(uid !== undefined && { uid }),
    sinceHour: findFirstJudgedHour(nowMs),
  });
  const byUid = Map.groupBy(history.tallies, ({ uid }) => uid);
  const deps = { deliveries: store.deliveries, nowMs };
  const shown = meant.map(async webhook => {
    const tallies = byUid.get(webhook.uid) ?? [];
    const [last] = await store.deliveries.listDeliveries({ factory: name, uid: webhook.uid, limit: 1 });
    const overlap = await readOverlap(store.deliveries, name, webhook, nowMs);
    const repeatedId = uid === undefined ? undefined : await findRepeatedId(webhook, openHistory(factory));
    return {
      name: webhook.name,
      uid: webhook.uid,
      health: webhook.enabled
        ? await judge(deps, { factory: name, uid: webhook.uid }, { ...history, tallies })
        : null,
      ...(!webhook.enabled && webhook.switched && { disabledSince: webhook.switched.at }),
      ...(overlap && { overlap: overlapView(overlap) }),
      ...(repeatedId && { repeatedId }),
      lastDelivery: last ? await showLast(last, store.deliveries, permission) : null,
      lastGoodAt: findLast(tallies, ({ lastGoodMs }) => lastGoodMs),
      lastRejectedAt: findLast(tallies, ({ lastRejectedMs }) => lastRejectedMs),
      tallies: listTallies(tallies, sinceHour),
    };
  });
  const isMeant = (paused: string) =>
    uid === undefined || listListeners(automations, uid).some(({ name }) => name === paused);
  const pauses = (await store.deliveries.listPauses({ factory: name, nowMs }))
    .filter(({ automation }) => isMeant(automation))
    .map(pauseView);
  return { since: toTime(sinceHour * hourMs), webhooks: await Promise.all(shown), pauses };
}

/** Reads the past of one webhook, and judges it. */
export async function readWebhookHealth(
  deliveries: Pick<DeliveryLogReader, 'readHistory' | 'searchDeliveries'>,
  factory: string,
  webhook: Pick<AppliedWebhook, 'uid'>,
  nowMs: number,
): Promise<NonNullable<WebhookHealth['health']>> {
  const sinceHour = findFirstJudgedHour(nowMs);
  const history = await deliveries.readHistory({ factory, uid: webhook.uid, sinceHour });
  return judge({ deliveries, nowMs }, { factory, uid: webhook.uid }, history);
}

async function judge(
  {
    deliveries,
    nowMs,
  }: { readonly deliveries: Pick<DeliveryLogReader, 'searchDeliveries'>; readonly nowMs: number },
  webhook: { readonly factory: string; readonly uid: string },
  { tallies, listeningSinceMs, webhooks }: TalliedHistory,
): Promise<NonNullable<WebhookHealth['health']>> {
  const known = webhooks.find(({ uid }) => uid === webhook.uid);
  const past = { tallies, nowMs, listeningSinceMs, known };
  const { state, reason, sinceMs } = await judgeWebhookHealth(deliveries, webhook, past);
  return { state, reason, since: sinceMs === null ? null : toTime(sinceMs) };
}

async function showLast(
  { id, atMs, outcome }: LoggedDelivery,
  deliveries: Pick<DeliveryLogReader, 'summarizeDeliveries'>,
  permission: Permission,
): Promise<NonNullable<WebhookHealth['lastDelivery']>> {
  const titled = (await readTitles(deliveries, [id], permission)).get(id);
  const { title, text } = titled?.title ?? { title: outcome, text: null };
  return { id, at: toTime(atMs), outcome, title, text };
}

function overlapView({ until, sender, message, remedy }: Overlap): WebhookHealth['overlap'] {
  return { until, sender: sender ?? null, message, remedy: remedy ?? null };
}

function findLast(tallies: readonly Tally[], of: (tally: Tally) => number | null): string | null {
  const last = Math.max(...tallies.map(tally => of(tally) ?? 0));
  return last > 0 ? toTime(last) : null;
}

function listTallies(tallies: readonly Tally[], sinceHour: number): WebhookHealth['tallies'] {
  return requestOutcomes.flatMap(outcome => {
    const hours = Array.from({ length: weekHours }, () => 0);
    for (const tally of tallies) {
      if (tally.hour >= sinceHour && tally.hour < sinceHour + weekHours)
        hours[tally.hour - sinceHour] = tally[countOf[outcome]];
    }
    return hours.some(count => count > 0) ? [{ outcome, hours }] : [];
  });
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}

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
