import { createHash, hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { IdentitySource } from '../../schema/delivery.ts';
import { decodeHeaderValue, readHeaderValue } from './header-value.ts';

/** @limit Longest delivery identity kept as it is, in bytes; a longer one is stored as its hash. */
const identityBytesMax = 256;

export interface Identity {
  readonly identity: string;
  readonly identitySource: IdentitySource;
}

/**
 * Finds a delivery's identity; deliveries with equal identities from the same source are duplicates. In order of
 * preference: the header that the webhook names, the signature scheme's own, `X-Service-Delivery-Id`, a hash of the
 * body. Blank headers are skipped.
 */
export function identify(
  headers: IncomingHttpHeaders,
  body: Buffer,
  deliveryIdHeader: string | undefined,
  schemeDeliveryId: string | undefined,
): Identity {
  return (
    toIdentity(deliveryIdHeader && readHeaderValue(headers, deliveryIdHeader), 'deliveryIdHeader') ??
    toIdentity(schemeDeliveryId, 'scheme') ??
    toIdentity(readHeaderValue(headers, 'x-service-delivery-id'), 'X-Service-Delivery-Id') ?? {
      identity: `body-sha256:${hash('sha256', body)}`,
      identitySource: 'body',
    }
  );
}

function toIdentity(value: string | undefined, identitySource: IdentitySource): Identity | undefined {
  // Node has removed the white space around it.
  return value ? { identity: toIdentityText(value), identitySource } : undefined;
}

const hashPrefix = 'sha256:';

/**
 * An identity is the bytes of a header as UTF-8. Bytes that are too many, not UTF-8, or look like a hash are hashed, so
 * different bytes never have the same identity.
 */
function toIdentityText(latin1: string): string {
  if (latin1.length <= identityBytesMax && !latin1.startsWith(hashPrefix)) {
    const text = decodeHeaderValue(latin1);
    if (text !== undefined) return text;
  }
  return `${hashPrefix}${createHash('sha256').update(latin1, 'latin1').digest('hex')}`;
}
