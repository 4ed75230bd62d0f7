import type { AppliedWebhook } from '../../schema/applied-state.ts';
import type { IdentityImpact } from '../../schema/changes/plan-shapes.ts';
import type { WebhookKeys } from '../../schema/definitions/webhook-definition.ts';
import { encodeHeaderValue } from '../../schema/headers.ts';
import { compileIdentity } from '../../schema/identity.ts';
import { listSchemeIdHeaders } from '../../schema/kept-headers.ts';
import { type DeliveryHistory, type PastDelivery, pastBytesMax, pastDeliveriesMax } from './history.ts';

/**
 * Identifies the last accepted deliveries of a webhook as its new definition would. Undefined if that definition names a
 * header which was not kept of them.
 */
export async function judgeIdentities(
  before: AppliedWebhook,
  after: WebhookKeys,
  history: DeliveryHistory,
): Promise<IdentityImpact | undefined> {
  const header = after.deliveryIdHeader?.toLowerCase();
  const identify = compileIdentity(after);
  const seen = new Set<string>();
  let [judged, changed, duplicates, bytes] = [0, 0, 0, 0];
  for (const delivery of await history.listLastAccepted(before, pastDeliveriesMax)) {
    const { id, size, headers = {}, identity, identitySource } = delivery;
    bytes += size;
    if (bytes > pastBytesMax) break;
    if (header !== undefined && headers[header] === undefined) return undefined;
    const read = await history.readPayload(id);
    if (!read || identity === undefined) continue;
    const next = identify({ ...toRequest(delivery, after), ...read });
    judged += 1;
    changed += next.identity === identity && next.identitySource === identitySource ? 0 : 1;
    const key = `${next.identitySource}\n${next.identity}`;
    duplicates += seen.has(key) ? 1 : 0;
    seen.add(key);
  }
  return judged === 0 ? undefined : { judged, changed, duplicates };
}

/** The headers of a logged delivery that can identify it, as they were sent: in Latin-1. */
function toRequest({ headers = {}, identity = '', identitySource }: PastDelivery, after: WebhookKeys) {
  const sent = Object.entries(headers).map(([name, text]) => [name, encodeHeaderValue(text)]);
  const service = identitySource === 'X-Service-Delivery-Id' && {
    'x-service-delivery-id': encodeHeaderValue(identity),
  };
  const all: Record<string, string> = { ...Object.fromEntries(sent), ...service };
  const schemeDeliveryId = listSchemeIdHeaders(after.signatureScheme)
    .map(name => all[name.toLowerCase()])
    .find(value => value !== undefined);
  return { headers: all, schemeDeliveryId };
}
