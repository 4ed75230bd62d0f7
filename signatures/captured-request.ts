import { createHash } from 'node:crypto';
import type { SignatureDescription, SignatureScheme } from './description.ts';
import { isSignedOnce } from './schemes.ts';
import type { ContentPieces } from './signed-request.ts';

/**
 * Says whether a repeated request must be recognised by its signed content, because its identity may come from a header
 * that is not signed. That works only if the content is different for each request: it has a timestamp or an ID.
 * `deliveryIdHeader` is the one that the webhook names.
 */
export function needsContentDigest(
  description: SignatureDescription,
  deliveryIdHeader: string | undefined,
): boolean {
  if (description.primitive === 'shared-secret') return false;
  const { timestamp, idHeader } = description;
  return idHeader === undefined ? timestamp !== undefined : deliveryIdHeader !== undefined;
}

/** Digests what a signature covers: SHA-256 in base64url. It is the same for every signature and encoding of it. */
export function digestContent(content: ContentPieces): string {
  const digest = createHash('sha256');
  for (const piece of content) {
    if (typeof piece === 'string') digest.update(piece, 'latin1');
    else digest.update(piece);
  }
  return digest.digest('base64url');
}

/** Says what someone who captured a request can do with it, in one sentence. */
export function describeCapturedRequest(description: SignatureDescription | SignatureScheme): string {
  if (description.primitive === 'shared-secret') {
    return 'it contains the secret, so its holder can send anything until the secret is rotated';
  }
  const { timestamp, deliveryIdHeader = 'X-Service-Delivery-Id' } = description;
  const isIdSigned = 'bodyIdentity' in description && description.bodyIdentity?.field !== undefined;
  if (!isSignedOnce(description) && !isIdSigned) {
    return `sent again with another ${deliveryIdHeader}, it is a new delivery, because the signature covers no time and no ID`;
  }
  return timestamp?.toleranceSeconds === undefined
    ? 'sent again, it is a duplicate for as long as the delivery log keeps the original'
    : `sent again, it is a duplicate; after ${timestamp.toleranceSeconds} s, it is refused`;
}
