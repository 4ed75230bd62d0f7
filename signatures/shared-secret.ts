import { createHash, timingSafeEqual } from 'node:crypto';
import type { SharedSecretDescription } from './description.ts';
import { deliveryId, singleHeader } from './signed-parts.ts';
import type { Verifier } from './verify.ts';

/** Readies the comparison of a header with the secret: no signature, so nothing of the request is covered. */
export function compileSharedSecret(description: SharedSecretDescription, secret: string): Verifier {
  const header = description.header.toLowerCase();
  const deliveryIdHeader = description.deliveryIdHeader?.toLowerCase();
  const expected = digest(sharedSecretText(description, secret));
  return ({ headers }) => {
    const presented = singleHeader(headers, header);
    if (typeof presented !== 'string') return { ok: false, reason: presented };
    // Digests are equally long, so that the comparison does not tell the secret's length.
    if (!timingSafeEqual(digest(presented), expected)) {
      return { ok: false, reason: { code: 'signature-mismatch' } };
    }
    const id = deliveryId(headers, deliveryIdHeader);
    return id === undefined ? { ok: true } : { ok: true, deliveryId: id };
  };
}

/** The header as its sender writes it: UTF-8 bytes, one character each, as node gives headers. */
export function sharedSecretText({ prefix = '', encoding }: SharedSecretDescription, secret: string): string {
  const bytes = Buffer.from(secret);
  return prefix + (encoding === 'base64' ? bytes.toString('base64') : bytes.toString('latin1'));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'latin1').digest();
}
