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
  const form = signatureForm(description);
  const normalise = (text: string) => (description.encoding === 'hex' ? text.toLowerCase() : text);
  return (signatures, content) => {
    const candidates = signatures.filter(signature => form.test(signature));
    if (candidates.length === 0) return malformed;
    const expected = Buffer.from(hmacText(description, key, content), 'latin1');
    const matches = candidates.some(candidate =>
      timingSafeEqual(Buffer.from(normalise(candidate), 'latin1'), expected),
    );
    return matches ? undefined : mismatch;
  };
}

const hashBytes = { sha1: 20, sha256: 32, sha512: 64 } as const;

/** The exact form of a signature, so that every candidate is as long as what it is compared with. */
function signatureForm({ hash, encoding }: HmacDescription): RegExp {
  const bytes = hashBytes[hash];
  if (encoding === 'hex') return new RegExp(`^[0-9a-fA-F]{${bytes * 2}}$`);
  const characters = Math.ceil((bytes * 4) / 3);
  if (encoding === 'base64url') return new RegExp(`^[0-9A-Za-z_-]{${characters}}$`);
  return new RegExp(`^[0-9A-Za-z+/]{${characters}}={${(3 - (bytes % 3)) % 3}}$`);
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
