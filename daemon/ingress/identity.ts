import { isUtf8 } from 'node:buffer';
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
    toIdentity(deliveryIdHeader && getOwnHeader(headers, deliveryIdHeader), 'deliveryIdHeader') ??
    toIdentity(schemeDeliveryId, 'scheme') ??
    toIdentity(headers['x-service-delivery-id'], 'X-Service-Delivery-Id') ?? {
      identity: `body-sha256:${hash('sha256', body)}`,
      identitySource: 'body',
    }
  );
}

/** A webhook may name any header, also `constructor`, which every object inherits. */
function getOwnHeader(headers: IncomingHttpHeaders, name: string): string | string[] | undefined {
  return Object.hasOwn(headers, name) ? headers[name] : undefined;
}

function toIdentity(
  value: string | string[] | undefined,
  identitySource: IdentitySource,
): Identity | undefined {
  // Node has removed the white space around it.
  const text = Array.isArray(value) ? value.join(', ') : value;
  return text ? { identity: toIdentityText(text), identitySource } : undefined;
}

const hashPrefix = 'sha256:';

/**
 * Node reads header values as Latin-1: a character is a byte. An identity is these bytes as UTF-8. Bytes that are too
 * many, not UTF-8, or look like a hash are hashed, so different bytes never have the same identity.
 */
function toIdentityText(latin1: string): string {
  if (latin1.length <= identityBytesMax && !latin1.startsWith(hashPrefix)) {
    if (/^[\x20-\x7e]*$/.test(latin1)) return latin1;
    const bytes = Buffer.from(latin1, 'latin1');
    if (isUtf8(bytes)) return bytes.toString();
  }
  return `${hashPrefix}${createHash('sha256').update(latin1, 'latin1').digest('hex')}`;
}
