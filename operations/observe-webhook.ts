import type { AppliedWebhook } from '../schema/applied-state.ts';
import {
  createObservationBudget,
  createObserver,
  type Observation,
  type Observer,
} from '../schema/payloads/observation.ts';
import type { DeliveryHistory } from './judge-automations.ts';

/** @limit Most stored deliveries that the description of a webhook's payloads, or a filter's test, observes: as many as a plan. */
const observedDeliveriesMax = 200;

/** Observes the payloads of several webhooks, on one budget. */
export function createWebhookObservers() {
  const budget = createObservationBudget();
  const observers = new Map<string, Observer>();
  return {
    observe: ({ uid }: AppliedWebhook, payload: unknown): void => {
      const observer = observers.get(uid) ?? createObserver(budget);
      observers.set(uid, observer);
      observer.add(payload);
    },
    /** What was observed of the webhook with this UID. */
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
  for (const { id, size } of await history.listLastAccepted(webhook, observedDeliveriesMax)) {
    bytes += size;
    if (bytes > bytesMax) break;
    const read = await history.readPayload(id);
    if (read) add(read.payload);
  }
  return observation;
}
