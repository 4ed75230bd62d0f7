import { createHash, hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { IdentitySource } from '../../schema/delivery.ts';

/** @limit Longest delivery identity kept as it is, in bytes; a longer one is stored as its hash. */
const identityBytesMax = 256;

export interface Identity {
  readonly identity: string;
  readonly identitySource: IdentitySource;
}

/**
 * What makes two deliveries the same one, in order of preference: the header that the webhook names, the signature
 * scheme's own, `X-Service-Delivery-Id`, a hash of the body. A blank header falls through to the next.
 */
export function identify(
  headers: IncomingHttpHeaders,
  body: Buffer,
  deliveryIdHeader: string | undefined,
  schemeDeliveryId: string | undefined,
): Identity {
  return (
    fromHeader(deliveryIdHeader && ownHeader(headers, deliveryIdHeader), 'deliveryIdHeader') ??
    fromHeader(schemeDeliveryId, 'scheme') ??
    fromHeader(headers['x-service-delivery-id'], 'X-Service-Delivery-Id') ?? {
      identity: `body-sha256:${hash('sha256', body)}`,
      identitySource: 'body',
    }
  );
}

/** A webhook may name any header, and `constructor` is one that an object has without being sent it. */
function ownHeader(headers: IncomingHttpHeaders, name: string): string | string[] | undefined {
  return Object.hasOwn(headers, name) ? headers[name] : undefined;
}

function fromHeader(
  value: string | string[] | undefined,
  identitySource: IdentitySource,
): Identity | undefined {
  const text = (Array.isArray(value) ? value.join(', ') : value)?.trim();
  if (!text) return undefined;
  // Node reads header values as Latin-1: a character is a byte.
  const identity =
    text.length <= identityBytesMax
      ? text
      : `sha256:${createHash('sha256').update(text, 'latin1').digest('hex')}`;
  return { identity, identitySource };
}
