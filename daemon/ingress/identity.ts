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
 * Finds a delivery's identity; deliveries with equal identities are duplicates. In order of preference: the header that
 * the webhook names, the signature scheme's own, `X-Service-Delivery-Id`, a hash of the body. Blank headers are skipped.
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
  const text = (Array.isArray(value) ? value.join(', ') : value)?.trim();
  if (!text) return undefined;
  // Node reads header values as Latin-1: a character is a byte.
  const identity =
    text.length <= identityBytesMax
      ? text
      : `sha256:${createHash('sha256').update(text, 'latin1').digest('hex')}`;
  return { identity, identitySource };
}
