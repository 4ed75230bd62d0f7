import type { AppliedWebhook } from '../../schema/applied-state.ts';
import type { IdentitySource } from '../../schema/delivery.ts';
import { renderPathSegment } from '../../schema/field-path.ts';
import { isObject } from '../../schema/filters/clause.ts';
import type { RepeatedId } from '../../schema/views/health.ts';
import { type DeliveryHistory, type PastDelivery, pastDeliveriesMax } from './history.ts';

/** @limit Most bytes of stored deliveries among which a repeated ID is looked for, in bytes (2 MiB): it is looked for whenever somebody looks at a webhook. */
const searchedBytesMax = 2 * 1024 * 1024;
/** @limit Fewest different values of a field that can be an ID of events: with fewer, a coincidence is likely. */
const differentValuesMin = 3;
/** @limit Deepest object in which an ID of events is looked for: senders put it into an envelope. */
const idDepthMax = 3;

/** The sources of an identity that no provider and no definition names. */
const weakSources: ReadonlySet<IdentitySource> = new Set(['X-Service-Delivery-Id', 'body']);

/** The names under which senders put the ID of an event; `id` itself only at the root or in such an envelope. */
const eventIdName = /^(event|delivery|message|notification|webhook_?event)_?(id|uuid|guid)$/i;
const plainIdName = /^_?(id|uuid|guid)$/i;
const envelopeName = /^(event|delivery|message|notification|meta|metadata|header|headers)$/i;

/** The fields of a payload that may be the ID of its event. */
type EventIds = readonly (readonly [field: string, value: string | number])[];

/** Lists the event IDs of deliveries, of which those that were read for another reason need not be read again. */
export function createEventIdReader(history: DeliveryHistory) {
  const known = new Map<string, EventIds>();
  return {
    note({ id, identitySource }: PastDelivery, payload: unknown): void {
      if (isWeak(identitySource)) known.set(id, [...listIds(payload)]);
    },
    /** Undefined if the delivery was pruned meanwhile. */
    async read(id: string): Promise<EventIds | undefined> {
      const ids = known.get(id);
      if (ids) return ids;
      const read = await history.readPayload(id);
      return read && [...listIds(read.payload)];
    },
  };
}

function isWeak(source: IdentitySource | undefined): boolean {
  return source !== undefined && weakSources.has(source);
}

/**
 * Looks for a field that seems to be the ID of an event, and repeats: the same value stands there in several deliveries,
 * each accepted as a new one, but the values of most are unique. Such deliveries may be retries of one event. Undefined if
 * there is no such field, or if a header of the provider or a field identifies the deliveries.
 */
export async function findRepeatedId(
  webhook: AppliedWebhook,
  history: DeliveryHistory,
  { read } = createEventIdReader(history),
): Promise<RepeatedId | undefined> {
  const byField = new Map<string, Map<string | number, string[]>>();
  let [judged, bytes] = [0, 0];
  for (const { id, size, identitySource } of await history.listLastAccepted(webhook, pastDeliveriesMax)) {
    bytes += size;
    if (bytes > searchedBytesMax) break;
    const ids = isWeak(identitySource) ? await read(id) : undefined;
    if (!ids) continue;
    judged += 1;
    for (const [field, value] of ids) {
      const byValue = byField.get(field) ?? new Map<string | number, string[]>();
      byField.set(field, byValue.set(value, [...(byValue.get(value) ?? []), id]));
    }
  }
  for (const [field, byValue] of byField) {
    const groups = [...byValue.values()];
    const repeated = groups.filter(({ length }) => length > 1);
    const isMostlyUnique = repeated.length * 2 <= groups.length;
    const [example] = repeated;
    if (!example || !isMostlyUnique || groups.length < differentValuesMin) continue;
    const deliveries = repeated.reduce((sum, { length }) => sum + length - 1, 0);
    return { field, deliveries, judged, example: example.slice(0, 2).reverse() };
  }
  return undefined;
}

/** Lists the fields of an object, and of the envelopes in it, that may be the ID of its event. */
function* listIds(
  value: unknown,
  path = '$',
  isEnvelope = true,
  depth = 1,
): Generator<[field: string, value: string | number]> {
  if (!isObject(value) || depth > idDepthMax) return;
  for (const [key, inside] of Object.entries(value)) {
    const field = `${path}${renderPathSegment(key)}`;
    const isNamed = eventIdName.test(key) || (isEnvelope && plainIdName.test(key));
    if (isNamed && (typeof inside === 'string' || Number.isSafeInteger(inside)))
      yield [field, inside as string | number];
    if (isObject(inside)) yield* listIds(inside, field, envelopeName.test(key), depth + 1);
  }
}
