import { createHash, timingSafeEqual } from 'node:crypto';
import type { SharedSecretDescription } from './description.ts';

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
