import { createHash, createHmac, type KeyObject, timingSafeEqual, verify } from 'node:crypto';
import type {
  HmacDescription,
  PublicKeyDescription,
  SharedSecretDescription,
  SignedDescription,
} from './description.ts';
import { decodeStrictly } from './key.ts';
import type { ContentPieces } from './signed-request.ts';

export type MatchFailure = { readonly code: 'signature-malformed' } | { readonly code: 'signature-mismatch' };

/** Returns undefined if one of the signatures matches the content. */
export type Matcher = (signatures: readonly string[], content: ContentPieces) => MatchFailure | undefined;

/** Compiles a matcher that tries each key. */
export function compileMatcher(
  description: SignedDescription,
  [first, ...others]: readonly [KeyObject, ...KeyObject[]],
): Matcher {
  const compile = (key: KeyObject) =>
    description.primitive === 'hmac'
      ? compileHmacMatcher(description, key)
      : compilePublicKeyMatcher(description, key);
  const either =
    (match: Matcher, next: Matcher): Matcher =>
    (signatures, content) =>
      match(signatures, content) && next(signatures, content);
  return others.map(compile).reduce(either, compile(first));
}

/** Computes the HMAC of content in the encoding that its sender uses. */
export function computeHmac(
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

/** Joins the content into one buffer, which node's one-shot `sign` and `verify` need. */
export function joinContent(content: ContentPieces): Buffer {
  return Buffer.concat(
    content.map(piece => (typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)),
  );
}

const malformed: MatchFailure = { code: 'signature-malformed' };
const mismatch: MatchFailure = { code: 'signature-mismatch' };

/**
 * Compares encoded signatures rather than decoded ones: whatever a lenient decoder would forgive (a truncated MAC,
 * bytes after the padding, another alphabet) is different text. Only hex may be in either case.
 */
function compileHmacMatcher(description: HmacDescription, key: KeyObject): Matcher {
  const { hash, encoding } = description;
  const length = Buffer.alloc(hashBytes[hash]).toString(encoding).length;
  // Reused for every request: allocating them would cost more than comparing them.
  const expected = Buffer.alloc(length);
  const presented = Buffer.alloc(length);

  return (signatures, content) => {
    expected.write(computeHmac(description, key, content), 'latin1');
    for (const signature of signatures) {
      if (signature.length !== length) continue;
      // A non-ASCII character takes several bytes, so a signature that contains one never matches.
      const written = presented.write(encoding === 'hex' ? signature.toLowerCase() : signature, 'utf8');
      if (written === length && timingSafeEqual(presented, expected)) return undefined;
    }
    // Only the webhook's owner sees whether the signature is malformed or just does not match.
    return signatures.some(signature => isWellFormed(description, signature)) ? mismatch : malformed;
  };
}

/** Whether a text has the encoding of a scheme's signatures and, for an HMAC, their length. */
export function isWellFormed(description: SignedDescription, signature: string): boolean {
  const bytes = decodeStrictly(signature, description.encoding)?.length;
  return description.primitive === 'hmac' ? bytes === hashBytes[description.hash] : bytes !== undefined;
}

const hashBytes = { sha1: 20, sha256: 32, sha512: 64 } as const;

function compilePublicKeyMatcher({ primitive, encoding }: PublicKeyDescription, key: KeyObject): Matcher {
  const hash = primitive === 'ed25519' ? undefined : 'sha256';
  return (signatures, content) => {
    const candidates = signatures.flatMap(signature => decodeStrictly(signature, encoding) ?? []);
    if (candidates.length === 0) return malformed;
    const bytes = joinContent(content);
    return candidates.some(candidate => verify(hash, bytes, key, candidate)) ? undefined : mismatch;
  };
}

/** Compiles a function that compares a header's value with the secret. */
export function compileSharedSecret(
  description: SharedSecretDescription,
  secret: string,
): (presented: string) => boolean {
  const expected = digest(formatSharedSecret(description, secret));
  // Digests have the same length, so the comparison does not reveal the secret's length.
  return presented => timingSafeEqual(digest(presented), expected);
}

/** Formats the header as its sender writes it: one character for each UTF-8 byte, as node presents headers. */
export function formatSharedSecret(
  { prefix = '', encoding }: SharedSecretDescription,
  secret: string,
): string {
  const bytes = Buffer.from(secret);
  return prefix + (encoding === 'base64' ? bytes.toString('base64') : bytes.toString('latin1'));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'latin1').digest();
}
