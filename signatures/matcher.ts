import { createHmac, type KeyObject, timingSafeEqual, verify } from 'node:crypto';
import type { ContentPieces } from './content.ts';
import type { HmacDescription, PublicKeyDescription, SignedDescription } from './description.ts';
import { decodeStrictly } from './key.ts';
import type { VerificationFailure } from './verify.ts';

/** Whether one of the signatures is the content's: undefined if so. */
export type Matcher = (
  signatures: readonly string[],
  content: ContentPieces,
) => VerificationFailure | undefined;

export function compileMatcher(description: SignedDescription, key: KeyObject): Matcher {
  return description.primitive === 'hmac'
    ? hmacMatcher(description, key)
    : publicKeyMatcher(description, key);
}

/** The HMAC of content as its sender writes it. */
export function hmacText(
  { hash, encoding }: HmacDescription,
  key: KeyObject,
  content: ContentPieces,
): string {
  const hmac = createHmac(hash, key);
  for (const piece of content) {
    if (typeof piece === 'string') hmac.update(piece, 'latin1');
    else hmac.update(piece);
  }
  return hmac.digest(encoding);
}

const malformed: VerificationFailure = { code: 'signature-malformed' };
const mismatch: VerificationFailure = { code: 'signature-mismatch' };

/**
 * Compares written signatures rather than decoded ones: what a lenient decoder would forgive (a truncated MAC, bytes
 * after the padding, another alphabet) has another text. Hex alone is read in either case.
 */
function hmacMatcher(description: HmacDescription, key: KeyObject): Matcher {
  const { hash, encoding } = description;
  const length = Buffer.alloc(hashBytes[hash]).toString(encoding).length;
  // Reused by every request: allocating them would cost more than comparing them.
  const expected = Buffer.alloc(length);
  const presented = Buffer.alloc(length);

  return (signatures, content) => {
    expected.write(hmacText(description, key, content), 'latin1');
    for (const signature of signatures) {
      if (signature.length !== length) continue;
      // A character beyond ASCII takes several bytes, so that it either differs or does not fit.
      const written = presented.write(encoding === 'hex' ? signature.toLowerCase() : signature, 'utf8');
      if (written === length && timingSafeEqual(presented, expected)) return undefined;
    }
    return signatures.some(signature => isWellFormed(signature, description)) ? mismatch : malformed;
  };
}

const hashBytes = { sha1: 20, sha256: 32, sha512: 64 } as const;

/** Whether a signature could be one: told apart for the webhook's owner only. */
function isWellFormed(signature: string, { hash, encoding }: HmacDescription): boolean {
  const bytes = Buffer.from(signature, encoding);
  const canonical = encoding === 'hex' ? signature.toLowerCase() : signature;
  return bytes.length === hashBytes[hash] && bytes.toString(encoding) === canonical;
}

function publicKeyMatcher({ primitive, encoding }: PublicKeyDescription, key: KeyObject): Matcher {
  const hash = primitive === 'ed25519' ? undefined : 'sha256';
  return (signatures, content) => {
    const candidates = signatures.flatMap(signature => decodeStrictly(signature, encoding) ?? []);
    if (candidates.length === 0) return malformed;
    const bytes = contentBytes(content);
    return candidates.some(candidate => verify(hash, bytes, key, candidate)) ? undefined : mismatch;
  };
}

/** The content in one piece, as one-shot signatures need it. */
export function contentBytes(content: ContentPieces): Buffer {
  return Buffer.concat(
    content.map(piece => (typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)),
  );
}
