import type { AppliedWebhook } from '../../schema/applied-state.ts';
import {
  createObservationBudget,
  createObserver,
  type Observation,
  type Observer,
} from '../../schema/payloads/observation.ts';
import { type DeliveryHistory, pastDeliveriesMax } from './history.ts';

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
