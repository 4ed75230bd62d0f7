import type { SignatureDescription } from '../signatures/description.ts';

/** @limit Randomness of a generated secret, in bytes (256 bits): as long as a SHA-256 digest, which RFC 2104 recommends for an HMAC key. */
export const secretRandomBytes = 32;

/** Encodes a new secret: as URL-safe text, or in the encoding from which the signature scheme derives its key. */
export function encodeSecret(description: SignatureDescription | undefined, random: Uint8Array): string {
  const bytes = Buffer.from(random);
  if (description?.primitive !== 'hmac' || !description.key) return bytes.toString('base64url');
  const { encoding, stripPrefix = '' } = description.key;
  return stripPrefix + bytes.toString(encoding === 'utf8' ? 'base64url' : encoding);
}
