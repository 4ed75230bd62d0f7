import { uidPattern } from '../schema/ids.ts';
import type { DeliveryFilter, RunFilter } from '../store/delivery-log.ts';
import type { Factory } from './factory.ts';
import type { LogFilter } from './log-filter.ts';
import { type AppliedNames, requireAutomation, requireNamedWebhook } from './require-applied.ts';

/** A factory whose applied webhooks and automations are known at least by name. */
export interface NamedFactory extends Factory {
  /** Fails with `state-unreadable`. */
  readonly readState: () => Promise<AppliedNames>;
}

/** Converts a filter to that of the store. */
export async function toStoreFilter(
  factory: NamedFactory,
  { webhook, outcome, automation, state, event, search, sinceMs, untilMs }: LogFilter,
): Promise<DeliveryFilter & RunFilter> {
  const content = {
    ...(event !== undefined && { eventType: event }),
    ...(search !== undefined && { text: search }),
  };
  return {
    factory: factory.name,
    ...(webhook !== undefined && (await findWebhookFilter(factory, webhook))),
    ...(outcome && { outcome }),
    ...(automation !== undefined && { automation }),
    ...(state && { state }),
    ...(sinceMs !== undefined && { sinceMs }),
    ...(untilMs !== undefined && { untilMs }),
    ...((event ?? search) !== undefined && { content }),
  };
}

/** Finds which deliveries in the log are those of a webhook: all with its UID, and those that arrived under its name. */
export async function findWebhookFilter(
  { readState }: NamedFactory,
  nameOrUid: string,
): Promise<Pick<DeliveryFilter, 'webhook' | 'uid'>> {
  if (uidPattern.test(nameOrUid)) return { uid: nameOrUid };
  const { webhooks } = await readState();
  const applied = webhooks.find(({ name }) => name === nameOrUid);
  return { webhook: nameOrUid, ...(applied && { uid: applied.uid }) };
}

/** Fails with `webhook-unknown` or `automation-unknown` if a filter names something that is neither applied nor logged. */
export async function requireKnownNames(
  factory: NamedFactory,
  {
    webhook,
    automation,
  }: { readonly webhook?: string | undefined; readonly automation?: string | undefined },
): Promise<void> {
  if (webhook !== undefined) await requireKnownWebhook(factory, webhook);
  if (automation !== undefined) await requireKnownAutomation(factory, automation);
}

/** Fails with `webhook-unknown` unless the webhook is applied, or the log still has deliveries of it. */
async function requireKnownWebhook(factory: NamedFactory, nameOrUid: string): Promise<void> {
  const { name, store, readState } = factory;
  const filter = await findWebhookFilter(factory, nameOrUid);
  const logged = await store.deliveries.listDeliveries({ factory: name, limit: 1, ...filter });
  if (logged.length === 0) requireNamedWebhook(await readState(), nameOrUid);
}

/** Fails with `automation-unknown` unless the automation is applied, or the log still has runs of it. */
async function requireKnownAutomation(
  { name, store, readState }: NamedFactory,
  automation: string,
): Promise<void> {
  const logged = await store.deliveries.listRuns({ factory: name, automation, limit: 1 });
  if (logged.length === 0) requireAutomation(await readState(), automation);
}
