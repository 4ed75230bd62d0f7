import type { History, StoredDelivery } from '../operations/impact.ts';
import { impactTrafficDays } from '../operations/impact.ts';
import type { AppliedWebhook } from '../schema/applied-state.ts';
import { DeliveryLogError } from '../store/delivery-log-error.ts';
import { type DeliveryLogReader, openDeliveryLogReader } from '../store/embedded/delivery-log/read/reader.ts';
import type { Context } from './context.ts';
import { printStatus } from './output.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Hands `use` what the home's delivery log knows; a home without a log has an empty history. */
export function withHistory<T>(
  { home, factory }: Pick<Context, 'home' | 'factory'>,
  nowMs: number,
  use: (history: History) => T,
): T {
  const log = openLog(home.deliveryLogFile);
  if (!log) return use(noHistory);
  try {
    return use({
      trafficOf: ({ uid }) => log.countAccepted(uid, nowMs - impactTrafficDays * dayMs),
      lastAccepted: (webhooks, limit) => lastAccepted(log, factory, webhooks, limit),
    });
  } finally {
    log.close();
  }
}

const noHistory: History = { trafficOf: () => ({ accepted: 0 }), lastAccepted: () => [] };

/** A plan is worth having without its history. */
function openLog(file: string): DeliveryLogReader | undefined {
  try {
    return openDeliveryLogReader(file);
  } catch (error) {
    if (!(error instanceof DeliveryLogError)) throw error;
    printStatus(`The plan is made without the delivery log: ${error.message}.`);
    return undefined;
  }
}

/** One payload is in memory at a time: two hundred of the largest are 50 MB. */
function* lastAccepted(
  log: DeliveryLogReader,
  factory: string,
  webhooks: readonly AppliedWebhook[],
  limit: number,
): Generator<StoredDelivery> {
  const uids = new Set(webhooks.map(({ uid }) => uid));
  const deliveries = webhooks
    .flatMap(({ name }) => log.listDeliveries({ factory, webhook: name, outcome: 'Accepted', limit }))
    .filter(({ uid }) => uids.has(uid))
    .sort((a, b) => b.atMs - a.atMs)
    .slice(0, limit);
  for (const { id, webhook, uid } of deliveries) {
    const bytes = log.readPayload(id);
    // Pruned since it was listed.
    if (!bytes) continue;
    yield { id, webhook, webhookUid: uid, payload: JSON.parse(Buffer.from(bytes).toString('utf8')) };
  }
}
