import { parseJsonText } from '../../json/parse-json-text.ts';
import type { AppliedWebhook } from '../../schema/applied-state.ts';
import { impactTrafficDays, queuedCountMax } from '../../schema/changes/describe-impact.ts';
import type { Traffic } from '../../schema/changes/plan-shapes.ts';
import type { IdentitySource } from '../../schema/delivery.ts';
import type { EventHeaders } from '../../schema/headers.ts';
import {
  createObservationBudget,
  createObserver,
  type Observation,
  type Observer,
} from '../../schema/payloads/observation.ts';
import { dayMs } from '../../schema/time-units.ts';
import type { DeliveryLogReader } from '../../store/ports/delivery-log.ts';

/** @limit Most stored deliveries that a plan, a filter's test or a description of payloads reads: they show a filter's effect, and are read in under a second. */
export const pastDeliveriesMax = 200;
/** @limit Most bytes of stored deliveries that a plan or a description of payloads reads (64 MiB): 200 of the largest fit, and take about a second. */
export const pastBytesMax = 64 * 1024 * 1024;

/** The accepted deliveries in the delivery log. */
export interface DeliveryHistory {
  /** The last accepted deliveries of a webhook, newest first, at most `limit`. */
  listLastAccepted(webhook: AppliedWebhook, limit: number): Promise<readonly PastDelivery[]>;
  /** Reads and parses a payload, with the body that it came in; undefined if the delivery was pruned meanwhile. */
  readPayload(id: string): Promise<PastContent | undefined>;
}

/** A parsed payload, its JSON text, and the body that it came in. */
export interface PastContent {
  readonly payload: unknown;
  readonly toJson: () => string;
  readonly body: Uint8Array;
}

/** A stored delivery, without its payload. */
export interface PastDelivery {
  readonly id: string;
  readonly webhook: string;
  readonly uid: string;
  readonly atMs: number;
  readonly size: number;
  readonly headers?: EventHeaders;
  readonly identity?: string;
  readonly identitySource?: IdentitySource;
}

/** The deliveries in the delivery log. */
export interface History extends DeliveryHistory {
  countTraffic(webhook: AppliedWebhook): Promise<Traffic>;
  /** The number of queued runs of an automation, at most `queuedCountMax`. */
  countQueued(automation: string): Promise<number>;
}

interface LoggedFactory {
  readonly name: string;
  readonly store: { readonly deliveries: DeliveryLogReader };
  readonly now: () => Date;
}

/** The history of a factory's deliveries, read from the delivery log when it is needed. */
export function openHistory({ name: factory, store: { deliveries }, now }: LoggedFactory): History {
  const sinceMs = now().getTime() - impactTrafficDays * dayMs;
  return {
    countTraffic: async ({ uid }) => {
      const { lastAtMs, accepted } = await deliveries.countAccepted(uid, sinceMs);
      const lastAcceptedAt = lastAtMs === undefined ? null : new Date(lastAtMs).toISOString();
      return { lastAcceptedAt, accepted, days: impactTrafficDays };
    },
    countQueued: async automation =>
      (await deliveries.listRuns({ factory, automation, state: 'queued', limit: queuedCountMax })).length,
    listLastAccepted: ({ uid }, limit) =>
      deliveries.listDeliveries({ factory, uid, outcome: 'Accepted', limit }),
    readPayload: async id => {
      const content = await deliveries.readContent(id);
      if (!content) return undefined;
      const json = Buffer.from(content.payload).toString('utf8');
      return { body: content.body, payload: parseJsonText(json), toJson: () => json };
    },
  };
}

/**
 * Observes the payloads of several webhooks, one webhook after the other. Each may spend its share of the budget, and what
 * those before it left over.
 */
export function createWebhookObservers(webhooks: number) {
  const total = createObservationBudget();
  let last = { visits: 0, paths: 0 };
  const observers = new Map<string, Observer>();
  const start = () => {
    const left = Math.max(1, webhooks - observers.size);
    const visits = total.visits + last.visits;
    const paths = total.paths + last.paths;
    last = { visits: Math.ceil(visits / left), paths: Math.ceil(paths / left) };
    Object.assign(total, { visits: visits - last.visits, paths: paths - last.paths });
    return createObserver(last);
  };
  return {
    observe: ({ uid }: Pick<AppliedWebhook, 'uid'>, payload: unknown): void => {
      const observer = observers.get(uid) ?? start();
      observers.set(uid, observer);
      observer.add(payload);
    },
    /** Returns the observation of the webhook with this UID. */
    observations: (uid: string): Observation | undefined => observers.get(uid)?.observation,
  };
}

/** Observes the last accepted deliveries of a webhook, newest first, as long as they have at most `bytesMax` together. */
export async function observeWebhook(
  history: DeliveryHistory,
  webhook: AppliedWebhook,
  bytesMax: number,
): Promise<Observation> {
  const { observation, add } = createObserver(createObservationBudget());
  let bytes = 0;
  for (const { id, size } of await history.listLastAccepted(webhook, pastDeliveriesMax)) {
    bytes += size;
    if (bytes > bytesMax) break;
    const read = await history.readPayload(id);
    if (read) add(read.payload);
  }
  return observation;
}
